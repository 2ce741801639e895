// What earlier credits left of an invoice, line by line and in total. Pure.
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import type { InvoiceContent, LineView, PeriodView } from '../schema.ts'
import { minusShares, type Share } from './credit-amounts.ts'

/** The lines of a document in their order. */
export const linesOfContent = ({ periods }: Pick<InvoiceContent, 'periods'>): LineView[] =>
  periods.flatMap(({ groups }) => groups.flatMap(({ lines }) => lines))

/** The shares of a line in each of its taxes; positive for what a credit returns. */
const sharesOf = ({ tax_categories }: LineView, sign: 1 | -1): Share[] =>
  tax_categories.map(({ base_amount, tax_amount }) => ({
    base: decimal(base_amount.quantity).times(sign === 1 ? '1' : '-1'),
    tax: decimal(tax_amount.quantity).times(sign === 1 ? '1' : '-1'),
  }))

/** What is left of each line of the original after these credits, by its id. */
export function leftOfLines(
  original: InvoiceContent,
  credits: readonly InvoiceContent[],
): Map<string, readonly Share[]> {
  const left = new Map<string, readonly Share[]>(linesOfContent(original).map(line => [line.id, sharesOf(line, 1)]))
  for (const line of credits.flatMap(linesOfContent)) {
    const before = left.get(line.id)
    if (before) left.set(line.id, minusShares(before, sharesOf(line, -1)))
  }
  return left
}

/** The periods of which credit notes gave back every line in full, so that nothing of them is owed. */
export function creditedPeriods(original: InvoiceContent, credits: readonly InvoiceContent[]): PeriodView[] {
  const credited = new Set(credits.flatMap(linesOfContent).map(({ id }) => id))
  const left = leftOfLines(original, credits)
  const isGone = ({ id }: LineView): boolean =>
    (left.get(id) ?? []).every(({ base, tax }) => base.eq(ZERO) && tax.eq(ZERO))
  return original.periods.filter(period => {
    const lines = linesOfContent({ periods: [period] })
    return lines.some(({ id }) => credited.has(id)) && lines.every(isGone)
  })
}
