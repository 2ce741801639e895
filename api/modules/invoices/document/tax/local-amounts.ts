// Tax in the currency of the tax authority, when the invoice is in another one (semantics 5.5: local amounts). Pure.
import {
  type ExchangeRate,
  exchangeBefore,
  exchangeOf,
  RATE_DAYS_MAX,
} from '../../../../../shared/billing/exchange/exchange-rates.ts'
import { timesFraction } from '../../../../../shared/billing/fraction.ts'
import { addDays, startOfLocalDay } from '../../../../../shared/billing/local-days.ts'
import type { TaxDecided } from '../../../../../shared/billing/tax/tax.ts'
import { taxCurrency } from '../../../../../shared/billing/tax/tax-currencies.ts'
import { type Decimal, decimal, ONE, plain, roundHalfUp, sum } from '../../../../../shared/decimal.ts'
import { amount, moneyView, toMoney } from '../../../../../shared/money.ts'
import { at } from '../../../../../shared/time.ts'
import type { MoneyView, TaxAmountsView, TaxCategoryView } from '../../schema.ts'
import type { DraftInvoice, Finding } from '../draft-invoice.ts'
import { zoneOfParties } from '../parties.ts'
import { sidesOf } from './tax-sides.ts'

/** Decimals of a rate that follows from two. */
const CROSS_RATE_PLACES = 12

/** The rate that turns amounts of the invoice into the currency of the tax authority. */
export type LocalRate = { readonly currency: string; readonly used: ExchangeRate }

type Taxed = Pick<DraftInvoice, 'parties' | 'currency' | 'billingType'> & Pick<DraftInvoice, 'dates'>

/**
 * The rate that holds on the date of the invoice. Null when no tax is charged, and when the invoice is in the currency of the
 * authority already. Null with a finding when the platform has no rate, or only rates that are too old. An invoice that was priced
 * before that finding existed has no member of rates, and gets none when it is verified.
 */
export function localRateOf(
  { parties, currency, billingType = 'DEFAULT', dates }: Taxed,
  { rates, usedRegistration }: Pick<TaxDecided, 'rates' | 'usedRegistration'>,
): { readonly rate: LocalRate | null; readonly findings: readonly Finding[] } {
  const none = { rate: null, findings: [] }
  const country = usedRegistration ?? sidesOf(parties, billingType).seller.country
  const local = country === null ? null : taxCurrency(country, dates.day)
  const known = parties.tax_exchange_rates
  if (rates.length === 0 || local === null || local === currency || !known) return none
  const zone = zoneOfParties(parties)
  const oldest = startOfLocalDay(addDays(dates.day, -RATE_DAYS_MAX), zone)
  const until = startOfLocalDay(addDays(dates.day, 1), zone)
  const fresh = known.filter(({ rate_timestamp }) => at(rate_timestamp) >= oldest)
  const used = usedRate(fresh, { from: currency, to: local, until })
  if (used) return { rate: { currency: local, used }, findings: [] }
  const details = `The tax of this invoice cannot be stated in ${local}, the currency of the tax authority: there is no exchange rate with ${currency} of at most ${RATE_DAYS_MAX} days before its date. Add one: POST /v1/exchange-rates.`
  return { rate: null, findings: [{ status: 'WARNING', details }] }
}

/** The rate between the two, or the one that follows from two rates against one base. */
function usedRate(
  rates: readonly ExchangeRate[],
  between: { readonly from: string; readonly to: string; readonly until: ReturnType<typeof at> },
): ExchangeRate | null {
  const exchange = exchangeBefore(rates, between)
  if (exchange === null) return null
  const [first, second] = exchange.used
  if (first === undefined || second === undefined) return first ?? null
  return {
    base_currency: between.from,
    currency: between.to,
    rate: plain(roundHalfUp(timesFraction(ONE, exchange.factor), CROSS_RATE_PLACES)),
    rate_timestamp: [first, second].map(({ rate_timestamp }) => rate_timestamp).toSorted()[0] ?? first.rate_timestamp,
    source: [...new Set([first.source, second.source])].join(', '),
  }
}

type Amounts = { readonly base: Decimal; readonly tax: Decimal; readonly currency: string }

/** These amounts in the currency of the authority, each rounded to it. */
export function localAmounts(rate: LocalRate, { base, tax }: Amounts): TaxAmountsView {
  const { factor } = exchangeOf([rate.used], rate.currency)
  const inLocal = (quantity: Decimal): Decimal =>
    toMoney(amount(timesFraction(quantity, factor), rate.currency)).quantity
  return localView(rate, { base: inLocal(base), tax: inLocal(tax) })
}

/** Amounts in the currency of the authority, as a document shows them. */
export const localView = ({ currency, used }: LocalRate, { base, tax }: Omit<Amounts, 'currency'>): TaxAmountsView => {
  const money = (quantity: Decimal): MoneyView => moneyView(toMoney(amount(quantity, currency)))
  return {
    base_amount: money(base),
    tax_amount: money(tax),
    total_amount: money(base.plus(tax)),
    used_exchange_rate: { ...used },
    display: true,
  }
}

type WithLocal = { readonly local_amounts?: TaxAmountsView }

/** What the local amounts of tax summaries sum to, as a member of the summary of them all; no member where they have none. */
export function localTotals(summaries: readonly Pick<TaxCategoryView, 'local_amounts'>[]): WithLocal {
  const all = summaries.flatMap(({ local_amounts }) => local_amounts ?? [])
  const rate = rateOfAmounts(all[0])
  if (rate === null) return {}
  const total = (name: 'base_amount' | 'tax_amount') => sum(all.map(each => decimal(each[name].quantity)))
  return { local_amounts: localView(rate, { base: total('base_amount'), tax: total('tax_amount') }) }
}

/** The rate by which amounts were stated, so that others are stated by the same; null without any. */
export const rateOfAmounts = (amounts: TaxAmountsView | undefined): LocalRate | null =>
  amounts ? { currency: amounts.tax_amount.currency, used: amounts.used_exchange_rate } : null
