// The tax that a charge carried, from the tax summaries of its invoice: its refund carries the same (semantics 5.5). Pure.
import { fraction, WHOLE } from '../../../../../shared/billing/fraction.ts'
import { type CategoryTax, noteOf, PARTIALLY_EXEMPT, type TaxCategory } from '../../../../../shared/billing/tax/tax.ts'
import { type Decimal, decimal, ZERO } from '../../../../../shared/decimal.ts'
import type { TaxCategoryView } from '../../schema.ts'

type ChargedTax = { readonly taxCategory: TaxCategory; readonly net: Decimal; readonly tax: Decimal }

/** The summaries as an invoice stores them: in each category that of its own charges is the first. */
export type StoredSummaries = readonly Pick<TaxCategoryView, 'category' | 'name' | 'percentage' | 'notes' | 'rates'>[]

/** As a member of the charge; no member where the invoice has no summary for it. */
export function taxCarried(charged: ChargedTax, summaries: StoredSummaries): { readonly tax?: CategoryTax } {
  const own = summaries.filter(({ category }) => category === charged.taxCategory)
  const [first] = own
  if (!first) return {}
  const percentage = decimal(first.percentage)
  const isPartial = own.some(({ notes }) => notes.some(text => PARTIALLY_EXEMPT.some(note => note.text === text)))
  return {
    tax: {
      name: first.name,
      percentage,
      rates: first.rates.map(rate => ({ name: rate.name, percentage: decimal(rate.percentage) })),
      taxableShare: isPartial ? taxedPart(charged, percentage) : WHOLE,
      notes: first.notes.map(noteOf),
      restNotes: PARTIALLY_EXEMPT,
    },
  }
}

/** The part of a charge that was taxed, by the tax that it printed. */
function taxedPart({ net, tax }: ChargedTax, percentage: Decimal) {
  const whole = net.abs().times(percentage)
  const taxed = tax.abs().times('100')
  return whole.eq(ZERO) || taxed.gte(whole) ? WHOLE : fraction(taxed, whole)
}
