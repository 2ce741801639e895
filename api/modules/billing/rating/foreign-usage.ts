// Usage of money in other currencies than its price: what an invoice says of its conversion, and of money without a
// rate. Pure.
import { type ExchangeRate, RATE_DAYS_MAX } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { plain } from '../../../../shared/decimal.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import type { Finding } from '../../invoices/document/draft-invoice.ts'
import type { PriceDetailsView } from '../../invoices/schema.ts'
import type { Charge } from '../charges/charge.ts'
import { type UsageExchange, type UsageFigures, usageNeeds } from '../usage/usage-needs.ts'
import { isUnpriced, unpricedText } from './charge-volume.ts'

/**
 * The usage of these charges without money that no rate converts, and a finding for each: it keeps the invoice DRAFT
 * until there is a rate, and the invoice then bills it (semantics 1.1).
 */
export function withoutUnpriced(
  usage: UsageFigures,
  charges: readonly Charge[],
): { readonly usage: UsageFigures; readonly findings: readonly Finding[] } {
  const lacksRates = [...usage.values()].some(figures => figures.some(({ missing }) => missing !== undefined))
  if (!lacksRates) return { usage, findings: [] }
  const kept = new Map(usage)
  const messages = new Set<string>()
  for (const charge of charges) {
    for (const { key, currency } of usageNeeds([charge])) {
      if (!currency) continue
      const figures = usage.get(key) ?? []
      for (const figure of figures) {
        if (isUnpriced(figure, currency))
          messages.add(`Usage of ${charge.productItem.name} is not on this invoice. ${unpricedText(figure, currency)}`)
      }
      kept.set(
        key,
        figures.filter(figure => !isUnpriced(figure, currency)),
      )
    }
  }
  return { usage: kept, findings: [...messages].map(details => ({ status: 'ERROR', details })) }
}

/** Whether the charge has money that no rate converts. */
export const lacksExchangeRate = (charge: Charge, usage: UsageFigures): boolean =>
  usageNeeds([charge]).some(({ key }) => (usage.get(key) ?? []).some(({ missing }) => missing !== undefined))

/** What is wrong with rates that were too old when they converted usage. */
export const staleUsageRates = (stale: readonly ExchangeRate[]): Finding[] =>
  [
    ...new Set(
      stale.map(
        ({ base_currency, currency, rate_timestamp }) =>
          `Usage was converted by the exchange rate of ${base_currency} and ${currency} of ${rate_timestamp.slice(0, 10)}. To become FINAL, the invoice needs one of at most ${RATE_DAYS_MAX} days before the usage: POST /v1/exchange-rates.`,
      ),
    ),
  ].map(details => ({ status: 'ERROR', details }))

type Converted = { readonly exchange: UsageExchange | null }

/** What was metered in each currency; absent where nothing was converted. */
export function convertedView({ exchange }: Converted, currency: string): Pick<PriceDetailsView, 'meter_values'> {
  if (!exchange) return {}
  return {
    meter_values: exchange.parts.map(part => ({
      amount: amountView(amount(part.number, part.currency)),
      amount_in_pricing_currency: amountView(amount(part.converted, currency)),
      count: part.count,
    })),
  }
}

/** `of 10 EUR, 100 USD = 92 EUR` */
export function convertedText({ exchange }: Converted, currency: string): string[] {
  if (!exchange) return []
  const parts = exchange.parts.map(part =>
    part.currency === currency
      ? `${plain(part.number)} ${currency}`
      : `${plain(part.number)} ${part.currency} = ${plain(part.converted)} ${currency}`,
  )
  return [`of ${parts.join(', ')}`]
}
