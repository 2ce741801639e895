// What of a body of persist data says something, and what of it says what Millrace does not do. Pure.
import { AppError } from '../../../../shared/errors.ts'
import { type Instant, parseInstant } from '../../../../shared/time.ts'
import type { Moment } from './named-price.ts'
import type { PersistDataBody } from './schema.ts'

const NONE_LEFT = 'no price has one yet'
const BY_MILLRACE = 'Millrace sets it; leave it out.'

/** Fields of the interface that mean nothing here, by what there is to say of each. */
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

/** Throws INVALID_FIELD for the first field that asks for something that is not done; null and false ask for nothing. */
export function refuseUnsupported(body: PersistDataBody): void {
  for (const [field, message] of Object.entries(REFUSED)) {
    const value: unknown = body[field as keyof PersistDataBody]
    if (value !== undefined && value !== null && value !== false) throw invalid(field, message)
  }
  if (typeof body.period?.ratio === 'string')
    throw invalid('period.ratio', 'It belongs to data of charges; a state has no ratio. Leave it out.')
}

/** As for events (contract: Usage events). */
const AHEAD_MS_MAX = 30 * 60_000

/**
 * When the state is told for: period.start_at, or the timestamp, which may not differ, or now. Throws INVALID_FIELD for two
 * that do and for a time more than 30 minutes ahead. Times of the body are in whole seconds.
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
