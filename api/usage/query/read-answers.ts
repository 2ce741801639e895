// From the rows of the statement to answers: each row counts for the bins whose piece of time it lies in. Pure.

import { SELECTOR_KEY } from '../../../shared/attribution/selector.ts'
import { type Decimal, decimal, decimalOfInteger, max, min, ZERO } from '../../../shared/decimal.ts'
import type { UsageCalculation, UsageQuantity } from '../usage-query.ts'
import { type FigureRow, KINDS, TEXTS_MAX } from './figure-row.ts'
import { type Bin, type Piece, type PlannedQuery, placeKey, type QueryPlan } from './plan-queries.ts'
import { GRAINS, isRolled } from './rows-sql.ts'
import { piecesFor } from './usage-statement.ts'

export type Read = {
  readonly plan: QueryPlan
  readonly pieces: readonly Piece[]
  readonly rows: readonly FigureRow[]
  /** The meters whose values were read without looking at properties: all their rows are in the view 0. */
  readonly plain: ReadonlySet<string>
}
/** One answer; null where different values are too many to be put together here. */
export type Figures = readonly UsageQuantity[] | null

const kindOf = ({ view }: PlannedQuery): 0 | 1 => (view.distinct === null ? KINDS.values : KINDS.distinct)

/** Rows of a kind and a source, of a piece: the part from `start` up to `end` of a list. */
type RowsOf = (kind: number, piece: Piece, source: number) => readonly FigureRow[]

/** Kept for as long as the rows are: whether they are settled and what they say is found by the same order. */
const indexes = new WeakMap<readonly FigureRow[], RowsOf>()

/** The rows by what they are of, name, meter and source, in the order of their slots; the slot is the fifth column of a row. */
function indexed(rows: readonly FigureRow[]): RowsOf {
  const known = indexes.get(rows) ?? index(rows)
  indexes.set(rows, known)
  return known
}

/** The rows of a place, of one kind and source each; `slots` are theirs, as numbers. */
type Slotted = { readonly rows: FigureRow[]; readonly slots: number[] }

const SOURCES = Object.keys(GRAINS).length

function index(rows: readonly FigureRow[]): RowsOf {
  const byPlace = new Map<string, Map<number, Slotted>>()
  let [key, meter] = ['', '']
  let own: Map<number, Slotted> | undefined
  for (const row of rows) {
    // Rows of a place mostly follow each other.
    if (own === undefined || row[1] !== key || row[2] !== meter) {
      ;[, key, meter] = row
      const place = placeKey(key, meter)
      own = byPlace.get(place) ?? new Map()
      byPlace.set(place, own)
    }
    const list = own.get(row[0] * SOURCES + row[3])
    if (list) list.rows.push(row)
    else own.set(row[0] * SOURCES + row[3], { rows: [row], slots: [] })
  }
  for (const lists of byPlace.values()) {
    for (const { rows: list, slots } of lists.values()) {
      if (list.length > 1) list.sort((a, b) => Number(a[4]) - Number(b[4]))
      for (const row of list) slots.push(Number(row[4]))
    }
  }
  // By halves: a year by the hour has thousands of pieces, and as many rows.
  return (kind, { place, interval: { start, end } }, source) => {
    const found = byPlace.get(place.key)?.get(kind * SOURCES + source)
    if (!found) return NO_ROWS
    const [first, after] = [firstFrom(found.slots, start), firstFrom(found.slots, end)]
    return after - first === found.rows.length ? found.rows : found.rows.slice(first, after)
  }
}

/** The place of the first slot that is not before `at`. */
function firstFrom(slots: readonly number[], at: number): number {
  let [low, high] = [0, slots.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((slots[middle] ?? at) < at) low = middle + 1
    else high = middle
  }
  return low
}

const NO_ROWS: readonly FigureRow[] = []

const WRAP = 64
/** As text: of one row it is what the row says. */
function sumOf(rows: readonly FigureRow[], column: 15 | 16): string {
  const [first, second] = rows
  if (second === undefined) return first?.[column] ?? '0'
  return BigInt.asUintN(
    WRAP,
    rows.reduce((sum, row) => sum + BigInt(row[column]), 0n),
  ).toString()
}

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
  const byBin = [new Map<Bin, FigureRow[]>(), new Map<Bin, FigureRow[]>()] as const
  for (const kind of [KINDS.values, KINDS.distinct]) {
    const planned = plan.queries.filter(each => kindOf(each) === kind)
    const bins = new Set(planned.map(({ bin }) => bin))
    for (const piece of piecesFor(planned, pieces)) {
      const own = rowsOf(kind, piece, GRAINS[piece.source])
      for (const bin of piece.bins) {
        if (!bins.has(bin)) continue
        const known = byBin[kind].get(bin) ?? []
        for (const row of own) if (isWanted(bin, row[5])) known.push(row)
        byBin[kind].set(bin, known)
      }
    }
  }
  return new Map(
    plan.queries.map(each => {
      const { bin, view, query } = each
      const kind = kindOf(each)
      const id = kind === KINDS.values && plain.has(view.meterReference) ? 0 : view.id
      const reference = query.calculation.type === 'UNIQUE' ? '' : query.calculation.valueReference
      const own = (byBin[kind].get(bin) ?? []).filter(row => row[6] === id && row[8] === reference)
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
    const key = rows.length === 1 ? '' : JSON.stringify([row[9], bin.grouped ? row[5] : '', row[7]])
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
