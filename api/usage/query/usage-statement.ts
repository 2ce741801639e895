// The one statement that answers many questions of usage: figures by name, meter, time, subscription and view, and beside them what
// roll-ups cover and what their marks say, so that a roll-up which lacks anything shows itself in the very statement that read it.
// It groups and adds up, and nothing else: most of what a statement costs is to be analysed, so what can be done afterwards is.
import type { Tenant } from '../../../shared/tenant.ts'
import { tenantFilter, type UsageFilter } from '../usage-sql.ts'
import { KINDS, TEXTS_MAX } from './figure-row.ts'
import type { Piece, PlannedQuery } from './plan-queries.ts'
import { rawFiguresSql } from './raw-figures.ts'
import {
  amongSql,
  COMBINATION,
  EVENTS,
  isRaw,
  isRolled,
  marksSql,
  type RolledRowsOf,
  rawSql,
  rolledSql,
  SUBSCRIPTION,
  slotsOf,
} from './rows-sql.ts'
import { CODES, COUNTS, figuresSql, REFERENCES, wantedValues } from './value-columns.ts'
import { NO_TEXTS, viewed, viewsSql, wantedSql } from './views-sql.ts'

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

export function usageStatement(of: StatementOf): Statement {
  const filter = tenantFilter(of.tenant)
  const values = of.queries.filter(({ view }) => view.distinct === null)
  const distinct = of.queries.filter(({ view }) => view.distinct !== null)
  const build = { ...of, filter }
  const parts = [
    ...(values.length === 0 ? [] : valuesSql(build, values)),
    ...(distinct.length === 0 ? [] : distinctSql(build, distinct)),
    ...(of.pieces.some(isRaw) ? [rawFiguresSql({ ...build, slots: slotsOf(of.pieces) })] : []),
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

/** The roll-ups of these questions, with how they are read; nothing where there are none. */
function rolledOf(build: Build, queries: readonly PlannedQuery[], of: Pick<RolledRowsOf, 'columns' | 'carrier'>) {
  const pieces = piecesFor(queries, build.pieces).filter(isRolled)
  if (pieces.length === 0) return null
  const carried = build.checked ? 'carries' : '0'
  return { sql: rolledSql({ ...build, ...of, pieces, slots: slotsOf(build.pieces) }), carried }
}

/** Figures of values, of roll-ups. */
function valuesSql(build: Build, queries: readonly PlannedQuery[]): string[] {
  const wanted = wantedValues(queries)
  const lists = [REFERENCES, CODES, COUNTS, ...wanted.figures.map(({ column }) => column)]
  const columns = [SUBSCRIPTION, ...(viewsSql(queries) === null ? [] : [COMBINATION]), ...lists]
  // A roll-up in which no combination has values is taken for one that is not there, and read from single events.
  const carrier = 'arrayFirstIndex(names -> notEmpty(names), value_references)'
  const rolled = rolledOf(build, queries, { columns, carrier })
  if (rolled === null) return []
  const { sql, carried } = rolled
  const zipped = `arrayZip(${lists.map(({ name }) => name).join(', ')})`
  const views = viewsSql(queries, carried)
  // What is of no value that is wanted goes before its combination is copied for each of its values.
  const ofValues = `arrayFilter(value -> ${carried} OR ${amongSql('value.1', wanted.references)}, ${zipped})`
  const list = views === null ? zipped : ofValues
  const counted = (seed: number): string =>
    carried === '0' ? 'toUInt64(0)' : `sumIf(weighed_${seed}, ${carried} AND place = 1)`
  return [
    `SELECT ${KINDS.values} AS kind, key, meter, source, slot, named, ${views ? 'view.1' : 'toUInt16(0)'} AS view_id,
        ${views ? 'view.2' : NO_TEXTS} AS split, value.1 AS reference, value.2 AS code, sum(value.3) AS n,
        ${figuresSql(wanted, 4)}, ${NO_TEXTS} AS texts, ${counted(0)} AS first, ${counted(1)} AS second
      FROM (SELECT *, ${list} AS list${views ? `, arrayJoin(${viewed(views, carried)}) AS view` : ''} FROM (${sql}) WHERE ${wantedSql(queries, carried)})
      ARRAY JOIN list AS value, arrayEnumerate(list) AS place
      GROUP BY key, meter, source, slot, named, reference, code${views ? ', view.1, view.2' : ''}
      LIMIT ${build.limit} BY key, meter, source, slot, view_id, reference`,
  ]
}

/** Numbers of different values of a property, of roll-ups: the values themselves, where they are not too many. */
function distinctSql(build: Build, queries: readonly PlannedQuery[]): string[] {
  const views = viewsSql(queries) ?? ''
  const rolled = rolledOf(build, queries, { columns: [SUBSCRIPTION, COMBINATION, EVENTS], carrier: '1' })
  if (rolled === null) return []
  const { sql, carried } = rolled
  const counted = (seed: number): string => (carried === '0' ? 'toUInt64(0)' : `sumIf(weighed_${seed}, ${carried})`)
  return [
    `SELECT ${KINDS.distinct} AS kind, key, meter, source, slot, named, view.1 AS view_id, view.2 AS split, '' AS reference,
        '' AS code, sum(events) AS n, '' AS total, '' AS lowest, '' AS highest,
        groupUniqArray(${TEXTS_MAX + 1})(view.3) AS texts, ${counted(0)} AS first, ${counted(1)} AS second
      FROM (SELECT *, arrayJoin(${viewed(views, carried)}) AS view FROM (${sql}) WHERE ${wantedSql(queries, carried)})
      GROUP BY key, meter, source, slot, named, view.1, view.2 LIMIT ${build.limit} BY key, meter, source, slot, view_id`,
  ]
}

const checkSql = (
  build: Build,
): string => `SELECT ${KINDS.marks} AS kind, key, meter, toInt8(0) AS source, slot, '' AS named,
    toUInt16(0) AS view_id, ${NO_TEXTS} AS split, '' AS reference, '' AS code, toUInt64(0) AS n, '' AS total, '' AS lowest, '' AS highest,
    ${NO_TEXTS} AS texts, first, second
  FROM (${marksSql({ ...build, slots: slotsOf(build.pieces) })})`

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
  const reading = { ...of, filter, columns: [SUBSCRIPTION, COMBINATION, EVENTS], carrier: '1' }
  const sources = [...places.values()].flatMap(pieces => [
    ...(pieces.some(isRolled) ? [rolledSql({ ...reading, pieces, slots: slotsOf(pieces) })] : []),
    ...(pieces.some(isRaw) ? [rawSql({ ...reading, pieces, slots: slotsOf(pieces) })] : []),
  ])
  const rows = sources.map(
    sql => `SELECT named, events, arrayJoin(${views}) AS view FROM (${sql}) WHERE ${wantedSql(of.queries, '0')}`,
  )
  return {
    sql: `SELECT ${bin.grouped ? 'toString(named)' : `''`} AS label, view.2 AS split, sum(events), toString(uniqExact(view.3))
      FROM (${rows.join('\nUNION ALL\n')}) GROUP BY label, split LIMIT ${of.limit}
      SETTINGS do_not_merge_across_partitions_select_final = 1`,
    params: filter.params,
  }
}
