// The tax that a line carries whatever the invoice's is: a refund gives back the tax that was charged (semantics 5.5). Pure.
import { plain } from '../../decimal.ts'
import type { Fraction } from '../fraction.ts'
import { type CategoryTax, type TaxCategory, type TaxDecided, taxOfCategory } from './tax.ts'

/** Lines with the same text are in the same tax summary. A partial exemption divides a summary; it makes no other one. */
export const taxText = ({ name, percentage, notes }: Pick<CategoryTax, 'name' | 'percentage' | 'notes'>): string =>
  JSON.stringify([name, plain(percentage), notes.map(({ text }) => text)])

const isSameShare = (a: Fraction, b: Fraction): boolean =>
  a.numerator.times(b.denominator).eq(b.numerator.times(a.denominator))

type Taxed = { readonly taxCategory: TaxCategory; readonly tax?: CategoryTax | undefined }

/** The tax that a line carries where the invoice has another one for its category; null where it has the same. */
export function otherTax({ taxCategory, tax }: Taxed, decision: TaxDecided): CategoryTax | null {
  if (!tax) return null
  const own = taxOfCategory(decision, taxCategory)
  return taxText(own) === taxText(tax) && isSameShare(own.taxableShare, tax.taxableShare) ? null : tax
}
