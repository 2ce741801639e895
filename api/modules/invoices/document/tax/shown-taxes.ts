// What periods, groups and lines show of their tax besides what is stored: the rate of each authority, the notes, and the amounts in
// the currency of the authority. All follows from the tax summaries of the invoice, so that what FINAL invoices store does not grow.
import { type Decimal, decimal, plain, sum, ZERO } from '../../../../../shared/decimal.ts'
import { extended, NO_MEMBERS } from '../../../../../shared/extended.ts'
import { allocate, amount, moneyView, toMoney } from '../../../../../shared/money.ts'
import { inOneGo, type PausingWork } from '../../../../../shared/pausing-work.ts'
import { mapLines } from '../../lines/map-lines.ts'
import type { InvoiceContent, MoneyView, TaxCategoryView, TaxShareView } from '../../schema.ts'
import { type LocalRate, localAmounts, rateOfAmounts } from './local-amounts.ts'
import { summaryOfShare } from './summary-of-share.ts'

type Taxed = { readonly tax_categories: TaxShareView[] }
/** The tax summaries, each with the rate of its local amounts. */
type Summaries = { readonly taxes: readonly TaxCategoryView[]; readonly rates: readonly (LocalRate | null)[] }

const isMoney = ({ quantity, currency }: MoneyView): boolean =>
  toMoney(amount(quantity, currency)).quantity.eq(decimal(quantity))

/** The tax of each authority. They add up to the tax: to the cent where that is in cents. */
function ratesOf({ tax_amount: tax }: TaxShareView, rates: TaxCategoryView['rates']): TaxCategoryView['rates'] {
  const weights = rates.map(({ percentage }) => decimal(percentage))
  const whole = sum(weights)
  if (rates.length < 2 || whole.eq(ZERO)) return rates.map(rate => extended(rate, { tax_amount: tax }))
  const of = (quantity: Decimal): MoneyView => ({ quantity: plain(quantity), currency: tax.currency })
  if (!isMoney(tax))
    return rates.map((rate, place) => ({
      ...rate,
      tax_amount: of(
        decimal(tax.quantity)
          .times(weights[place] ?? ZERO)
          .div(whole),
      ),
    }))
  const parts = allocate(toMoney(amount(tax.quantity, tax.currency)), weights)
  return rates.map((rate, place) => ({ ...rate, tax_amount: parts[place] ? moneyView(parts[place]) : tax }))
}

function shownShare(share: TaxShareView, { taxes, rates: known }: Summaries): TaxShareView {
  const place = summaryOfShare(share, taxes)
  const [found, rate] = [taxes[place], known[place]]
  if (!found) return share
  const { base_amount: base, tax_amount: tax } = share
  const isWhole = base.quantity === found.base_amount.quantity && tax.quantity === found.tax_amount.quantity
  const { local_amounts, notes, rates } = found
  const local = rate && {
    ...{ base: decimal(base.quantity), tax: decimal(tax.quantity), currency: base.currency },
  }
  return {
    ...NO_MEMBERS,
    ...share,
    ...(isWhole ? local_amounts && { local_amounts } : rate && local && { local_amounts: localAmounts(rate, local) }),
    notes,
    rates: isWhole ? rates : ratesOf(share, rates),
  }
}

type Content = Pick<InvoiceContent, 'periods' | 'tax_categories'>

/** The periods with the taxes of each period, group and line as the summaries of the invoice say them. */
export const withTaxes = (content: Content): InvoiceContent['periods'] => inOneGo(showingTaxes(content))

/** The same, with pauses. */
export function* showingTaxes({ periods, tax_categories }: Content): PausingWork<InvoiceContent['periods']> {
  const rates = tax_categories.map(({ local_amounts }) => rateOfAmounts(local_amounts))
  const summaries = { taxes: tax_categories, rates }
  const taxed = <T extends Taxed>(part: T): T => ({
    ...part,
    tax_categories: part.tax_categories.map(share => shownShare(share, summaries)),
  })
  return yield* mapLines(periods, { period: taxed, group: taxed, line: taxed })
}
