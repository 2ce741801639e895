// Prices in another currency than the invoice: converted line by line at the rates that hold on the date of the invoice,
// before clauses, rounding and tax (semantics 5.6). Pure.
import { type Exchange, exchangeBefore, RATE_DAYS_MAX } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { timesFraction } from '../../../../shared/billing/fraction.ts'
import { addDays, type LocalDate, startOfLocalDay, type Zone } from '../../../../shared/billing/local-days.ts'
import type { Decimal } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at } from '../../../../shared/time.ts'
import type { Finding } from '../../invoices/document/draft-invoice.ts'
import { noExchange } from '../../parties/exchange-rates/load-rates.ts'
import type { Charge } from '../charges/charge.ts'
import type { BillingInputs, ScheduleInput } from '../terms/billing-inputs.ts'

/** How the prices of a schedule are converted; null when they are in the currency of the invoice. */
export type ExchangeOf = (schedule: Pick<ScheduleInput, 'id' | 'pricing_currency'>) => Exchange | null

/**
 * The conversions of an invoice of this local day. They throw INVALID_OPERATION for a schedule in a currency without a
 * rate.
 */
export function exchangesOn(
  { subscription, exchange_rates: rates = [] }: BillingInputs,
  { day, zone }: { readonly day: LocalDate; readonly zone: Zone },
): ExchangeOf {
  const to = subscription.billing_currency
  return ({ id, pricing_currency: from }) => {
    if (from === to) return null
    const found = exchangeBefore(rates, { from, to, until: startOfLocalDay(addDays(day, 1), zone) })
    if (found) return found
    throw new AppError('INVALID_OPERATION', noExchange(from, to), {
      field: 'billing_currency',
      resourceId: id,
      resourceType: 'PRICING_PLAN_SCHEDULE',
    })
  }
}

/** What is wrong with the rates that these conversions use on an invoice of this local day. */
export function staleRates(
  exchanges: readonly Exchange[],
  { day, zone }: { readonly day: LocalDate; readonly zone: Zone },
): Finding[] {
  if (exchanges.length === 0) return []
  const oldest = startOfLocalDay(addDays(day, -RATE_DAYS_MAX), zone)
  const stale = exchanges.flatMap(({ used }) => used).filter(({ rate_timestamp }) => at(rate_timestamp) < oldest)
  const messages = stale.map(
    ({ base_currency, currency, rate_timestamp }) =>
      `The exchange rate of ${base_currency} and ${currency} is of ${rate_timestamp.slice(0, 10)}. To become FINAL, the invoice needs one of at most ${RATE_DAYS_MAX} days before its date: POST /v1/exchange-rates.`,
  )
  return [...new Set(messages)].map(details => ({ status: 'ERROR', details }))
}

/** The charge with the conversion of its price. Late usage keeps that of the invoice that it is late for. */
export function withExchange(charge: Charge, exchangeOf: ExchangeOf): Charge {
  if (charge.exchange) return charge
  const exchange = exchangeOf(charge.schedule)
  return exchange ? { ...charge, exchange } : charge
}

/** An amount of the price in the currency of the invoice, exactly. */
export const inBillingCurrency = ({ exchange }: Pick<Charge, 'exchange'>, quantity: Decimal): Decimal =>
  exchange ? timesFraction(quantity, exchange.factor) : quantity

/** An amount in the currency of the invoice, in that of the price. */
export const inPricingCurrency = ({ exchange }: Pick<Charge, 'exchange'>, quantity: Decimal): Decimal =>
  exchange
    ? timesFraction(quantity, { numerator: exchange.factor.denominator, denominator: exchange.factor.numerator })
    : quantity
