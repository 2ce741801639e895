// The views of questions as parts of a statement: which events and combinations count for which, and by what they are grouped.
import { SELECTOR_KEY } from '../../../shared/attribution/selector.ts'
import type { UsageProperty } from '../../../shared/usage/condition.ts'
import { conditionSql, distinctTextSql, textSql } from '../condition-sql.ts'
import type { PlannedQuery, View } from './plan-queries.ts'
import { amongSql, PROPERTIES } from './rows-sql.ts'

export const NO_TEXTS = `CAST([], 'Array(String)')`

/** Only events that a query wants, where all queries say which: a customer may have thousands of subscriptions with events of their own. */
export function wantedSql(queries: readonly PlannedQuery[], carried: string): string {
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
export const viewed = (views: string, carried: string): string =>
  carried === '0' ? views : `arrayConcat(if(${carried}, [${PLAIN}], []), ${views})`

/**
 * The views of a row, each as (id, split values, the text whose different values are counted); null where there is but the view of everything,
 * which needs no properties.
 */
export function viewsSql(queries: readonly PlannedQuery[], carried = '0'): string | null {
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
export const isPlain = ({ condition, splitBy, distinct }: View): boolean =>
  condition === undefined && splitBy.length === 0 && distinct === null

/** Whether no figure of values in these queries needs a property. Then all their rows are in the view 0. */
export const readsPlainly = (queries: readonly PlannedQuery[]): boolean =>
  queries.every(({ view }) => view.distinct !== null || isPlain(view))

/** The meters whose figures of values need no properties. */
export function plainMeters(queries: readonly PlannedQuery[]): Set<string> {
  const others = new Set<string>()
  for (const { view } of queries) if (view.distinct === null && !isPlain(view)) others.add(view.meterReference)
  return new Set(queries.map(({ view }) => view.meterReference).filter(meter => !others.has(meter)))
}

function listOf(views: readonly View[]): string {
  const list = `[${views.map(viewSql).join(', ')}]`
  return views.every(view => conditionsOf(view).length === 0) ? list : `arrayFilter(view -> view.1 != 0, ${list})`
}

export const conditionsOf = ({ condition, distinct }: View): string[] => [
  ...(condition === undefined ? [] : [conditionSql(PROPERTIES, condition)]),
  ...(distinct === null ? [] : [carries(distinct)]),
]

function viewSql(view: View): string {
  const { id, splitBy, distinct } = view
  const conditions = conditionsOf(view)
  const place =
    conditions.length === 0 ? `toUInt16(${id})` : `if(${conditions.join(' AND ')}, toUInt16(${id}), toUInt16(0))`
  return `(${place}, ${splitSql(splitBy)}, ${distinct === null ? "toString('')" : textOfSql(distinct)})`
}

/** The values of these properties, as figures are split by them. */
export function splitSql(splitBy: readonly UsageProperty[]): string {
  const split = splitBy.map(
    property => `if(${carries(property)}, concat('=', ${distinctTextSql(PROPERTIES, property)}), '')`,
  )
  return `CAST([${split.join(', ')}], 'Array(String)')`
}

/** The value of a property whose different values are counted. */
export const textOfSql = (property: UsageProperty): string => `toString(${distinctTextSql(PROPERTIES, property)})`
