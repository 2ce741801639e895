// Which tables hold what a list asks for, and by which conditions.
import { eventHash } from '../../../shared/contracts/usage-event.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { Instant } from '../../../shared/time.ts'
import { DUPLICATE_EXTRAS, DUPLICATE_REPEAT, EVENT_EXTRAS, EVENT_REPEAT } from '../stored-events.ts'
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

/** `extras`: the columns of a record that not every table has, as expressions. */
export type Source = {
  readonly table: string
  readonly extras: string
  readonly repeat: string
  readonly where: string
}

/** The tables a filter asks, each with its conditions. No deletion names a duplicate, so none of them is deleted. */
export function sourcesOf(filter: UsageFilter, tenant: Tenant, events: EventFilter): Source[] {
  const { customerKeys, meterReference, reference, deleted, duplicate, from, before } = events
  const { platformId, environment } = tenant
  const where = [
    filter.scope,
    ...(customerKeys ? [byCustomer(filter, customerKeys)] : []),
    ...(meterReference === undefined ? [] : [`meter_reference = ${filter.bind(meterReference, 'String')}`]),
    ...(reference === undefined
      ? []
      : [`id_hash = ${filter.bind(eventHash(platformId, environment, reference), 'String')}`]),
    ...(from === undefined ? [] : [`timestamp >= ${instantSql(filter, from)}`]),
    ...(before === undefined ? [] : [`timestamp < ${instantSql(filter, before)}`]),
  ]
  const state = deleted === undefined ? [] : [`deleted = ${deleted ? 1 : 0}`]
  const all = (...more: string[]): string => [...where, ...more].join(' AND ')
  // In order of time, of a platform or of a customer; a reference is found by an index of what events and repeats are.
  if (reference === undefined) {
    const kind = duplicate === undefined ? [] : [duplicate ? 'repeat > 0' : 'repeat = 0']
    return [
      {
        table: customerKeys === undefined ? 'usage_records_by_time' : 'usage_records_by_customer',
        extras: 'deleted, repeat, content',
        repeat: 'repeat',
        where: all(...state, ...kind),
      },
    ]
  }
  const own = { table: 'usage_events', extras: EVENT_EXTRAS, repeat: EVENT_REPEAT, where: all(...state) }
  const repeats = { table: 'usage_duplicates', extras: DUPLICATE_EXTRAS, repeat: DUPLICATE_REPEAT, where: all() }
  if (duplicate === false || (deleted === true && duplicate === undefined)) return [own]
  if (duplicate === true) return [deleted === true ? { ...repeats, where: all('0') } : repeats]
  return [own, repeats]
}
