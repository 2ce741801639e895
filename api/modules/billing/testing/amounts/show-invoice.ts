// An invoice as the tables write it: `a 100.00, 1 -15.00 -> 85.00 17.85 102.85`.
import { decimal, placesOf } from '../../../../../shared/decimal.ts'
import { currencyExponent } from '../../../../../shared/money.ts'
import type { MoneyView } from '../../../invoices/schema.ts'
import { currencyOf } from './case-inputs.ts'
import type { Case } from './read-cases.ts'

/** A line of an invoice, of the API as of the pipeline. */
export type ShownLine = {
  readonly type: string
  readonly description: string
  readonly clause?: string
  readonly coupon_data?: { readonly coupon_id: string }
  readonly tax_categories: readonly { readonly tax_category?: string }[]
  readonly amount_excluding_tax: { readonly quantity: string }
  readonly amount_including_tax: { readonly quantity: string }
  readonly details: { readonly wallet_balances?: readonly { readonly wallet_id: string }[] }
}

export type Shown = {
  readonly lines: readonly ShownLine[]
  /** Net, tax and gross. */
  readonly totals: readonly string[]
  /** The same in the currency of the tax authority; absent where it is not stated. */
  readonly local?: Readonly<Record<'base_amount' | 'tax_amount' | 'total_amount', MoneyView>>
}

/** Lines by what made them: the letter of a price, or the number of a clause. */
export function showInvoice(of: Case, { lines, totals, local }: Shown, numberOf: (line: ShownLine) => number): string {
  const places = currencyExponent(currencyOf(of))
  const money = (text: string): string => decimal(text).toFixed(Math.max(places, placesOf(decimal(text))))
  const shown = lines.map(line => {
    const { quantity } = of.settings.has('gross') ? line.amount_including_tax : line.amount_excluding_tax
    return `${line.type === 'REVENUE' ? line.description : numberOf(line)} ${money(quantity)}`
  })
  const stated = local && [local.base_amount, local.tax_amount, local.total_amount].map(({ quantity }) => quantity)
  const inLocal = stated ? ` | ${stated.join(' ')} ${local.tax_amount.currency}` : ''
  return `${inOrder(shown).join(', ')} -> ${totals.map(money).join(' ')}${inLocal}`
}

/** Prices, then clauses by their number. */
const inOrder = (shown: readonly string[]): string[] => shown.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
const rank = (text: string): number => (/^\d/.test(text) ? Number(text.split(' ')[0]) : 0)
