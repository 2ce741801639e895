// A charge: what a price charges for a time of one of its billing periods. Pure.
import type { Exchange, ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import type { BillingPeriod, PeriodLength } from '../../../../shared/billing/periods.ts'
import { formatInstant, type Instant, type Interval } from '../../../../shared/time.ts'
import type { PriceCalendar } from '../terms/price-calendar.ts'
import { isMetered, isOneOff, isSoldByCredits, type PriceTerm } from '../terms/price-terms.ts'
import type { ChargedSeats } from './seat-charges.ts'

export type Charge = PriceTerm & {
  /** Stable: the same charge has the same key whenever it is computed, and no two charges of an invoice share a key. */
  readonly key: string
  readonly billingPeriod: PeriodLength
  readonly pricingPeriod: PeriodLength
  /** The billing period of the price that the charge belongs to. */
  readonly period: BillingPeriod
  /** The service time it pays for: the covered part of the billing period, or one pricing period in it. */
  readonly service: Interval
  /** The seats charged for the service, when seat assignments decide their number; otherwise null. */
  readonly seats: ChargedSeats | null
  /**
   * For the rest of a period that was charged ahead in part, with the days that were charged before; absent on any other
   * charge.
   */
  readonly rest?: { readonly paidDays: number }
  /**
   * The time whose usage is rated; longer than the service when a pricing period is longer than the billing period.
   * Null when not metered.
   */
  readonly usage: Interval | null
  /** The part of `usage` that earlier invoices have billed; null when there is none. */
  readonly billedUsage: Interval | null
  /**
   * The same key for all charges of one pricing period: each bills the price of the whole less what the charges before
   * it billed.
   */
  readonly ratingGroup: string
  /** For late usage, the closed invoice of its time, and the condition names and exchange rates that applied to it. */
  readonly late: {
    readonly invoiceId: string
    readonly namesHash: string | null
    /** Absent where no usage was converted. */
    readonly usageRates?: readonly ExchangeRate[]
  } | null
  /** How its price is converted into the currency of the invoice; absent when it is in that currency. */
  readonly exchange?: Exchange
}

/** The period by whose days a charge is prorated: when seats change in a period, the part with this number of seats. */
export const prorationPeriod = ({ period, seats }: Charge): BillingPeriod => seats?.period ?? period

/** A price ahead that is charged for days, so that a part of its period can be charged. */
export const isProratedByDays = (term: PriceTerm): boolean =>
  term.inAdvance && !isOneOff(term) && !isMetered(term) && !isSoldByCredits(term)

type ChargedTime = {
  readonly period: BillingPeriod
  readonly service: Interval
  readonly usage?: Interval
  readonly billedUsage?: Interval | null
  /** Where the rating group of the charge starts. */
  readonly from?: Instant
  readonly seats?: ChargedSeats
  readonly key?: string
  readonly rest?: { readonly paidDays: number }
}

/** Written out on purpose: an object spread of the term took a third of the time of an invoice with many lines. */
export function chargeOf(term: PriceTerm, { billingPeriod, pricingPeriod }: PriceCalendar, of: ChargedTime): Charge {
  const { period, service, usage = null, billedUsage = null, from = service.start, seats = null } = of
  const key = of.key ?? keyOf(term, service.start)
  return {
    subscriptionId: term.subscriptionId,
    schedule: term.schedule,
    plan: term.plan,
    pricing: term.pricing,
    item: term.item,
    config: term.config,
    productItem: term.productItem,
    product: term.product,
    category: term.category,
    taxCategory: term.taxCategory,
    billingCurrency: term.billingCurrency,
    calculation: term.calculation,
    condition: term.condition,
    tiering: term.tiering,
    ...(term.reports ? { reports: term.reports } : {}),
    split: term.split,
    group: term.group,
    persisted: term.persisted,
    seatChanges: term.seatChanges,
    included: term.included,
    inAdvance: term.inAdvance,
    calendar: term.calendar,
    key,
    ratingGroup: from === service.start ? key : keyOf(term, from),
    late: null,
    billingPeriod,
    pricingPeriod,
    period,
    service,
    seats,
    ...(of.rest ? { rest: of.rest } : {}),
    usage,
    billedUsage,
  }
}

type Keyed = { readonly [of in 'schedule' | 'item' | 'config' | 'productItem']: { readonly id: string } }

/** The key of the charge of a price from a time on. */
export const keyOf = ({ schedule, item, config, productItem }: Keyed, start: Instant): string =>
  `${schedule.id} ${item.id} ${config.id} ${productItem.id} ${formatInstant(start)}`
