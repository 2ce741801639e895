// When a schedule sells a pricing that it has enabled. Pure: billing, attribution and entitlements use it alike.
import type { Span } from '../../../../shared/billing/periods.ts'
import { at, type Instant, instantOf } from '../../../../shared/time.ts'
import type { ClauseChange } from '../clauses/clause-entries.ts'
import type { EnabledPricing } from './schema.ts'

/**
 * The parts of a time in which the pricing is enabled, in the order of time. An entry without dates is enabled throughout. Entries that
 * overlap, as where several prices are simulated as one, enable it once.
 */
export function enabledSpans(enabled: readonly EnabledPricing[], pricingId: string, within: Span): Span[] {
  const own = enabled
    .filter(entry => entry.pricing_id === pricingId)
    .flatMap(({ start_at, end_at }) => {
      const start = instantOf(Math.max(within.start, start_at ? at(start_at) : within.start))
      const end = earlier(within.end, end_at ? at(end_at) : null)
      return end !== null && end <= start ? [] : [{ start, end }]
    })
    .toSorted((a, b) => a.start - b.start)
  const spans: Span[] = []
  for (const { start, end } of own) {
    const last = spans.at(-1)
    if (!last || (last.end !== null && last.end <= start)) spans.push({ start, end })
    else
      spans[spans.length - 1] = {
        start: last.start,
        end: last.end === null || end === null ? null : instantOf(Math.max(last.end, end)),
      }
  }
  return spans
}

/** Whether the pricing is enabled at an instant. */
export const isEnabledAt = (enabled: readonly EnabledPricing[], pricingId: string, instant: Instant): boolean =>
  enabledSpans(enabled, pricingId, { start: instant, end: null })[0]?.start === instant

/** Null is no end. */
const earlier = (a: Instant | null, b: Instant | null): Instant | null =>
  a === null ? b : b === null ? a : instantOf(Math.min(a, b))

const startOf = ({ start_at }: EnabledPricing): string | null => start_at ?? null
const endOf = ({ end_at }: EnabledPricing): string | null => end_at ?? null

/** From when on a change of the list changes invoices: an entry from its start, an end that moves from the earlier end on. */
export function enabledChanges(
  before: readonly EnabledPricing[],
  after: readonly EnabledPricing[],
  scheduleStart: string,
): ClauseChange[] {
  const fromOf = (entry: EnabledPricing): Instant =>
    instantOf(Math.max(at(scheduleStart), at(startOf(entry) ?? scheduleStart)))
  const left = [...before]
  const changes: ClauseChange[] = []
  for (const [index, entry] of after.entries()) {
    const path = `enabled_pricings.${index}`
    const same = left.find(each => each.pricing_id === entry.pricing_id && startOf(each) === startOf(entry))
    if (!same) {
      changes.push({ from: fromOf(entry), path: `${path}.start_at` })
      continue
    }
    left.splice(left.indexOf(same), 1)
    const ends = [endOf(same), endOf(entry)].flatMap(end => (end === null ? [] : [at(end)]))
    if (endOf(same) !== endOf(entry)) changes.push({ from: instantOf(Math.min(...ends)), path: `${path}.end_at` })
  }
  return [...changes, ...left.map(entry => ({ from: fromOf(entry), path: 'enabled_pricings' }))]
}
