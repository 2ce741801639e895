// Which tax summary of an invoice the share of a line, a group or a period belongs to. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { TaxCategoryView, TaxShareView } from '../../schema.ts'

type Named = Pick<TaxShareView, 'category' | 'percentage' | 'name' | 'notes'>
type Summary = Pick<TaxCategoryView, 'category' | 'percentage' | 'name' | 'notes'>

const hasSameName = (a: Named, b: Named): boolean =>
  a.category === b.category && a.percentage === b.percentage && a.name === b.name

/** The place of its summary; -1 where it has none. */
export const summaryOfShare = (share: Named, summaries: readonly Summary[]): number =>
  summaries.findIndex(
    each => hasSameName(share, each) && (share.notes === undefined || isDeepStrictEqual(share.notes, each.notes)),
  )

/** The members by which a share names its summary: the notes where another summary differs in them alone, as two reasons for no tax do. */
export const shareNamed = (summary: Summary, summaries: readonly Summary[]): Named => {
  const { percentage, name, category, notes } = summary
  const isOneOfSeveral = summaries.filter(each => hasSameName(summary, each)).length > 1
  return { percentage, name, category, ...(isOneOfSeveral ? { notes: [...notes] } : {}) }
}
