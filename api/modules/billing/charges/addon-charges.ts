// An ADDON that was charged ahead and is enabled at another time since: no day is charged twice (semantics 3.1, 4.4). Pure.
import { localDays } from '../../../../shared/billing/local-days.ts'
import type { BillingPeriod } from '../../../../shared/billing/periods.ts'
import { timeOfMinimum } from '../../../../shared/billing/steps/commitments.ts'
import { ZERO } from '../../../../shared/decimal.ts'
import { contains, type Interval, intersect, without } from '../../../../shared/time.ts'
import { allConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import { clauseEntries } from '../../subscriptions/clauses/clause-entries.ts'
import type { ConfigInput } from '../terms/billing-inputs.ts'
import { idOfClause, isOf } from '../terms/clauses-of-prices.ts'
import type { PriceCalendar } from '../terms/price-calendar.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { type Charge, isProratedByDays, keyOf } from './charge.ts'
import { paidByParts, seatsBeside } from './charges-in-parts.ts'
import { feesPaid, type PaidTime, paidForOtherTimes, paidFromOtherTimes } from './paid-parts.ts'

/**
 * A billing period of a price without the times that charges from another time on paid for. An ADDON may be enabled earlier than it was to be
 * when it was charged ahead, or again while what was charged ahead of it lasts.
 */
export function unpaidPeriods(
  term: PriceTerm,
  period: BillingPeriod,
  { billed, seats }: { readonly billed: ReadonlySet<string>; readonly seats: readonly PaidTime[] },
): BillingPeriod[] {
  const { calendar, seatChanges } = term
  if (!calendar || !isAddonAhead(term, billed)) return [period]
  const { zone } = calendar.billingGrid
  const { covered, full } = period
  const paid =
    seatChanges === null
      ? [
          ...paidFromOtherTimes(billed, from => keyOf(term, from), { start: covered.start, full }),
          ...chargedTimes(full, term, billed).filter(({ start }) => start !== covered.start),
        ]
      : seats.map(({ time }) => time)
  if (paid.length === 0) return [period]
  return without([covered], paid).map(time => ({ ...period, covered: time, coveredDays: localDays(time, zone) }))
}

/** The seats that are added in time for which an ADDON was charged while it was enabled at another time. A minimum is that of its charge. */
export const seatsAdded = (
  term: PriceTerm,
  calendar: PriceCalendar,
  whole: BillingPeriod,
  seats: readonly PaidTime[],
): Charge[] =>
  seats.flatMap(({ time, paid }) => {
    const during = intersect(time, whole.covered)
    if (!during) return []
    const charged = paid.flatMap(each => {
      const service = intersect(each.service, during)
      return service ? [{ ...each, service }] : []
    })
    return seatsBeside(term, calendar, { period: { ...whole, covered: time }, during, charged })
  })

/** What an ADDON was charged ahead while it was enabled at another time, as it was charged; null where nothing was. */
export function paidAtOtherTimes(
  term: PriceTerm,
  calendar: PriceCalendar,
  whole: BillingPeriod,
  billed: ReadonlySet<string>,
): Charge[] | null {
  const found =
    term.seatChanges === null ? feesOfOtherTimes(term, whole, billed) : seatsOfOtherTimes(term, whole, billed)
  if (found.length === 0) return null
  return found.flatMap(({ time, paid }) => paidByParts(term, calendar, { ...whole, covered: time }, paid))
}

const isAddonAhead = (term: PriceTerm, billed: ReadonlySet<string>): boolean =>
  billed.size > 0 && term.pricing.addon === true && isProratedByDays(term)

/** What was paid of a billing period of seats of an ADDON while it was enabled at another time, also where no seat was taken. */
export function seatsOfOtherTimes(
  term: PriceTerm,
  { covered, full }: BillingPeriod,
  billed: ReadonlySet<string>,
): readonly PaidTime[] {
  if (term.seatChanges === null || !isAddonAhead(term, billed)) return []
  const isTaken = term.seatChanges.findLast(({ at }) => at <= covered.start)?.seats.gt(ZERO) === true
  const beside = chargedTimes(full, term, billed)
  return paidForOtherTimes(billed, from => keyOf(term, from), { covered, full, isTaken, beside })
}

const feesOfOtherTimes = (
  term: PriceTerm,
  { covered, full }: BillingPeriod,
  billed: ReadonlySet<string>,
): readonly PaidTime[] =>
  isAddonAhead(term, billed)
    ? paidForOtherTimes(billed, from => keyOf(term, from), { covered, full, isTaken: true, beside: [] })
    : []

/**
 * For which times of a billing period a price was charged ahead, as minimums of it and other prices of its ADDON tell. Where no seat was taken,
 * nothing else does.
 */
const chargedTimes = (full: Interval, term: PriceTerm, billed: ReadonlySet<string>): Interval[] => [
  ...clauseEntries('commitment', term.schedule)
    .filter(entry => entry.level !== null && isOf(entry, term))
    .flatMap(({ path }) => [...billed].flatMap(key => timeOfMinimum(key, idOfClause(term.schedule.id, path)) ?? []))
    .filter(({ start }) => contains(full, start)),
  ...term.pricing.items.flatMap(item =>
    allConfigs(item)
      .filter(config => config.id !== term.config.id && isSamePeriod(config, term.config))
      .flatMap(config =>
        item.product_item_ids.map(id => keyOf({ ...term, item, config, productItem: { id } }, full.start)),
      )
      .flatMap(key => feesPaid(billed, key, full)),
  ),
]

const isSamePeriod = ({ billing_period: a }: ConfigInput, { billing_period: b }: ConfigInput): boolean =>
  a?.type === b?.type && a?.value === b?.value
