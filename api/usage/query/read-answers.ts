// From the rows of the statement to answers: each row counts for the bins whose piece of time it lies in. Pure.

import { SELECTOR_KEY } from '../../../shared/attribution/selector.ts'
import { type Decimal, decimal, decimalOfInteger, max, min, ZERO } from '../../../shared/decimal.ts'
import type { UsageCalculation, UsageQuantity } from '../usage-query.ts'
import { type Bin, type Piece, type PlannedQuery, placeKey, type QueryPlan } from './plan-queries.ts'
import { GRAINS, isRolled } from './rows-sql.ts'
import { type FigureRow, KINDS, piecesFor, TEXTS_MAX } from './usage-statement.ts'

export type Read = {
  readonly plan: QueryPlan
  readonly pieces: readonly Piece[]
  readonly rows: readonly FigureRow[]
  /** The meters whose values were read without looking at properties: all their rows are in the view 0. */
  readonly plain: ReadonlySet<string>
}
/** One answer; null where different values are too many to be put together here. */
export type Figures = readonly UsageQuantity[] | null

const kindOf = ({ view }: PlannedQuery): number => (view.distinct === null ? KINDS.values : KINDS.distinct)

type RowsOf = (kind: number, piece: Piece, source: number) => readonly FigureRow[]

/** Kept for as long as the rows are: whether they are settled and what they say is found by the same order. */
const indexes = new WeakMap<readonly FigureRow[], RowsOf>()

/** The rows by what they are of, name, meter and source, in the order of their slots; the slot is the fifth column of a row. */
function indexed(rows: readonly FigureRow[]): RowsOf {
  const known = indexes.get(rows) ?? index(rows)
  indexes.set(rows, known)
  return known
}

function index(rows: readonly FigureRow[]): RowsOf {
  const found = new Map<string, FigureRow[]>()
  for (const row of rows) {
    const key = `${row[0]} ${row[3]} ${placeKey(row[1], row[2])}`
    const own = found.get(key)
    if (own) own.push(row)
    else found.set(key, [row])
  }
  for (const own of found.values()) if (own.length > 1) own.sort((a, b) => Number(a[4]) - Number(b[4]))
  // By halves: a year by the hour has thousands of pieces, and as many rows.
  return (kind, { place, interval: { start, end } }, source) => {
    const own = found.get(`${kind} ${source} ${place.key}`) ?? NO_ROWS
    return own.slice(firstFrom(own, start), firstFrom(own, end))
  }
}

/** The place of the first row whose slot is not before `at`. */
function firstFrom(rows: readonly FigureRow[], at: number): number {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (Number(rows[middle]?.[4]) < at) low = middle + 1
    else high = middle
  }
  return low
}

const NO_ROWS: readonly FigureRow[] = []

const WRAP = 64
const sumOf = (rows: readonly FigureRow[], column: 15 | 16): bigint =>
  BigInt.asUintN(
    WRAP,
    rows.reduce((sum, row) => sum + BigInt(row[column]), 0n),
  )

/** The bins that were read from a roll-up which does not cover its marks, or may not. */
export function unsettledBins({ plan, pieces, rows }: Read): Set<Bin> {
  const rowsOf = indexed(rows)
  const unsettled = new Set<Bin>()
  for (const kind of [KINDS.values, KINDS.distinct]) {
    const needed = piecesFor(
      plan.queries.filter(each => kindOf(each) === kind),
      pieces,
    ).filter(isRolled)
    for (const piece of needed) {
      const covered = rowsOf(kind, piece, GRAINS[piece.source]).filter(row => row[6] === 0)
      const marks = rowsOf(KINDS.marks, piece, GRAINS.RAW)
      if (([15, 16] as const).every(column => sumOf(covered, column) === sumOf(marks, column))) continue
      for (const bin of piece.bins) unsettled.add(bin)
    }
  }
  return unsettled
}

/** The answers to all queries of the plan. */
export function figuresOf({ plan, pieces, rows, plain }: Read): Map<PlannedQuery, Figures> {
  const rowsOf = indexed(rows)
  const byBin = new Map<string, FigureRow[]>()
  for (const kind of [KINDS.values, KINDS.distinct]) {
    const planned = plan.queries.filter(each => kindOf(each) === kind)
    const bins = new Set(planned.map(({ bin }) => bin))
    for (const piece of piecesFor(planned, pieces)) {
      const own = rowsOf(kind, piece, GRAINS[piece.source])
      for (const bin of piece.bins.filter(each => bins.has(each))) {
        const key = `${kind} ${bin.id}`
        const known = byBin.get(key) ?? []
        for (const row of own) if (isWanted(bin, row[5])) known.push(row)
        byBin.set(key, known)
      }
    }
  }
  return new Map(
    plan.queries.map(each => {
      const { bin, view, query } = each
      const kind = kindOf(each)
      const id = kind === KINDS.values && plain.has(view.meterReference) ? 0 : view.id
      const reference = query.calculation.type === 'UNIQUE' ? '' : query.calculation.valueReference
      const own = (byBin.get(`${kind} ${bin.id}`) ?? []).filter(row => row[6] === id && row[8] === reference)
      return [each, quantitiesOf(each, own)]
    }),
  )
}

const isWanted = ({ askingFor }: Bin, subscription: string): boolean =>
  askingFor === undefined ||
  askingFor.keys.includes(subscription) ||
  (askingFor.orSelector && subscription.startsWith(SELECTOR_KEY))

function quantitiesOf({ bin, query }: PlannedQuery, rows: readonly FigureRow[]): Figures {
  const groups = new Map<string, [FigureRow, ...FigureRow[]]>()
  for (const row of rows) {
    const key = JSON.stringify([row[9], bin.grouped ? row[5] : '', row[7]])
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  const { type } = query.calculation
  if (type === 'UNIQUE' && rows.some(row => row[14].length > TEXTS_MAX)) return null
  return [...groups.values()]
    .map((group): UsageQuantity => {
      const [first] = group
      const count = group.reduce((sum, row) => sum + Number(row[10]), 0)
      return {
        currency: first[9] === '' ? null : first[9],
        number: numberOf(type, group, count),
        count,
        split: first[7].map(splitValue),
        subscription: bin.grouped ? first[5] : null,
        ...(type === 'UNIQUE' ? { values: [...new Set(group.flatMap(row => row[14]))].sort() } : {}),
      }
    })
    .sort(inOrder)
}

/** '' for an absent property, else '=' and the value. */
export const splitValue = (text: string): string | null => (text === '' ? null : text.slice(1))

function numberOf(type: UsageCalculation['type'], rows: readonly [FigureRow, ...FigureRow[]], count: number): Decimal {
  const each = (column: 11 | 12 | 13): Decimal[] => rows.map(row => decimal(row[column]))
  switch (type) {
    case 'MIN':
      return each(12).reduce(min)
    case 'MAX':
      return each(13).reduce(max)
    case 'UNIQUE':
      return decimalOfInteger(new Set(rows.flatMap(row => row[14])).size)
    case 'AVERAGE':
      return count === 0
        ? ZERO
        : each(11)
            .reduce((a, b) => a.plus(b))
            .div(decimalOfInteger(count))
    case 'SUM':
      return each(11).reduce((a, b) => a.plus(b))
  }
}

/** Plain numbers first, then by currency, subscription and split values; texts compare as their code units do. */
export function inOrder(a: UsageQuantity, b: UsageQuantity): number {
  const texts = ({ currency, subscription, split }: UsageQuantity): string[] => [
    currency ?? '',
    subscription ?? '',
    ...split.map(value => (value === null ? '' : `=${value}`)),
  ]
  const [left, right] = [texts(a), texts(b)]
  const place = left.findIndex((text, index) => text !== right[index])
  return place < 0 ? 0 : (left[place] ?? '') < (right[place] ?? '') ? -1 : 1
}
