// The tax that a copied line carries, in the form in which it is stored with the line. Pure.
import { fraction } from '../../../../shared/billing/fraction.ts'
import { type CategoryTax, noteOf, PARTIALLY_EXEMPT } from '../../../../shared/billing/tax/tax.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'

/** Decimals as strings. */
export type StoredTax = {
  readonly name: string
  readonly percentage: string
  readonly rates: readonly { readonly name: string; readonly percentage: string }[]
  /** The part that is taxed, as numerator and denominator. */
  readonly taxable_share: readonly [string, string]
  readonly notes: readonly string[]
}

export const storedTax = ({ name, percentage, rates, taxableShare, notes }: CategoryTax): StoredTax => ({
  name,
  percentage: plain(percentage),
  rates: rates.map(rate => ({ name: rate.name, percentage: plain(rate.percentage) })),
  taxable_share: [plain(taxableShare.numerator), plain(taxableShare.denominator)],
  notes: notes.map(({ text }) => text),
})

export function carriedTax({ name, percentage, rates, taxable_share, notes }: StoredTax): CategoryTax {
  const [numerator, denominator] = taxable_share
  return {
    name,
    percentage: decimal(percentage),
    rates: rates.map(rate => ({ name: rate.name, percentage: decimal(rate.percentage) })),
    taxableShare: fraction(decimal(numerator), decimal(denominator)),
    notes: notes.map(noteOf),
    restNotes: PARTIALLY_EXEMPT,
  }
}
