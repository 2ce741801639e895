// Which fields of a persist-data body are set, and which of them Millrace does not support. Pure.
import { AHEAD_MS_MAX } from '../../../../shared/contracts/event-time.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Instant, parseInstant } from '../../../../shared/time.ts'
import type { Moment } from './named-price.ts'
import type { PersistDataBody } from './schema.ts'

const NONE_LEFT = 'no price has one yet'
const BY_MILLRACE = 'Millrace sets it; leave it out.'

/** Fields of the interface that have no effect here, each with its refusal. */
const REFUSED: Readonly<Partial<Record<keyof PersistDataBody, string>>> = {
  pricing_plan_subscription_selector: 'pricing_plan_subscription_id names the subscription; leave the selector out.',
  included_volume: `It is for prices with included volume, and ${NONE_LEFT}: this one has none.`,
  persist_included_volume: `It is for prices with included volume, and ${NONE_LEFT}: this one has none.`,
  persist_charged_volume: `It is for prices that are topped up, and ${NONE_LEFT}: this one has none.`,
  persist_rollover_volume: `It is for prices with volume that rolls over, and ${NONE_LEFT}: this one has none.`,
  set_rollover_volume: `It is for prices with volume that rolls over, and ${NONE_LEFT}: this one has none.`,
  reprocess_id: BY_MILLRACE,
  is_last_reprocess_item: BY_MILLRACE,
}

const invalid = (field: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field })

/** Throws INVALID_FIELD for the first field that requests something unsupported; null and false request nothing. */
export function refuseUnsupported(body: PersistDataBody): void {
  for (const [field, message] of Object.entries(REFUSED)) {
    const value: unknown = body[field as keyof PersistDataBody]
    if (value !== undefined && value !== null && value !== false) throw invalid(field, message)
  }
  if (typeof body.period?.ratio === 'string')
    throw invalid('period.ratio', 'It belongs to data of charges; a state has no ratio. Leave it out.')
}

/**
 * The moment of the state: period.start_at, the timestamp, or now. Throws INVALID_FIELD when both are given and differ,
 * and for a time more than 30 minutes ahead. Times in the body are in whole seconds.
 */
export function momentOf({ period, timestamp }: PersistDataBody, now: Instant): Moment {
  const start = period?.start_at ?? null
  if (start !== null && (timestamp ?? start) !== start) {
    const message = 'timestamp and period.start_at are two names for one moment; send one of them, or the same.'
    throw invalid('timestamp', message)
  }
  const field = start === null ? 'timestamp' : 'period.start_at'
  const given = start ?? timestamp ?? null
  if (given === null) return { at: wholeSecond(now), field }
  const at = parseInstant(given)
  if (at === null) throw new Error(`not a checked time: ${given}`)
  if (at > now + AHEAD_MS_MAX) throw invalid(field, `${field} is more than 30 minutes ahead of our clock.`)
  return { at, field }
}

const wholeSecond = (at: Instant): Instant => (at - (at % 1_000)) as Instant
