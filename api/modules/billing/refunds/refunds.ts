// Refunds of advance charges when a subscription, or its plan, ends early: the unused days of what an invoice has
// charged (semantics 4.1, 4.4). Pure.
import type { RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import { type Fraction, fraction, timesFraction } from '../../../../shared/billing/fraction.ts'
import { localDays, type Zone } from '../../../../shared/billing/local-days.ts'
import { shareOf } from '../../../../shared/billing/proration.ts'
import { taxText } from '../../../../shared/billing/tax/carried-tax.ts'
import type { CategoryTax, TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import { type Decimal, decimal, max, min, plain, ZERO } from '../../../../shared/decimal.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import { formatInstant, type Instant, type Interval, instantOf, intersect, interval } from '../../../../shared/time.ts'
import { allConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import type { BillingInputs, ScheduleInput } from '../terms/billing-inputs.ts'
import { endTimes } from '../terms/ends-with-refund.ts'
import { soldVersions } from '../terms/sold-pricings.ts'
import { billingZoneOf, type InvoiceWindow, type PeriodInputs } from '../terms/windows.ts'

/** An advance charge on a FINAL invoice, or a minimum that it reached ahead, less what credit notes have credited of it. */
export type AdvanceCharge = {
  readonly invoiceId: string
  readonly key: string
  readonly scheduleId: string
  /** Null on a minimum that covers several prices. */
  readonly pricingItemId: string | null
  readonly configId: string | null
  readonly productItemId: string | null
  readonly isMinimum: boolean
  readonly service: Interval
  /** The parts of its time that were paused, so that their days were not charged. */
  readonly paused: readonly Interval[]
  readonly taxCategory: TaxCategory
  /** The tax that it carried; absent where it is not known. */
  readonly tax?: CategoryTax
  readonly excludingTax: Decimal
  readonly includingTax: Decimal
  /** What discounts on it and on the total deducted from it; with tax when the prices include it. */
  readonly deducted: Decimal
  /** The parts of it that amounts on prices took, by clause; absent where it is not known, or one of them took all of it. */
  readonly deductedBy?: ReadonlyMap<string, Decimal>
  /** Present where a FINAL invoice has given its unused days back. */
  readonly refunded?: true
  /** The cutoffs of the closed invoices of the subscription from the first refund on; absent where all are closed. */
  readonly closedAt?: readonly Instant[]
}

/** A charge in advance. The days from `from` on are refunded. */
export type Refund = { readonly charged: AdvanceCharge; readonly from: Instant }

type Ended = Omit<PeriodInputs, 'schedules' | 'subscription'> &
  Pick<BillingInputs, 'schedules' | 'subscription' | 'pricings'>

/** From when on advance charges are unused and refunded: those of a schedule, or of one price of it (`ofPrice`). */
export type RefundTimes = ReadonlyMap<string, { readonly scheduleId: string; readonly from: Instant }>

const ofPrice = (scheduleId: string, configId: string): string => `${scheduleId} ${configId}`

/** What is without refunds is absent. */
export const refundTimes = (inputs: Ended): RefundTimes =>
  new Map([
    ...[...endTimes(inputs)].map(([id, from]) => [id, { scheduleId: id, from }] as const),
    ...inputs.schedules.flatMap(schedule => takeovers(schedule, inputs)),
  ])

/** When another version of a rate card takes over, which charges its own price for the days left. */
function takeovers(schedule: ScheduleInput, inputs: Ended) {
  const spans = soldVersions(schedule, billingZoneOf(inputs))
  return spans.slice(0, -1).flatMap(({ pricing_plan_version_id: version, span: { end } }) =>
    end === null
      ? []
      : inputs.pricings
          .filter(pricing => pricing.pricing_plan_version_id === version)
          .flatMap(pricing => pricing.items.flatMap(allConfigs))
          .map(({ id }) => [ofPrice(schedule.id, id), { scheduleId: schedule.id, from: end }] as const),
  )
}

/**
 * The refunds that belong on the invoice of this window: those that start in the time it collects. One at the very start of that time
 * belongs on the invoice before, unless that was closed before the end was known: it has charged the days left, and gave none back.
 */
export const refundsIn = (window: InvoiceWindow, times: RefundTimes, charged: readonly AdvanceCharge[]): Refund[] =>
  charged.flatMap(each => {
    const found = [each.scheduleId, ofPrice(each.scheduleId, each.configId ?? '')].flatMap(
      key => times.get(key)?.from ?? [],
    )
    const { arrears } = window
    const time = instantOf(Math.min(...found))
    if (found.length === 0 || arrears === null || time < arrears.start || time > arrears.end) return []
    if (time === arrears.start && !isMissed(each, time)) return []
    // A charge whose period never began is refunded in full.
    const from = instantOf(Math.max(time, each.service.start))
    return from < each.service.end ? [{ charged: each, from }] : []
  })

/** Whether the invoice that collects up to this time is closed and did not refund the charge. */
const isMissed = ({ refunded, closedAt }: AdvanceCharge, time: Instant): boolean =>
  refunded !== true && (closedAt === undefined || closedAt.includes(time))

/** The charges, those marked that a closed invoice refunds. */
export const withRefunded = (charged: readonly AdvanceCharge[], refunds: readonly Refund[]): AdvanceCharge[] =>
  refunds.length === 0
    ? [...charged]
    : charged.map(each => (refunds.some(refund => isSame(refund.charged, each)) ? { ...each, refunded: true } : each))

const isSame = (one: AdvanceCharge, other: AdvanceCharge): boolean =>
  one.invoiceId === other.invoiceId && one.key === other.key

type RefundContext = {
  readonly zone: Zone
  readonly currency: string
  readonly includingTax: boolean
  readonly rounding: RoundingMode
}

/**
 * What is refunded, as a negative amount: the charge after every discount, by the local days that are left. Exact in
 * UNROUNDED.
 */
export function refundOf(
  { charged, from }: Refund,
  { zone, currency, includingTax, rounding }: RefundContext,
): { readonly quantity: Decimal; readonly left: Interval; readonly paid: Decimal } {
  const days = interval(from, charged.service.end)
  const left = includingTax ? charged.includingTax : charged.excludingTax
  // Credit notes may have credited more than was paid after discounts; the refund is then zero.
  // A minimum that was given back as seats came is below zero, and so is what discounts took of it.
  const paid = left.lt(ZERO)
    ? min(left.minus(min(charged.deducted, ZERO)), ZERO)
    : max(left.minus(charged.deducted), ZERO)
  const exact = timesFraction(paid, shareRefunded({ charged, from }, zone))
  const back = rounding === 'UNROUNDED' ? exact : toMoney(amount(exact, currency)).quantity
  return { quantity: ZERO.minus(back), left: days, paid }
}

/** The share of the charged days that are left, which is refunded. */
export function shareRefunded({ charged: { service, paused }, from }: Refund, zone: Zone): Fraction {
  const left = interval(from, service.end)
  const days = chargedDays(service, paused, zone)
  return paused.length === 0 || days <= 0
    ? shareOf(left, service, zone)
    : fraction(chargedDays(left, paused, zone), days)
}

type StoredParts = readonly (readonly [clause: string, amount: string])[]

/** What a line stores of amounts that lowered it. */
export const deductedByOf = (stored: StoredParts | null | undefined): Pick<AdvanceCharge, 'deductedBy'> =>
  stored ? { deductedBy: new Map(stored.map(([clause, part]) => [clause, decimal(part)])) } : {}

/** The local days of a time without those of pauses. */
export const chargedDays = (time: Interval, paused: readonly Interval[], zone: Zone): number =>
  paused
    .flatMap(pause => intersect(pause, time) ?? [])
    .reduce((days, pause) => days - localDays(pause, zone), localDays(time, zone))

/** The identity of a set of refunds: the same text for the same refunds. */
export const refundsText = (refunds: readonly Refund[]): string =>
  refunds
    .map(
      ({ charged, from }) =>
        `${charged.invoiceId} ${charged.key} ${formatInstant(from)} ${plain(charged.includingTax)}${charged.tax ? ` ${taxText(charged.tax)}` : ''}`,
    )
    .join('|')
