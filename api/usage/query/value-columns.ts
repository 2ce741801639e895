// The meter values that a usage query needs, and the columns that hold them.
import type { PlannedQuery } from './plan-queries.ts'
import type { Column, RawColumn, RolledColumn } from './rows-sql.ts'

/** `column` is that of roll-ups; `added` are the quantities of single events as they are added up. */
type Figure = {
  readonly name: 'total' | 'lowest' | 'highest'
  readonly joined: 'sum' | 'min' | 'max'
  readonly column: RolledColumn
  readonly added: string
}

const TOTAL: Figure = {
  name: 'total',
  joined: 'sum',
  // Sums are taken in 76 digits: the sum of two quantities of 38 digits may not fit 38.
  added: `CAST(quantities, 'Array(Decimal(76, 12))')`,
  column: { name: 'totals', rolled: 'sums' },
}
const LOWEST: Figure = {
  name: 'lowest',
  joined: 'min',
  added: 'quantities',
  column: { name: 'lowests', rolled: 'minima' },
}
const HIGHEST: Figure = {
  name: 'highest',
  joined: 'max',
  added: 'quantities',
  column: { name: 'highests', rolled: 'maxima' },
}
const FIGURES = [TOTAL, LOWEST, HIGHEST]
const FIGURE_OF = { SUM: TOTAL, AVERAGE: TOTAL, MIN: LOWEST, MAX: HIGHEST } as const

export const REFERENCES: Column = { name: 'refs', raw: 'value_references', rolled: 'value_references' }
export const CODES: Column = { name: 'codes', raw: 'value_currencies', rolled: 'value_currencies' }
export const QUANTITIES: RawColumn = { name: 'quantities', raw: 'value_quantities' }
export const COUNTS: RolledColumn = { name: 'ns', rolled: 'counts' }

export type WantedValues = { readonly references: ReadonlySet<string>; readonly figures: readonly Figure[] }

/** The values and figures of these questions: a column that no figure needs is not read. */
export function wantedValues(queries: readonly PlannedQuery[]): WantedValues {
  const references = new Set<string>()
  const wanted = new Set<Figure>()
  for (const { query } of queries) {
    if (query.calculation.type === 'UNIQUE') continue
    references.add(query.calculation.valueReference)
    wanted.add(FIGURE_OF[query.calculation.type])
  }
  return { references, figures: FIGURES.filter(figure => wanted.has(figure)) }
}

/** The columns of figures in a row of the answer: those wanted from `place` on in a value, and '' for the others. */
export const figuresSql = ({ figures }: WantedValues, place: number): string =>
  FIGURES.map(figure => {
    const at = figures.indexOf(figure)
    return `${at < 0 ? `''` : `toString(${figure.joined}(value.${place + at}))`} AS ${figure.name}`
  }).join(', ')
