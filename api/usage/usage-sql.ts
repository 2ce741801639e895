// Builds every query of usage. The tenant is part of the builder and every value is a bound parameter, so no query can be
// made without its tenant, and nothing a tenant chose is ever part of the text of one; conditions, which may list thousands
// of values, are the one exception (condition-sql.ts).
import type { Tenant } from '../../shared/tenant.ts'
import type { Instant, Interval } from '../../shared/time.ts'

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
export const CUSTOMER_KEYS_MAX = 50

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

/** `column` within any of the intervals, or `0` for none; columns of whole hours and of milliseconds alike. */
export function withinAny(column: string, intervals: readonly Interval[]): string {
  if (intervals.length === 0) return '0'
  const parts = intervals.map(
    ({ start, end }) => `(${column} >= ${instantLiteral(start)} AND ${column} < ${instantLiteral(end)})`,
  )
  return `(${parts.join(' OR ')})`
}

// A number of ours, not a tenant's text; dozens of them bound would fill the address of the request.
function instantLiteral(at: Instant): string {
  if (!Number.isSafeInteger(at)) throw new RangeError(`not an instant: ${at}`)
  return `fromUnixTimestamp64Milli(${at}, 'UTC')`
}

/** Whether `log_seq` stands behind the position of its partition; a partition that is not there was at nothing. */
export function behindSql(positions: readonly number[]): string {
  const list = positions.map(position => {
    if (!Number.isSafeInteger(position)) throw new RangeError(`not a position: ${position}`)
    return String(position)
  })
  return `(log_seq > arrayElement(CAST([${list.join(', ')}], 'Array(UInt64)'), log_partition + 1))`
}
