// Figures of single events, as a part of the statement: of values and of different values of properties in one pass. Events with the same
// value references are added up list by list, before the lists are taken apart: there are a hundred times as many events as such groups.
import { KINDS, TEXTS_MAX } from './figure-row.ts'
import type { PlannedQuery, View } from './plan-queries.ts'
import { amongSql, COMBINATION, type RawRowsOf, rawSql, SUBSCRIPTION } from './rows-sql.ts'
import { CODES, figuresSql, QUANTITIES, REFERENCES, wantedValues } from './value-columns.ts'
import { conditionsOf, isPlain, NO_TEXTS, plainMeters, splitSql, textOfSql, wantedSql } from './views-sql.ts'

/** `pieces` are those of these questions; `limit` is that of the statement. */
export type RawOf = Omit<RawRowsOf, 'columns'> & { readonly queries: readonly PlannedQuery[]; readonly limit: number }

/** Rows of figures (`FigureRow`) of the pieces that are read from single events. */
export function rawFiguresSql(of: RawOf): string {
  const { queries, limit } = of
  const views = [...new Set(queries.map(({ view }) => view))]
  const distinct = views.filter(view => view.distinct !== null)
  const values = queries.filter(({ view }) => view.distinct === null)
  const wanted = wantedValues(values)
  const columns = [
    SUBSCRIPTION,
    ...(views.every(isPlain) ? [] : [COMBINATION]),
    ...(values.length === 0 ? [] : [REFERENCES, CODES, QUANTITIES]),
  ]
  const rows = `SELECT *, ${idsSql(queries, views)} AS view_id FROM (${rawSql({ ...of, columns })}) WHERE ${wantedSql(queries, '0')}`
  const isDistinct = distinct.length === 0 ? '0' : `view_id IN (${distinct.map(({ id }) => id).join(', ')})`
  // Rows of different values have empty lists, so that they are grouped by nothing else than their view.
  const listed = (sql: string): string => (distinct.length === 0 ? sql : `if(${isDistinct}, [], ${sql})`)
  const lists =
    values.length === 0
      ? []
      : [
          `${listed('refs')} AS of_refs`,
          `${listed('codes')} AS of_codes`,
          ...wanted.figures.map(({ joined, added, name }) => `${joined}ForEach(${listed(added)}) AS of_${name}`),
        ]
  const texts =
    distinct.length === 0
      ? NO_TEXTS
      : `groupUniqArrayIf(${TEXTS_MAX + 1})(${ofView(distinct, textOf, `''`)}, ${isDistinct})`
  const groups = `SELECT key, meter, source, slot, named, view_id, ${splitOf(views)} AS split, count() AS n,
      ${[`${texts} AS texts`, ...lists].join(', ')}
    FROM (${rows}) GROUP BY key, meter, source, slot, named, view_id, split${values.length === 0 ? '' : ', of_refs, of_codes'}`
  const head = `SELECT toUInt8(if(${isDistinct}, ${KINDS.distinct}, ${KINDS.values})) AS kind, key, meter, source, slot, named, view_id, split`
  if (values.length === 0)
    return `${head}, '' AS reference, '' AS code, n, '' AS total, '' AS lowest, '' AS highest, texts,
        toUInt64(0) AS first, toUInt64(0) AS second
      FROM (${groups}) LIMIT ${limit} BY key, meter, source, slot, view_id`
  const zipped = `arrayZip(${['refs', 'codes', ...wanted.figures.map(({ name }) => name)].map(name => `of_${name}`).join(', ')})`
  const ofValues = `arrayFilter(value -> ${amongSql('value.1', wanted.references)}, ${zipped})`
  const list = distinct.length === 0 ? ofValues : `if(${isDistinct}, arrayResize(${zipped}, 1), ${ofValues})`
  return `${head}, value.1 AS reference, value.2 AS code, sum(n) AS n, ${figuresSql(wanted, 3)}, any(texts) AS texts,
      toUInt64(0) AS first, toUInt64(0) AS second
    FROM (${groups}) ARRAY JOIN ${list} AS value
    GROUP BY key, meter, source, slot, named, view_id, split, reference, code
    LIMIT ${limit} BY key, meter, source, slot, view_id, reference`
}

const textOf = ({ distinct }: View): string => (distinct === null ? `''` : textOfSql(distinct))

/** What the view of a row says, by its id. */
const ofView = (views: readonly View[], sql: (view: View) => string, other: string): string =>
  views.length === 0
    ? other
    : `multiIf(${views.map(view => `view_id = ${view.id}, ${sql(view)}`).join(', ')}, ${other})`

const splitOf = (views: readonly View[]): string =>
  ofView(
    views.filter(({ splitBy }) => splitBy.length > 0),
    ({ splitBy }) => splitSql(splitBy),
    NO_TEXTS,
  )

/** The ids of the views that a row is in, each a row; values of a meter that need no properties are in the view 0. */
function idsSql(queries: readonly PlannedQuery[], views: readonly View[]): string {
  const plain = plainMeters(queries)
  const byMeter = new Map<string, View[]>()
  for (const view of views) {
    const own = byMeter.get(view.meterReference)
    if (own) own.push(view)
    else byMeter.set(view.meterReference, [view])
  }
  const metersOf = new Map<string, Set<string>>()
  for (const [meter, own] of byMeter) {
    const ids = idsOf(own, plain.has(meter))
    metersOf.set(ids, (metersOf.get(ids) ?? new Set()).add(meter))
  }
  // All rows are of these meters, so the last list needs no test; it is that of most meters.
  const [most, ...others] = [...metersOf].sort(([, a], [, b]) => b.size - a.size)
  const last = most?.[0] ?? ALL
  if (others.length === 0) return last === ALL ? idSql(0) : `arrayJoin(${last})`
  const cases = others.map(([ids, meters]) => `${amongSql('meter', meters)}, ${ids}`)
  return `arrayJoin(multiIf(${cases.join(', ')}, ${last}))`
}

const idSql = (id: number): string => `toUInt16(${id})`
const ALL = `[${idSql(0)}]`

/** A list of ids, of the views of one meter. */
function idsOf(views: readonly View[], plain: boolean): string {
  const always = new Set<string>()
  const tested: { readonly condition: string; readonly id: string }[] = []
  for (const view of views) {
    const id = idSql(plain && view.distinct === null ? 0 : view.id)
    const conditions = conditionsOf(view)
    if (conditions.length === 0) always.add(id)
    else tested.push({ condition: conditions.join(' AND '), id })
  }
  const ids = `[${[...always].join(', ')}]`
  const [only, ...others] = tested
  if (only === undefined) return ids
  const none = always.size === 0 ? `CAST([], 'Array(UInt16)')` : ids
  if (others.length === 0) return `if(${only.condition}, [${[...always, only.id].join(', ')}], ${none})`
  const list = tested.map(({ condition, id }) => `if(${condition}, ${id}, ${idSql(0)})`).join(', ')
  const found = `arrayFilter(id -> id != 0, [${list}])`
  return always.size === 0 ? found : `arrayConcat(${ids}, ${found})`
}
