// The business rules of EN 16931 that depend on figures, checked on every e-invoice before it is written. A file that
// breaks one would be rejected by its receiver.
import { type Decimal, HUNDRED, ONE, placesOf, sum, ZERO } from '../../../../../shared/decimal.ts'
import { type EInvoice, sameVat, type Vat, type VatRow } from './e-invoice-model.ts'

/** `message` starts with the name of the rule in EN 16931. */
export type BrokenRule = { readonly field: string; readonly message: string }

type Rule = {
  readonly name: string
  readonly field: string
  readonly says: string
  readonly holds: (of: EInvoice) => boolean
}

const amountsOf = ({ totals, lines, adjustments, vat }: EInvoice): Decimal[] => [
  ...Object.values(totals),
  ...lines.map(({ net }) => net),
  ...adjustments.map(({ amount }) => amount),
  ...vat.flatMap(({ base, tax }) => [base, tax]),
]

/** What lines, allowances and charges with this VAT add up to. */
const taxedBy = ({ lines, adjustments }: EInvoice, vat: Vat): Decimal =>
  sum([
    ...lines.filter(line => sameVat(line.vat, vat)).map(({ net }) => net),
    ...adjustments
      .filter(each => sameVat(each.vat, vat))
      .map(({ kind, amount }) => (kind === 'ALLOWANCE' ? amount.neg() : amount)),
  ])

/** Tax on prices that include it is the rest of the gross, which differs from the rounded percentage by less than a unit. */
const isTaxOf = ({ vat, base, tax }: VatRow): boolean =>
  vat.rate === null || vat.rate.eq(ZERO) ? tax.eq(ZERO) : base.times(vat.rate).div(HUNDRED).minus(tax).abs().lt(ONE)

const used = ({ lines, adjustments }: EInvoice): Vat[] => [...lines, ...adjustments].map(({ vat }) => vat)

const RULES: readonly Rule[] = [
  {
    name: 'BR-DEC',
    field: 'billing_currency',
    says: 'an amount has at most two decimals',
    holds: of => amountsOf(of).every(amount => placesOf(amount) <= 2),
  },
  {
    name: 'BR-16',
    field: 'periods',
    says: 'an invoice has at least one line',
    holds: ({ lines }) => lines.length > 0,
  },
  {
    name: 'BR-27',
    field: 'periods',
    says: 'a unit price is not negative',
    holds: ({ lines }) => lines.every(({ price }) => price.gte(ZERO)),
  },
  {
    name: 'BR-30',
    field: 'periods',
    says: 'a period does not end before it starts',
    holds: ({ lines, period }) =>
      [period, ...lines.map(line => line.period)].every(days => !days || days.first <= days.last),
  },
  {
    name: 'BR-CO-10',
    field: 'invoice_amount_excluding_tax',
    says: 'the lines sum to their total',
    holds: ({ lines, totals }) => sum(lines.map(({ net }) => net)).eq(totals.lines),
  },
  {
    name: 'BR-CO-13',
    field: 'invoice_amount_excluding_tax',
    says: 'the total without VAT is the lines less the allowances plus the charges',
    holds: ({ totals }) => totals.lines.minus(totals.allowances).plus(totals.charges).eq(totals.net),
  },
  {
    name: 'BR-CO-14',
    field: 'tax_summary',
    says: 'the VAT of the breakdown sums to the total VAT',
    holds: ({ vat, totals }) => sum(vat.map(({ tax }) => tax)).eq(totals.tax),
  },
  {
    name: 'BR-CO-15',
    field: 'invoice_amount_including_tax',
    says: 'the total with VAT is the total without VAT plus the VAT',
    holds: ({ totals }) => totals.net.plus(totals.tax).eq(totals.gross),
  },
  {
    name: 'BR-CO-16',
    field: 'paid_invoice_amount',
    says: 'the amount due is the total with VAT less what is paid',
    holds: ({ totals: { gross, prepaid, payable } }) => gross.minus(prepaid).eq(payable),
  },
  {
    name: 'BR-CO-17',
    field: 'tax_categories',
    says: 'the VAT of a category is its rate of the taxable amount',
    holds: ({ vat }) => vat.every(isTaxOf),
  },
  {
    name: 'BR-S-8',
    field: 'tax_categories',
    says: 'the taxable amount of a category is what its lines, allowances and charges sum to',
    holds: of => of.vat.every(row => taxedBy(of, row.vat).eq(row.base)),
  },
  {
    name: 'BR-CO-18',
    field: 'tax_categories',
    says: 'every VAT category and rate that is used has one row in the breakdown',
    holds: of => of.vat.length > 0 && used(of).every(vat => of.vat.filter(row => sameVat(row.vat, vat)).length === 1),
  },
  {
    name: 'BR-CO-25',
    field: 'due_date',
    says: 'an amount due has a due date or terms of payment',
    holds: ({ totals, dueDate, paymentTerms }) => totals.payable.lte(ZERO) || dueDate !== null || paymentTerms !== null,
  },
  {
    name: 'BR-O-11',
    field: 'tax_categories',
    says: 'what is not subject to VAT stands alone',
    holds: ({ vat }) => vat.length === 1 || vat.every(row => row.vat.category !== 'O'),
  },
  {
    name: 'BR-S-5',
    field: 'tax_categories',
    says: 'VAT is charged in category S only',
    holds: of =>
      [...of.vat.map(row => row.vat), ...used(of)].every(({ category, rate }) =>
        category === 'S' ? rate?.gt(ZERO) === true : category === 'O' ? rate === null : rate?.eq(ZERO) === true,
      ),
  },
]

/** The rules that `of` breaks, in the order of the standard. */
export const brokenRules = (of: EInvoice): BrokenRule[] =>
  RULES.filter(({ holds }) => !holds(of)).map(({ name, field, says }) => ({ field, message: `${name}: ${says}.` }))
