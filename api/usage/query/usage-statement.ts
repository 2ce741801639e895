// The one statement that answers many questions of usage: figures by name, meter, time, subscription and view, and beside them what
// roll-ups cover and what their marks say, so that a roll-up which lacks anything shows itself in the very statement that read it.
// It groups and adds up, and nothing else: most of what a statement costs is to be analysed, so what can be done afterwards is.
import { SELECTOR_KEY } from '../../../shared/attribution/selector.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { UsageProperty } from '../../../shared/usage/condition.ts'
import { conditionSql, distinctTextSql, textSql } from '../condition-sql.ts'
import { tenantFilter, type UsageFilter } from '../usage-sql.ts'
import type { Piece, PlannedQuery, View } from './plan-queries.ts'
import {
  amongSql,
  COMBINATION,
  type Column,
  EVENTS,
  isRaw,
  isRolled,
  marksSql,
  PROPERTIES,
  type RowsOf,
  rawSql,
  rolledSql,
  SUBSCRIPTION,
  slotsOf,
} from './rows-sql.ts'

export type Statement = { readonly sql: string; readonly params: Record<string, unknown> }
export type StatementOf = {
  readonly tenant: Tenant
  readonly queries: readonly PlannedQuery[]
  readonly pieces: readonly Piece[]
  /** Only events up to these positions of the log; then all pieces are RAW. */
  readonly upTo: readonly number[] | undefined
  /** Whether what roll-ups cover is compared with their marks. */
  readonly checked: boolean
  /** Groups given of one name, meter, slot, view and value at most. */
  readonly limit: number
}

/** What a row is of: figures of values, different values of a property, or marks. */
export const KINDS = { values: 0, distinct: 1, marks: 2 } as const
/** Different values of a group that are given; one more says that there are more. */
export const TEXTS_MAX = 1_000

/** A row of the answer; of what its kind does not have, '' or nothing. Sums that are compared wrap around. */
export type FigureRow = readonly [
  kind: number,
  key: string,
  meter: string,
  source: number,
  slot: string,
  subscription: string,
  view: number,
  /** '' for an absent property, else '=' and the value. */
  split: readonly string[],
  reference: string,
  code: string,
  count: string,
  total: string,
  lowest: string,
  highest: string,
  texts: readonly string[],
  /** Weighed sums: of marks, or, in the view 0, of what roll-ups cover. */
  first: string,
  second: string,
]

const NO_TEXTS = `CAST([], 'Array(String)')`

export function usageStatement(of: StatementOf): Statement {
  const filter = tenantFilter(of.tenant)
  const values = of.queries.filter(({ view }) => view.distinct === null)
  const distinct = of.queries.filter(({ view }) => view.distinct !== null)
  const build = { ...of, filter }
  const parts = [
    ...(values.length === 0 ? [] : valuesSql(build, values)),
    ...(distinct.length === 0 ? [] : distinctSql(build, distinct)),
    ...(of.checked && of.pieces.some(isRolled) ? [checkSql(build)] : []),
  ]
  const sql = parts.length === 1 ? parts[0] : parts.map(part => `SELECT * FROM (${part})`).join('\nUNION ALL\n')
  return { sql: `${sql}\nSETTINGS do_not_merge_across_partitions_select_final = 1`, params: filter.params }
}

type Build = StatementOf & { readonly filter: UsageFilter }

/** The pieces that these questions need. */
export function piecesFor(queries: readonly PlannedQuery[], pieces: readonly Piece[]): Piece[] {
  const bins = new Set(queries.map(({ bin }) => bin))
  return pieces.filter(piece => piece.bins.some(bin => bins.has(bin)))
}

/** The rows of these questions, source by source. */
function sourcesOf(build: Build, queries: readonly PlannedQuery[], of: Pick<RowsOf, 'columns' | 'carrier'>) {
  const pieces = piecesFor(queries, build.pieces)
  const reading = { ...build, ...of, pieces, slots: slotsOf(build.pieces) }
  return [
    ...(pieces.some(isRolled) ? [{ sql: rolledSql(reading), rolled: true }] : []),
    ...(pieces.some(isRaw) ? [{ sql: rawSql(reading), rolled: false }] : []),
  ]
}

const FIGURES = {
  total: {
    joined: 'sum',
    column: { name: 'totals', raw: `arrayMap(q -> CAST(q, 'Decimal(76, 12)'), value_quantities)`, rolled: 'sums' },
  },
  lowest: { joined: 'min', column: { name: 'lowests', raw: 'value_quantities', rolled: 'minima' } },
  highest: { joined: 'max', column: { name: 'highests', raw: 'value_quantities', rolled: 'maxima' } },
} as const
const NAMES = ['total', 'lowest', 'highest'] as const
const FIGURE_OF = { SUM: 'total', AVERAGE: 'total', MIN: 'lowest', MAX: 'highest' } as const

const REFERENCES: Column = { name: 'refs', raw: 'value_references', rolled: 'value_references' }
const CODES: Column = { name: 'codes', raw: 'value_currencies', rolled: 'value_currencies' }
const COUNTS: Column = { name: 'ns', raw: 'arrayMap(q -> toUInt64(1), value_quantities)', rolled: 'counts' }

/** Figures of values: of raw rows and of roll-ups. */
function valuesSql(build: Build, queries: readonly PlannedQuery[]): string[] {
  const references = new Set<string>()
  // A column that no figure needs is not read.
  const wanted = new Set<(typeof NAMES)[number]>()
  for (const { query } of queries) {
    if (query.calculation.type === 'UNIQUE') continue
    references.add(query.calculation.valueReference)
    wanted.add(FIGURE_OF[query.calculation.type])
  }
  const figures = NAMES.filter(name => wanted.has(name))
  const plainly = viewsSql(queries) === null
  const lists = [REFERENCES, CODES, COUNTS, ...figures.map(figure => FIGURES[figure].column)]
  const columns = [SUBSCRIPTION, ...(plainly ? [] : [COMBINATION]), ...lists]
  const zipped = `arrayZip(${lists.map(({ name }) => name).join(', ')})`
  // A roll-up in which no combination has values is taken for one that is not there, and read from single events.
  const carrier = 'arrayFirstIndex(names -> notEmpty(names), value_references)'
  return sourcesOf(build, queries, { columns, carrier }).map(({ sql, rolled }) => {
    const carried = rolled && build.checked ? 'carries' : '0'
    const views = viewsSql(queries, carried)
    // What is of no value that is wanted goes before its combination is copied for each of its values.
    const ofValues = `arrayFilter(value -> ${carried} OR ${amongSql('value.1', references)}, ${zipped})`
    const list = views === null ? zipped : ofValues
    const figureOf = (name: (typeof NAMES)[number]): string => {
      const place = figures.indexOf(name)
      return place < 0 ? `''` : `toString(${FIGURES[name].joined}(value.${place + 4}))`
    }
    const counted = (seed: number): string =>
      carried === '0' ? 'toUInt64(0)' : `sumIf(weighed_${seed}, ${carried} AND place = 1)`
    return `SELECT ${KINDS.values} AS kind, key, meter, source, slot, named, ${views ? 'view.1' : 'toUInt16(0)'} AS view_id,
        ${views ? 'view.2' : NO_TEXTS} AS split, value.1 AS reference, value.2 AS code, sum(value.3) AS n,
        ${NAMES.map(name => `${figureOf(name)} AS ${name}`).join(', ')}, ${NO_TEXTS} AS texts,
        ${counted(0)} AS first, ${counted(1)} AS second
      FROM (SELECT *, ${list} AS list${views ? `, arrayJoin(${viewed(views, carried)}) AS view` : ''} FROM (${sql}) WHERE ${wantedSql(queries, carried)})
      ARRAY JOIN list AS value, arrayEnumerate(list) AS place
      GROUP BY key, meter, source, slot, named, reference, code${views ? ', view.1, view.2' : ''}
      LIMIT ${build.limit} BY key, meter, source, slot, view_id, reference`
  })
}

/** Numbers of different values of a property: the values themselves, where they are not too many. */
function distinctSql(build: Build, queries: readonly PlannedQuery[]): string[] {
  const views = viewsSql(queries) ?? ''
  const columns = [SUBSCRIPTION, COMBINATION, EVENTS]
  return sourcesOf(build, queries, { columns, carrier: '1' }).map(({ sql, rolled }) => {
    const carried = rolled && build.checked ? 'carries' : '0'
    const counted = (seed: number): string => (carried === '0' ? 'toUInt64(0)' : `sumIf(weighed_${seed}, ${carried})`)
    return `SELECT ${KINDS.distinct} AS kind, key, meter, source, slot, named, view.1 AS view_id, view.2 AS split, '' AS reference,
        '' AS code, sum(events) AS n, '' AS total, '' AS lowest, '' AS highest,
        groupUniqArray(${TEXTS_MAX + 1})(view.3) AS texts, ${counted(0)} AS first, ${counted(1)} AS second
      FROM (SELECT *, arrayJoin(${viewed(views, carried)}) AS view FROM (${sql}) WHERE ${wantedSql(queries, carried)})
      GROUP BY key, meter, source, slot, named, view.1, view.2 LIMIT ${build.limit} BY key, meter, source, slot, view_id`
  })
}

const checkSql = (
  build: Build,
): string => `SELECT ${KINDS.marks} AS kind, key, meter, toInt8(0) AS source, slot, '' AS named,
    toUInt16(0) AS view_id, ${NO_TEXTS} AS split, '' AS reference, '' AS code, toUInt64(0) AS n, '' AS total, '' AS lowest, '' AS highest,
    ${NO_TEXTS} AS texts, first, second
  FROM (${marksSql({ ...build, slots: slotsOf(build.pieces) })})`

/** Only events that a query wants, where all queries say which: a customer may have thousands of subscriptions with events of their own. */
function wantedSql(queries: readonly PlannedQuery[], carried: string): string {
  const texts = new Set<string>()
  for (const { bin } of queries) {
    if (bin.askingFor === undefined) return '1'
    for (const text of bin.askingFor.keys) texts.add(text)
  }
  const selects = queries.some(({ bin }) => bin.askingFor?.orSelector === true)
  const selector = selects ? ` OR startsWith(named, '${SELECTOR_KEY}')` : ''
  return `(${amongSql('named', texts)}${selector} OR ${carried})`
}

const carries = ({ reference }: UsageProperty): string => `mapContains(${PROPERTIES}, ${textSql(reference)})`
const PLAIN = `(toUInt16(0), ${NO_TEXTS}, '')`

/** Which views a row is in; the first one, 0, is that of everything, and has what roll-ups cover. */
const viewed = (views: string, carried: string): string =>
  carried === '0' ? views : `arrayConcat(if(${carried}, [${PLAIN}], []), ${views})`

/**
 * The views of a row, each as (id, split values, the text whose different values are counted); null where there is but the view of everything,
 * which needs no properties.
 */
function viewsSql(queries: readonly PlannedQuery[], carried = '0'): string | null {
  const views = [...new Set(queries.map(({ view }) => view))]
  if (views.every(isPlain)) return null
  const byMeter = new Map<string, View[]>()
  for (const view of views) byMeter.set(view.meterReference, [...(byMeter.get(view.meterReference) ?? []), view])
  const [all] = byMeter.values()
  if (byMeter.size === 1 && all) return listOf(all)
  // What carries is in the view of everything already.
  const plain = carried === '0' ? `[${PLAIN}]` : `if(${carried}, [], [${PLAIN}])`
  const cases = [...byMeter].map(
    ([meter, own]) => `meter = ${textSql(meter)}, ${own.every(isPlain) ? plain : listOf(own)}`,
  )
  return `multiIf(${cases.join(', ')}, CAST([], 'Array(Tuple(UInt16, Array(String), String))'))`
}

/** Whether a view is that of everything. */
const isPlain = ({ condition, splitBy, distinct }: View): boolean =>
  condition === undefined && splitBy.length === 0 && distinct === null

/** Whether the figures of values that these query for need no properties. Then all their rows are in the view 0. */
export const readsPlainly = (queries: readonly PlannedQuery[]): boolean =>
  queries.every(({ view }) => view.distinct !== null || isPlain(view))

/** The meters of which that holds, whatever is asked of the others. */
export function plainMeters(queries: readonly PlannedQuery[]): Set<string> {
  const others = new Set<string>()
  for (const { view } of queries) if (view.distinct === null && !isPlain(view)) others.add(view.meterReference)
  return new Set(queries.map(({ view }) => view.meterReference).filter(meter => !others.has(meter)))
}

function listOf(views: readonly View[]): string {
  const list = `[${views.map(viewSql).join(', ')}]`
  return views.every(view => conditionsOf(view).length === 0) ? list : `arrayFilter(view -> view.1 != 0, ${list})`
}

const conditionsOf = ({ condition, distinct }: View): string[] => [
  ...(condition === undefined ? [] : [conditionSql(PROPERTIES, condition)]),
  ...(distinct === null ? [] : [carries(distinct)]),
]

function viewSql(view: View): string {
  const { id, splitBy, distinct } = view
  const conditions = conditionsOf(view)
  const place =
    conditions.length === 0 ? `toUInt16(${id})` : `if(${conditions.join(' AND ')}, toUInt16(${id}), toUInt16(0))`
  const split = splitBy.map(
    property => `if(${carries(property)}, concat('=', ${distinctTextSql(PROPERTIES, property)}), '')`,
  )
  const text = distinct === null ? `''` : distinctTextSql(PROPERTIES, distinct)
  return `(${place}, CAST([${split.join(', ')}], 'Array(String)'), toString(${text}))`
}

/**
 * One question for a number of different values, where they are too many to be given: rows of (subscription, split values, count,
 * number). `pieces` are those of its bin alone.
 */
export function distinctExactlySql(of: StatementOf, { bin }: PlannedQuery): Statement {
  const filter = tenantFilter(of.tenant)
  const views = viewsSql(of.queries) ?? ''
  // Names of one customer may be read in other pieces each.
  const places = new Map<string, Piece[]>()
  for (const piece of of.pieces) places.set(piece.place.key, [...(places.get(piece.place.key) ?? []), piece])
  const sources = [...places.values()].flatMap(pieces =>
    sourcesOf({ ...of, filter, pieces }, of.queries, { columns: [SUBSCRIPTION, COMBINATION, EVENTS], carrier: '1' }),
  )
  const rows = sources.map(
    ({ sql }) => `SELECT named, events, arrayJoin(${views}) AS view FROM (${sql}) WHERE ${wantedSql(of.queries, '0')}`,
  )
  return {
    sql: `SELECT ${bin.grouped ? 'toString(named)' : `''`} AS label, view.2 AS split, sum(events), toString(uniqExact(view.3))
      FROM (${rows.join('\nUNION ALL\n')}) GROUP BY label, split LIMIT ${of.limit}
      SETTINGS do_not_merge_across_partitions_select_final = 1`,
    params: filter.params,
  }
}
