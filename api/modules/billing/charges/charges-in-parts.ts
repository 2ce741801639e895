// Billing periods that were charged ahead in part: what is left to charge of them, and what was charged (semantics 4.1, 4.4). Pure.
import { localDays } from '../../../../shared/billing/local-days.ts'
import type { BillingPeriod } from '../../../../shared/billing/periods.ts'
import { type Instant, type Interval, intersect, without } from '../../../../shared/time.ts'
import type { PriceCalendar } from '../terms/price-calendar.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { seatsByDefault } from '../terms/term-seats.ts'
import { type Charge, chargeOf, isProratedByDays, keyOf } from './charge.ts'
import { type PaidCharge, paidDays, paidInParts, partsIn, REST } from './paid-parts.ts'
import { seatsLeft, seatsPaidInParts } from './seat-charges.ts'

/**
 * What is left to charge of a billing period that other invoices charged in part: days that a cancellation, another plan
 * or a pause took out then, and that are charged now. Null where nothing was charged of it, or all at once.
 */
export function leftOf(
  term: PriceTerm,
  calendar: PriceCalendar,
  whole: BillingPeriod,
  billed: ReadonlySet<string>,
): Charge[] | null {
  const charged = chargedInParts(term, calendar, whole, billed)
  if (!charged) return null
  if (term.seatChanges !== null) return seatsBeside(term, calendar, { period: whole, during: whole.covered, charged })
  const paid = withoutResumed(charged, calendar)
  const keyed = (from: Instant) => keyOf(term, from)
  const { zone } = calendar.billingGrid
  let before = charged.reduce((days, each) => days + paidDays(each, zone), 0)
  const taken = paid.flatMap(({ service, paused }) => without([service], paused))
  const charges: Charge[] = []
  for (const service of without(without([whole.covered], calendar.pauses), taken)) {
    const coveredDays = localDays(service, zone)
    if (coveredDays === 0) continue
    const key = `${keyed(service.start)}${REST}`
    const period = { ...whole, coveredDays }
    charges.push(chargeOf(term, calendar, { period, service, key, rest: { paidDays: before } }))
    before += coveredDays
  }
  return charges
}

/** Without what pauses took out of them that are no pauses any more. */
const withoutResumed = (charged: readonly PaidCharge[], { pauses }: PriceCalendar): PaidCharge[] =>
  charged.map(each => ({ ...each, paused: without(each.paused, pauses) }))

type Beside = {
  readonly period: BillingPeriod
  /** The part of the period that is looked at. */
  readonly during: Interval
  readonly charged: readonly PaidCharge[]
}

/** The seats of a period besides those that are charged. */
export function seatsBeside(term: PriceTerm, calendar: PriceCalendar, { period, during, charged }: Beside): Charge[] {
  const keyed = (from: Instant) => keyOf(term, from)
  const of = { changes: term.seatChanges ?? [], calendar, keyed, byDefault: seatsByDefault(term.config) }
  return seatsLeft(of, { ...period, covered: during }, withoutResumed(charged, calendar)).map(({ isRest, ...each }) =>
    chargeOf(term, calendar, { period, ...each, ...(isRest ? { rest: { paidDays: 0 } } : {}) }),
  )
}

/** What charges ahead paid for of a period, when its days are not those that it is charged for now; otherwise null. */
export function chargedInParts(
  term: PriceTerm,
  calendar: PriceCalendar,
  { covered }: BillingPeriod,
  billed: ReadonlySet<string>,
): PaidCharge[] | null {
  if (partsIn(billed).size === 0 || !isProratedByDays(term)) return null
  const paid = paidInParts(billed, from => keyOf(term, from), covered)
  const isOpen = ({ key, service, paused }: PaidCharge): boolean =>
    key.endsWith(REST) || service.end < covered.end || without(paused, calendar.pauses).length > 0
  return paid?.some(isOpen) ? paid : null
}

/** The charges of a period that was charged in part, for those of the days they paid for that are left of it. */
export function paidByParts(
  term: PriceTerm,
  calendar: PriceCalendar,
  whole: BillingPeriod,
  paid: readonly PaidCharge[],
): Charge[] {
  if (term.seatChanges !== null) {
    const left = paid.flatMap(each => leftOfPaid(each, calendar, whole) ?? [])
    return seatsPaidInParts({ calendar, byDefault: seatsByDefault(term.config) }, whole, left).map(each =>
      chargeOf(term, calendar, { period: whole, ...each }),
    )
  }
  const { zone } = calendar.billingGrid
  let before = 0
  return paid.flatMap(each => {
    const rest = { paidDays: before }
    before += paidDays(each, zone)
    const left = leftOfPaid(each, calendar, whole)
    const coveredDays = left ? paidDays(left, zone) : 0
    if (!left || coveredDays <= 0) return []
    return [chargeOf(term, calendar, { period: { ...whole, coveredDays }, service: left.service, key: each.key, rest })]
  })
}

/** What is left of the time that a charge paid for; null where nothing is. */
function leftOfPaid(paid: PaidCharge, { pauses }: PriceCalendar, { covered }: BillingPeriod): PaidCharge | null {
  const service = intersect(paid.service, covered)
  if (!service) return null
  const paused = [...paid.paused, ...without(pauses, paid.paused)].flatMap(each => intersect(each, service) ?? [])
  return { ...paid, service, paused }
}
