// Which tables hold what a list asks for, and by which conditions.
import { eventHash } from '../../../shared/contracts/usage-event.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { Instant } from '../../../shared/time.ts'
import { DUPLICATE_EXTRAS, EVENT_EXTRAS } from '../stored-events.ts'
import { byCustomer, instantSql, type UsageFilter } from '../usage-sql.ts'

export type EventFilter = {
  readonly customerKeys?: readonly string[] | undefined
  readonly meterReference?: string | undefined
  readonly reference?: string | undefined
  readonly deleted?: boolean | undefined
  /** Only duplicates, or none of them. */
  readonly duplicate?: boolean | undefined
  readonly from?: Instant | undefined
  readonly before?: Instant | undefined
}

/**
 * `extras`: the columns of a record that not every table has, as expressions. `stretches`: of a table in order of time, the conditions of
 * each part of it that is; a record that matches has at least one version there, before versions are put together.
 */
export type Source = {
  readonly table: string
  readonly extras: string
  readonly where: string
  readonly stretches: readonly string[]
}

/** Whether what matches may be rare among its neighbours. An index of the table passes over those that do not match. */
export const isSparse = ({ meterReference, deleted, duplicate }: EventFilter): boolean =>
  meterReference !== undefined || deleted === true || duplicate === true

/** Conditions on what is the same in every version of a record. */
function unchanging(filter: UsageFilter, { platformId, environment }: Tenant, events: EventFilter): string[] {
  const { meterReference, reference, from, before } = events
  return [
    ...(meterReference === undefined ? [] : [`meter_reference = ${filter.bind(meterReference, 'String')}`]),
    ...(reference === undefined
      ? []
      : [`id_hash = ${filter.bind(eventHash(platformId, environment, reference), 'String')}`]),
    ...(from === undefined ? [] : [`timestamp >= ${instantSql(filter, from)}`]),
    ...(before === undefined ? [] : [`timestamp < ${instantSql(filter, before)}`]),
  ]
}

/** The tables a filter asks, each with its conditions. No deletion names a duplicate, so none of them is deleted. */
export function sourcesOf(filter: UsageFilter, tenant: Tenant, events: EventFilter): Source[] {
  const { customerKeys, reference, deleted, duplicate } = events
  const own = unchanging(filter, tenant, events)
  const customers = customerKeys ? [byCustomer(filter, customerKeys)] : []
  const state = deleted === undefined ? [] : [`deleted = ${deleted ? 1 : 0}`]
  const all = (...more: string[]): string => [filter.scope, ...customers, ...own, ...more].join(' AND ')
  // In order of time, of a platform or of a customer; a reference is found by an index of what events and repeats are.
  if (reference === undefined) {
    // By `repeat = 0`, the last column of the key, ClickHouse would look at every entry of the table's index: 200,000 of 100 million rows.
    const kind = duplicate === undefined ? [] : [duplicate ? 'repeat > 0' : 'identity(repeat) = 0']
    // A version that is not deleted says nothing; one that is outranks all others (aggregator/steps/rows.ts).
    const always = [...own, ...(deleted === true ? state : []), ...kind]
    const each = customerKeys && [...new Set(customerKeys)]
    const stretches = each?.map(key => [`customer_key = ${filter.bind(key, 'String')}`]) ?? [[]]
    return [
      {
        table: customerKeys === undefined ? 'usage_records_by_time' : 'usage_records_by_customer',
        extras: 'deleted, repeat, content',
        where: all(...state, ...kind),
        stretches: stretches.map(stretch => [filter.scope, ...stretch, ...always].join(' AND ')),
      },
    ]
  }
  const first = { table: 'usage_events', extras: EVENT_EXTRAS, where: all(...state), stretches: [] }
  const repeats = { table: 'usage_duplicates', extras: DUPLICATE_EXTRAS, where: all(), stretches: [] }
  if (duplicate === false || (deleted === true && duplicate === undefined)) return [first]
  if (duplicate === true) return [deleted === true ? { ...repeats, where: all('0') } : repeats]
  return [first, repeats]
}
