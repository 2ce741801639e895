// Until when a subscription was agreed: its initial term, then one renewal after the other (semantics 4.1). Pure.

import { localDateOf, startOfLocalDay, type Zone } from '../../../../shared/billing/local-days.ts'
import { addPeriod, type PeriodLength } from '../../../../shared/billing/periods.ts'
import { at, type Instant } from '../../../../shared/time.ts'

export type Terms = {
  readonly initial_term: PeriodLength | null
  readonly renewal_term: PeriodLength | null
  readonly auto_renewal: boolean
}

/** Terms that last longer end here, close to the last time that can be written; nothing later is computed. */
const LAST = at('2199-12-31T00:00:00Z')
const inTime = (end: Instant): Instant => (end < LAST ? end : LAST)

/** The end of the initial term, at a local midnight; null for a subscription without terms. */
export function initialTermEnd({ initial_term }: Terms, start: Instant, zone: Zone): Instant | null {
  if (initial_term === null) return null
  return inTime(startOfLocalDay(addPeriod(localDateOf(start, zone), initial_term), zone))
}

/**
 * The end of the term that runs at `now`: the initial one, or the renewal that `now` lies in. Months are all added to the start, so that
 * they never drift, and terms end where months of the subscription do; days are counted from the end of the initial term. Null for a
 * subscription without terms.
 */
export const currentTermEnd = (terms: Terms, start: Instant, zone: Zone, now: Instant): Instant | null =>
  endAfter(now, terms, { start, zone, fromInitialEnd: false })

/**
 * Whether the term that runs at `now` ends at `end`, also by the rule of versions before: they counted months too from the end of the
 * initial term, and stored the ends that this gave.
 */
export const endsCurrentTerm = (terms: Terms, start: Instant, zone: Zone, now: Instant, end: Instant): boolean =>
  [false, true].some(fromInitialEnd => endAfter(now, terms, { start, zone, fromInitialEnd }) === end)

/**
 * The end of a term that is closest to `end`: where a term that ended there when the days of the subscription were cut in another zone ends
 * in `zone`. Null for a subscription without terms.
 */
export function termEndClosestTo(end: Instant, terms: Terms, start: Instant, zone: Zone): Instant | null {
  let closest: Instant | null = null
  for (const each of termEnds(terms, { start, zone, fromInitialEnd: false })) {
    if (closest === null || Math.abs(each - end) < Math.abs(closest - end)) closest = each
    if (each >= end) break
  }
  return closest
}

type Counting = { readonly start: Instant; readonly zone: Zone; readonly fromInitialEnd: boolean }

function endAfter(now: Instant, terms: Terms, counting: Counting): Instant | null {
  for (const end of termEnds(terms, counting)) if (end > now || end === LAST) return end
  return null
}

/** The ends of the terms, in the order of time: none for a subscription without terms, and otherwise without end. */
function* termEnds(terms: Terms, { start, zone, fromInitialEnd }: Counting): Generator<Instant> {
  const first = initialTermEnd(terms, start, zone)
  if (first === null || terms.initial_term === null) return
  yield first
  const length = terms.renewal_term ?? terms.initial_term
  const [begun, origin] = [localDateOf(start, zone), localDateOf(first, zone)]
  const [initial, renewal] = [monthsOf(terms.initial_term), monthsOf(length)]
  for (let times = 1; ; times += 1) {
    const day =
      initial > 0 && renewal > 0 && !fromInitialEnd
        ? // Months as a number of times: together they can be more than one length may have.
          addPeriod(begun, MONTH, initial + times * renewal)
        : addPeriod(origin, length, times)
    yield inTime(startOfLocalDay(day, zone))
  }
}

const MONTH: PeriodLength = { type: 'MONTH', value: 1 }

/** 0 for a length in days. */
const monthsOf = ({ type, value }: PeriodLength): number =>
  type === 'MONTH' ? value : type === 'YEAR' ? 12 * value : 0
