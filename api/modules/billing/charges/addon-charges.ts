// An ADDON that was charged ahead and is enabled at another time since: no day is charged twice (semantics 3.1, 4.4). Pure.
import { localDays } from '../../../../shared/billing/local-days.ts'
import type { BillingPeriod } from '../../../../shared/billing/periods.ts'
import { ZERO } from '../../../../shared/decimal.ts'
import { intersect, without } from '../../../../shared/time.ts'
import type { PriceCalendar } from '../terms/price-calendar.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { type Charge, isProratedByDays, keyOf } from './charge.ts'
import { paidByParts, seatsBeside } from './charges-in-parts.ts'
import { type PaidTime, paidForOtherTimes, paidFromOtherTimes } from './paid-parts.ts'

/**
 * A billing period of a price without the times that charges from another time on paid for. An ADDON may be enabled earlier than it was to be
 * when it was charged ahead, or again while what was charged ahead of it lasts.
 */
export function unpaidPeriods(term: PriceTerm, period: BillingPeriod, billed: ReadonlySet<string>): BillingPeriod[] {
  const { calendar, seatChanges } = term
  if (!calendar || !isAddonAhead(term, billed)) return [period]
  const { zone } = calendar.billingGrid
  const { covered, full } = period
  const paid =
    seatChanges === null
      ? paidFromOtherTimes(billed, from => keyOf(term, from), { start: covered.start, full })
      : seatsOfOtherTimes(term, period, billed).map(({ time }) => time)
  if (paid.length === 0) return [period]
  return without([covered], paid).map(time => ({ ...period, covered: time, coveredDays: localDays(time, zone) }))
}

/** The seats that are added in time for which an ADDON was charged while it was enabled at another time. A minimum is that of its charge. */
export const seatsAdded = (
  term: PriceTerm,
  calendar: PriceCalendar,
  whole: BillingPeriod,
  billed: ReadonlySet<string>,
): Charge[] =>
  seatsOfOtherTimes(term, whole, billed).flatMap(({ time, paid }) => {
    const during = intersect(time, whole.covered)
    if (!during) return []
    const charged = paid.flatMap(each => {
      const service = intersect(each.service, during)
      return service ? [{ ...each, service }] : []
    })
    return seatsBeside(term, calendar, { period: { ...whole, covered: time }, during, charged })
  })

/** The seats of an ADDON that were charged while it was enabled at another time, as they were charged; null where none were. */
export function paidAtOtherTimes(
  term: PriceTerm,
  calendar: PriceCalendar,
  whole: BillingPeriod,
  billed: ReadonlySet<string>,
): Charge[] | null {
  const found = seatsOfOtherTimes(term, whole, billed)
  if (found.length === 0) return null
  return found.flatMap(({ time, paid }) => paidByParts(term, calendar, { ...whole, covered: time }, paid))
}

const isAddonAhead = (term: PriceTerm, billed: ReadonlySet<string>): boolean =>
  billed.size > 0 && term.pricing.addon === true && isProratedByDays(term)

function seatsOfOtherTimes(
  term: PriceTerm,
  { covered, full }: BillingPeriod,
  billed: ReadonlySet<string>,
): readonly PaidTime[] {
  if (term.seatChanges === null || !isAddonAhead(term, billed)) return []
  const isTaken = term.seatChanges.findLast(({ at }) => at <= covered.start)?.seats.gt(ZERO) === true
  return paidForOtherTimes(billed, from => keyOf(term, from), { covered, full, isTaken })
}
