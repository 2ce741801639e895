// Builds every query of usage. The tenant is part of the builder and every value is a bound parameter, so no query can be
// made without its tenant, and nothing a tenant chose is ever part of the text of one.
import type { Tenant } from '../../shared/tenant.ts'
import { type Instant, type Interval, instantOf, interval } from '../../shared/time.ts'

export type PropertyComparator = 'EQUALS' | 'NOT_EQUALS' | 'IN' | 'NOT_IN'
/** All conditions of a list must hold. An event without the property is not EQUALS and not IN anything. */
export type PropertyCondition = {
  readonly propertyReference: string
  readonly comparator: PropertyComparator
  readonly values: readonly string[]
}
/** Whose usage of what: the customer's id and reference, as events may carry either. */
export type UsageScope = {
  readonly tenant: Tenant
  readonly customerKeys: readonly string[]
  readonly meterReference: string
}
export type UsageFilter = {
  /** Adds a value under a new name and returns its placeholder. */
  bind(value: unknown, type: string): string
  /** The condition every query starts with. */
  readonly scope: string
  readonly params: Record<string, unknown>
}

/** Parameters travel in the address of the request, which servers bound. */
const CUSTOMER_KEYS_MAX = 50

/** A fresh set of parameters that already holds the tenant. */
export function tenantFilter(tenant: Tenant): UsageFilter {
  const params: Record<string, unknown> = {}
  const bind = (value: unknown, type: string): string => {
    const name = `p${Object.keys(params).length}`
    params[name] = value
    return `{${name}:${type}}`
  }
  const platform = `platform_id = ${bind(tenant.platformId, 'String')}`
  return { bind, scope: `${platform} AND environment = ${bind(tenant.environment, 'String')}`, params }
}

/** A fresh set of parameters that already holds the tenant, the customer and the meter. */
export function usageFilter({ tenant, customerKeys, meterReference }: UsageScope): UsageFilter {
  const filter = tenantFilter(tenant)
  const customer = byCustomer(filter, customerKeys)
  const meter = `meter_reference = ${filter.bind(meterReference, 'String')}`
  return { ...filter, scope: `${filter.scope} AND ${customer} AND ${meter}` }
}

/** The events of a customer, by every name they may carry it by. Throws RangeError on none or too many. */
export function byCustomer(filter: UsageFilter, customerKeys: readonly string[]): string {
  if (customerKeys.length === 0 || customerKeys.length > CUSTOMER_KEYS_MAX) {
    throw new RangeError(`a usage query takes 1 to ${CUSTOMER_KEYS_MAX} customer keys, not ${customerKeys.length}`)
  }
  return `customer_key IN ${filter.bind([...new Set(customerKeys)], 'Array(String)')}`
}

/** An instant as a DateTime64(3). */
export const instantSql = (filter: UsageFilter, at: Instant): string =>
  `fromUnixTimestamp64Milli(${filter.bind(at, 'Int64')}, 'UTC')`

/** `column` within any of the intervals; columns of whole hours and of milliseconds alike. */
export function withinAny(filter: UsageFilter, column: string, intervals: readonly Interval[]): string {
  const instant = (at: Instant): string => instantSql(filter, at)
  const parts = intervals.map(({ start, end }) => `(${column} >= ${instant(start)} AND ${column} < ${instant(end)})`)
  return `(${parts.join(' OR ')})`
}

/** The conditions on a Map column, or `1`. */
export function whereConditions(filter: UsageFilter, column: string, conditions: readonly PropertyCondition[]): string {
  const parts = conditions.map(({ propertyReference, comparator, values }) => {
    if (values.length !== 1 && (comparator === 'EQUALS' || comparator === 'NOT_EQUALS')) {
      throw new RangeError(`${comparator} takes one value, not ${values.length}`)
    }
    const property = filter.bind(propertyReference, 'String')
    const matches = `(mapContains(${column}, ${property}) AND ${column}[${property}] IN ${filter.bind(values, 'Array(String)')})`
    return comparator === 'EQUALS' || comparator === 'IN' ? matches : `NOT ${matches}`
  })
  return parts.length === 0 ? '1' : parts.join(' AND ')
}

const HOUR_MS = 3_600_000
/** Intervals in one query; more are joined across the smallest gaps, which only moves hours from the cache to the raw rows. */
const RAW_INTERVALS_MAX = 24

export type ReadPlan = {
  /** Read from raw rows: edges that are no whole hour, and hours no roll-up covers. */
  readonly raw: readonly Interval[]
  /** Read from roll-ups: whole hours. */
  readonly rolled: readonly Interval[]
}

/** Splits an interval into what roll-ups answer and what raw rows must. `staleHours`: starts of hours, in milliseconds. */
export function planRead(within: Interval, staleHours: readonly number[]): ReadPlan {
  const firstHour = Math.ceil(within.start / HOUR_MS) * HOUR_MS
  const lastHour = Math.floor(within.end / HOUR_MS) * HOUR_MS
  if (firstHour >= lastHour) return { raw: [within], rolled: [] }
  const pieces: [number, number][] = [
    [within.start, firstHour],
    [lastHour, within.end],
    ...staleHours
      .filter(hour => firstHour <= hour && hour < lastHour)
      .map((hour): [number, number] => [hour, hour + HOUR_MS]),
  ]
  const raw = joinIntervals(
    pieces.filter(([start, end]) => start < end),
    RAW_INTERVALS_MAX,
  )
  return { raw: raw.map(toInterval), rolled: gapsBetween(raw, firstHour, lastHour).map(toInterval) }
}

const toInterval = ([start, end]: readonly [number, number]): Interval => interval(instantOf(start), instantOf(end))

/** Sorted intervals that touch nowhere, at most `max`: the smallest gaps are closed first. */
function joinIntervals(pieces: readonly [number, number][], max: number): [number, number][] {
  const sorted = pieces.toSorted((a, b) => a[0] - b[0])
  const gaps = sorted.slice(1).map((piece, index) => piece[0] - (sorted[index]?.[1] ?? piece[0]))
  const kept = gaps
    .filter(gap => gap > 0)
    .toSorted((a, b) => b - a)
    .slice(0, max - 1)
  const smallestKept = kept.at(-1) ?? Number.POSITIVE_INFINITY
  const joined: [number, number][] = []
  let left = kept.length
  for (const [start, end] of sorted) {
    const last = joined.at(-1)
    const split = last !== undefined && start - last[1] >= smallestKept && left > 0
    if (split) left -= 1
    if (last === undefined || split) joined.push([start, end])
    else last[1] = Math.max(last[1], end)
  }
  return joined
}

function gapsBetween(raw: readonly [number, number][], from: number, to: number): [number, number][] {
  const gaps: [number, number][] = []
  let at = from
  for (const [start, end] of raw) {
    if (start > at) gaps.push([at, Math.min(start, to)])
    at = Math.max(at, end)
  }
  if (at < to) gaps.push([at, to])
  return gaps.filter(([start, end]) => start < end)
}
