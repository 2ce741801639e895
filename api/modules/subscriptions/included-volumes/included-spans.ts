// What is included of a price over the time of a schedule: what it states, and in between what the price states. Pure.
import { addFractions, type Fraction, NOTHING, timesFraction } from '../../../../shared/billing/fraction.ts'
import type { Zone } from '../../../../shared/billing/local-days.ts'
import type { Span } from '../../../../shared/billing/periods.ts'
import { shareOf } from '../../../../shared/billing/proration.ts'
import { type Decimal, decimal, ZERO } from '../../../../shared/decimal.ts'
import { type IncludedVolume, NOTHING_INCLUDED } from '../../../../shared/rating/included/included-volume.ts'
import type { IncludedVolumeInput } from '../../../../shared/rating/parse/parse-price-config.ts'
import { at, type Instant, type Interval, instantOf, intersect, interval } from '../../../../shared/time.ts'
import type { ScheduleIncludedVolume } from './schema.ts'

/** A time with what is included in a whole period of it; an end of null is open. */
export type IncludedSpan = { readonly start: Instant; readonly end: Instant | null; readonly included: IncludedVolume }

const quantity = (text: string | null | undefined): Decimal => (text ? decimal(text) : ZERO)

const volumeOf = ({ number, amount, count }: IncludedVolumeInput): IncludedVolume => ({
  quantity: quantity(number ?? amount?.quantity),
  count: quantity(count),
})

/** What a price includes over a time, in order: `entries` do not overlap, and `byDefault` holds where none of them does. */
export function includedSpans(
  entries: readonly ScheduleIncludedVolume[],
  byDefault: IncludedVolumeInput | null,
  during: Span,
): IncludedSpan[] {
  const plain = byDefault ? volumeOf(byDefault) : NOTHING_INCLUDED
  const stated = entries
    .map(entry => ({
      start: instantOf(Math.max(entry.start_at ? at(entry.start_at) : during.start, during.start)),
      end: endOf(entry.end_at ? at(entry.end_at) : null, during.end),
      included: volumeOf(entry),
    }))
    .filter(({ start, end }) => end === null || start < end)
    .sort((a, b) => a.start - b.start)
  const spans: IncludedSpan[] = []
  let from: Instant | null = during.start
  for (const span of stated) {
    if (from !== null && from < span.start) spans.push({ start: from, end: span.start, included: plain })
    spans.push(span)
    from = span.end
  }
  if (from !== null && (during.end === null || from < during.end))
    spans.push({ start: from, end: during.end, included: plain })
  return spans
}

const endOf = (a: Instant | null, b: Instant | null): Instant | null =>
  a === null ? b : b === null ? a : instantOf(Math.min(a, b))

type Window = {
  readonly covered: Interval
  readonly whole: Interval
  readonly zone: Zone
  readonly pauses?: readonly Interval[]
}

/** What is included in a time: of each span its part by local days, of `whole`, without those of pauses. Exact. */
export function includedIn(
  spans: readonly IncludedSpan[],
  { covered, whole, zone, pauses = [] }: Window,
): IncludedVolume {
  // Spans with the same volume are one, so that what does not change is prorated once.
  const shares = new Map<string, { readonly included: IncludedVolume; readonly share: Fraction }>()
  for (const { start, end, included } of spans) {
    if (start >= covered.end) continue
    const part = intersect(interval(start, end ?? covered.end), covered)
    if (!part) continue
    const key = `${included.quantity} ${included.count}`
    const share = shareOf(part, whole, zone, pauses)
    shares.set(key, { included, share: addFractions(shares.get(key)?.share ?? NOTHING, share) })
  }
  return [...shares.values()].reduce<IncludedVolume>(
    (sum, { included, share }) => ({
      quantity: sum.quantity.plus(timesFraction(included.quantity, share)),
      count: sum.count.plus(timesFraction(included.count, share)),
    }),
    NOTHING_INCLUDED,
  )
}

/** What is included at a moment. */
export const includedAt = (spans: readonly IncludedSpan[], moment: Instant): IncludedVolume =>
  spans.findLast(({ start, end }) => start <= moment && (end === null || moment < end))?.included ?? NOTHING_INCLUDED
