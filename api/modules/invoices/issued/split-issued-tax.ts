// The split of a partial exemption on an invoice that is FINAL (contract: Tax and invoices): the same tax as issued, shown
// on the taxable part of each amount, with one summary of 0 % for the rest. Pure.
import { computeAmounts } from '../../../../shared/billing/amount-pipeline.ts'
import { type Fraction, fraction, isWhole, timesFraction } from '../../../../shared/billing/fraction.ts'
import { type TaxDecided, taxOfCategory } from '../../../../shared/billing/tax/tax.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { linesOfContent } from '../credits/credit-left.ts'
import { taxCategories } from '../document/build-document.ts'
import { taxShares } from '../document/lay-out.ts'
import { rateOfAmounts } from '../document/tax/local-amounts.ts'
import type { InvoiceContent } from '../schema.ts'
import { withTaxShares } from '../stored-content.ts'

type Issued = { readonly content: InvoiceContent; readonly currency: string }

/**
 * The content with the split of `decision`; the same content when there is nothing to split. Null when the split would
 * change an amount: the tax that was issued is not that of the taxable part.
 */
export function splitIssuedTax({ content, currency }: Issued, decision: TaxDecided): InvoiceContent | null {
  const standard = content.tax_categories.filter(({ category }) => category === 'STANDARD')
  const [issued] = standard
  // Several STANDARD summaries are a split already.
  if (!issued || standard.length > 1 || isWhole(decision.taxableShare)) return content
  const tax = blended(decision, issued.percentage)
  if (tax === null) return null
  const includes = content.pricing_amount_type === 'INCLUDING_TAX'
  const lines = linesOfContent(content)
  const amounts = computeAmounts({
    currency,
    amountType: content.pricing_amount_type,
    rounding: content.rounding_mode,
    tax,
    sign: 'INVOICE',
    lines: lines.map(line => ({
      key: line.id,
      quantity: decimal((includes ? line.amount_including_tax : line.amount_excluding_tax).quantity),
      taxCategory: line.tax_categories[0]?.category ?? 'STANDARD',
    })),
  })
  const { base_amount, tax_amount } = content.tax_summary
  const isSame =
    amounts.totals.base.quantity.eq(decimal(base_amount.quantity)) &&
    amounts.totals.tax.quantity.eq(decimal(tax_amount.quantity)) &&
    amounts.lines.every(({ amountExcludingTax: net, amountIncludingTax: gross }, index) => {
      const line = lines[index]
      return (
        line !== undefined &&
        net.quantity.eq(decimal(line.amount_excluding_tax.quantity)) &&
        gross.quantity.eq(decimal(line.amount_including_tax.quantity))
      )
    })
  if (!isSame) return null
  const figures = { amounts, rounding: content.rounding_mode }
  const byLine = new Map(amounts.lines.map(line => [line.key, line]))
  const sharesOf = (of: readonly { readonly id: string }[]) =>
    taxShares(
      figures,
      of.flatMap(({ id }) => byLine.get(id) ?? []),
    )
  return {
    ...content,
    tax_categories: taxCategories(amounts, rateOfAmounts(content.tax_summary.local_amounts)),
    periods: withTaxShares(
      content.periods,
      content.periods.map(period => ({
        tax_categories: sharesOf(linesOfContent({ periods: [period] })),
        groups: period.groups.map(({ lines }) => ({
          tax_categories: sharesOf(lines),
          lines: lines.map(line => sharesOf([line])),
        })),
      })),
    ),
  }
}

/**
 * The decision whose rate on the taxable part is the issued percentage of the whole. Null when a rule of a country gives
 * another rate: the invoice was then taxed in full, and issued that way.
 */
function blended(decision: TaxDecided, percentage: string): TaxDecided | null {
  const { numerator, denominator } = decision.taxableShare
  if (numerator.eq(ZERO)) return null
  const onPart: Fraction = fraction(denominator, numerator)
  const wanted = timesFraction(decimal(percentage), onPart)
  const ruled = taxOfCategory(decision, 'STANDARD').percentage
  if (wanted.eq(ruled)) return decision
  // A percentage that was given is that of the whole; there is no rule that says otherwise.
  if (decision.treatment !== 'SALES_TAX' || !ruled.eq(decimal(percentage))) return null
  return {
    ...decision,
    rates: decision.rates.map(rate => ({ ...rate, percentage: timesFraction(rate.percentage, onPart) })),
  }
}
