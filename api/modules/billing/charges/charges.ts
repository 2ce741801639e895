// What an invoice charges: one charge for each price and each of its periods that falls on the invoice.
import { type BillingPeriod, billingPeriodAt, billingPeriods } from '../../../../shared/billing/periods.ts'
import { usageInterval } from '../../../../shared/billing/usage-interval.ts'
import { type Decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { contains, type Instant, type Interval, instantOf, intersect, interval } from '../../../../shared/time.ts'
import type { PriceCalendar } from '../terms/price-calendar.ts'
import {
  chargesNothing,
  isMetered,
  isOnDemand,
  isOneOff,
  isRatedPerPricingPeriod,
  isSoldByCredits,
  type PriceTerm,
} from '../terms/price-terms.ts'
import { seatsByDefault } from '../terms/term-seats.ts'
import { advanceScan, type InvoiceWindow } from '../terms/windows.ts'
import { paidAtOtherTimes, seatsAdded, seatsOfOtherTimes, unpaidPeriods } from './addon-charges.ts'
import { type Charge, chargeOf, isProratedByDays, keyOf } from './charge.ts'
import { chargedInParts, leftOf, paidByParts } from './charges-in-parts.ts'
import { partsIn } from './paid-parts.ts'
import { firstCharged, withoutPauses } from './paused-days.ts'
import { paidSeatCharges, seatCharges } from './seat-charges.ts'

/**
 * The charges of one invoice. `billed` holds the keys of advance charges that other invoices of the subscription bill.
 * A charge that became due late (for a schedule added to the running period) is therefore billed once, on the next
 * invoice.
 */
export function chargesOf(
  terms: readonly PriceTerm[],
  window: InvoiceWindow,
  billed: ReadonlySet<string>,
): readonly Charge[] {
  if (billed.size > 0) return terms.flatMap(term => chargesOfTerm(term, window, billed))
  const known = unbilled.get(terms) ?? new WeakMap<InvoiceWindow, readonly Charge[]>()
  unbilled.set(terms, known)
  const charges = known.get(window) ?? terms.flatMap(term => chargesOfTerm(term, window, billed))
  known.set(window, charges)
  return charges
}

/** Where nothing is billed elsewhere, usage is read for the same charges that are priced then. */
const unbilled = new WeakMap<readonly PriceTerm[], WeakMap<InvoiceWindow, readonly Charge[]>>()

function chargesOfTerm(term: PriceTerm, window: InvoiceWindow, billed: ReadonlySet<string>): Charge[] {
  const { calendar } = term
  if (!calendar || chargesNothing(term) || isOnDemand(term)) return []
  // Only what is charged in advance is on the opening invoice, which collects no period.
  if (window.arrears === null && !term.inAdvance) return []
  const until = window.advance?.end ?? window.cutoffAt
  const charges: Charge[] = []
  const from = looksBack(term, billed) ? undefined : advanceScan(window).start
  for (const whole of billingPeriods(calendar.billingGrid, calendar.span, from)) {
    if (whole.covered.start >= until) break
    if (isOneOff(term) && whole.covered.start > calendar.span.start) break
    const seats = seatsOfOtherTimes(term, whole, billed)
    for (const period of unpaidPeriods(term, whole, { billed, seats }))
      charges.push(...chargesInPeriod(term, calendar, { period, window, billed }))
    charges.push(...seatsAdded(term, calendar, whole, seats).filter(isDueNow(whole, window, billed)))
  }
  return charges
}

/**
 * Whether periods that ended before the time of an invoice may be on it: what is left of one that was charged ahead in part. Any other period
 * `belongs` to an invoice only if it ends later.
 */
const looksBack = (term: PriceTerm, billed: ReadonlySet<string>): boolean =>
  isProratedByDays(term) && (term.pricing.addon === true || partsIn(billed).size > 0)

function chargesInPeriod(
  term: PriceTerm,
  calendar: PriceCalendar,
  {
    period,
    window,
    billed,
  }: { readonly period: BillingPeriod; readonly window: InvoiceWindow; readonly billed: ReadonlySet<string> },
): readonly Charge[] {
  const isNow = isDueNow(period, window, billed)
  const left = leftOf(term, calendar, period, billed)
  if (left) return left.filter(isNow)
  if (!belongs(window, period.covered, term)) return []
  return chargesOfPeriod(term, calendar, period, billed).filter(charge => !term.inAdvance || isNow(charge))
}

const isDueNow =
  (period: BillingPeriod, window: InvoiceWindow, billed: ReadonlySet<string>) =>
  (charge: Charge): boolean =>
    !billed.has(charge.key) && isDue(charge, period, window)

/** The billing period of a price that contains this instant; null when the price is not in force then. */
export const periodAt = ({ calendar }: PriceTerm, instant: Instant): BillingPeriod | null =>
  calendar && billingPeriodAt(calendar.billingGrid, calendar.span, instant)

/** The whole billing period of a charge; late usage has the period of its time. */
export const fullPeriodOf = (charge: Charge): Interval =>
  (charge.late === null ? charge.period : (periodAt(charge, charge.service.start) ?? charge.period)).full

/** What a price charges for usage at this instant, on whichever invoice; null when it charges nothing. */
export function chargeAt(term: PriceTerm, instant: Instant): Charge | null {
  const period = periodAt(term, instant)
  if (!term.calendar || !period || chargesNothing(term)) return null
  return chargesOfPeriod(term, term.calendar, period).find(({ service }) => contains(service, instant)) ?? null
}

type Bought = {
  /** So that what is bought twice on one day is charged twice. */
  readonly orderId: string
  readonly time: Interval
  /** How many units, or the amount chosen; null for a lump sum. */
  readonly number: Decimal | null
}

/** The charge for what is bought of an on-demand price. Null when no time of its schedule is left. */
export function onDemandCharge(term: PriceTerm, { orderId, time, number }: Bought): Charge | null {
  if (!term.calendar) return null
  const config = number === null ? term.config : { ...term.config, default_units: { number: plain(number) } }
  const period = { index: 0, full: time, covered: time, fullDays: 1, coveredDays: 1 }
  const key = `${keyOf(term, time.start)} ${orderId}`
  return chargeOf({ ...term, config }, term.calendar, { period, service: time, from: time.start, key })
}

/** What the other prices of the volume group charge for the same time. */
export const groupCharges = (charge: Charge): Charge[] =>
  charge.group.flatMap(term =>
    charge.late === null ? (chargeAt(term, charge.service.start) ?? []) : [{ ...charge, ...term, persisted: [] }],
  )

/**
 * The advance charges of these prices for periods that overlap `time`, as far as `billed` has them: what was paid ahead
 * for this time.
 */
export const paidInAdvance = (terms: readonly PriceTerm[], time: Interval, billed: ReadonlySet<string>): Charge[] =>
  terms.flatMap(term => {
    const { calendar } = term
    if (!calendar || !term.inAdvance || isOneOff(term) || chargesNothing(term)) return []
    const charges: Charge[] = []
    for (const period of billingPeriods(calendar.billingGrid, calendar.span)) {
      if (period.covered.start >= time.end) break
      if (period.covered.end <= time.start) continue
      charges.push(...paidInPeriod(term, calendar, period, billed))
    }
    return charges
  })

function paidInPeriod(
  term: PriceTerm,
  calendar: PriceCalendar,
  whole: BillingPeriod,
  billed: ReadonlySet<string>,
): Charge[] {
  const period = withoutPauses(calendar, whole)
  const keyed = (from: Instant) => keyOf(term, from)
  const moved = paidAtOtherTimes(term, calendar, whole, billed)
  if (moved) return moved
  const parts = chargedInParts(term, calendar, whole, billed)
  if (parts) return paidByParts(term, calendar, whole, parts)
  if (term.seatChanges === null || !period)
    return chargesOfPeriod(term, calendar, whole).filter(({ key }) => billed.has(key))
  const paidBy = { billed, keyed, byDefault: seatsByDefault(term.config) }
  return paidSeatCharges(calendar, whole, paidBy).map(paid => chargeOf(term, calendar, { period, ...paid }))
}

/**
 * When seats rise in a period that is paid in advance, the first invoice with a later cutoff bills the rise. The rest of
 * a period is due where it starts, or on the next invoice. Everything else is due where its period starts.
 */
function isDue(charge: Charge, { covered }: BillingPeriod, window: InvoiceWindow): boolean {
  const { seats, service, rest } = charge
  if (seats?.before) return service.start < window.cutoffAt
  if (!rest) return beginsIn(advanceScan(window), covered, charge)
  // The rest of no seats makes no line that tells that it was billed: it is on the invoice of its time alone, for its minimum.
  return seats?.number.eq(ZERO) === true
    ? contains(advanceScan(window), service.start)
    : service.start < advanceScan(window).end
}

/**
 * Whether a period that is paid ahead starts in this time, or its first charged day does. If the subscription was paused when the period
 * started, the invoice of that start charged nothing, and the period is due once billing has resumed.
 */
const beginsIn = (time: Interval, covered: Interval, term: PriceTerm): boolean =>
  contains(time, covered.start) ||
  (term.calendar !== null &&
    term.calendar.pauses.length > 0 &&
    !isOneOff(term) &&
    contains(time, firstCharged(term.calendar, covered)))

/**
 * In advance: periods that start in the advance window, and for changing seats those that run in it. In arrears: periods
 * that end in the collected time.
 */
function belongs(window: InvoiceWindow, covered: Interval, term: PriceTerm): boolean {
  const { inAdvance, seatChanges } = term
  if (inAdvance && seatChanges === null) return beginsIn(advanceScan(window), covered, term)
  if (inAdvance) return intersect(advanceScan(window), covered) !== null
  const { arrears } = window
  return arrears !== null && arrears.start < covered.end && covered.end <= arrears.end
}

/** One charge for the period, or one for each pricing period in it when usage is rated per pricing period. */
function chargesOfPeriod(
  term: PriceTerm,
  calendar: PriceCalendar,
  whole: BillingPeriod,
  billed: ReadonlySet<string> = new Set(),
): Charge[] {
  const period = isOneOff(term) ? whole : withoutPauses(calendar, whole)
  if (!period) return []
  const { covered } = period
  if (term.seatChanges !== null) {
    const paying = { changes: term.seatChanges, inAdvance: term.inAdvance, calendar }
    const keyed = (from: Instant) => keyOf(term, from)
    return seatCharges(paying, whole, { billed, keyed, byDefault: seatsByDefault(term.config) }).map(
      ({ key, service, seats }) => chargeOf(term, calendar, { period, service, seats, key }),
    )
  }
  // The credits that wallets lack are charged for each pricing period, as the usage that needs them.
  if (isSoldByCredits(term))
    return [...billingPeriods(calendar.pricingGrid, covered)].map(piece =>
      chargeOf(term, calendar, { period, service: piece.covered }),
    )
  if (!isMetered(term)) return [chargeOf(term, calendar, { period, service: covered })]
  if (term.inAdvance)
    throw new AppError('INVALID_OPERATION', 'Usage cannot be billed in advance.', { field: 'billing_in_advance' })
  const persist = term.calculation?.persist === true
  const usageOver = (time: Interval) => usageInterval(persist, calendar.since, time, term.persisted)
  if (!isRatedPerPricingPeriod(term))
    return [chargeOf(term, calendar, { period, service: covered, usage: usageOver(covered) })]
  return [...billingPeriods(calendar.pricingGrid, covered)].map(piece => {
    const from: Instant = instantOf(Math.max(piece.full.start, calendar.span.start))
    const over = (until: Instant) => usageOver(interval(from, until))
    // An amount carried into the pricing period is charged in full once, however many invoices the period is spread
    // over.
    const billedUsage = from < piece.covered.start ? over(piece.covered.start) : null
    return chargeOf(term, calendar, {
      period,
      service: piece.covered,
      usage: over(piece.covered.end),
      billedUsage,
      from,
    })
  })
}
