// Which tables hold what a list asks for, and by which conditions.
import { eventHash } from '../../../shared/contracts/usage-event.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { Instant } from '../../../shared/time.ts'
import { METER_RECORD_ID } from '../../../shared/usage/meter-records.ts'
import { DUPLICATE_EXTRAS, EVENT_EXTRAS } from '../stored-events.ts'
import { byCustomer, instantSql, type UsageFilter } from '../usage-sql.ts'
import type { WholeBefore } from './whole-before.ts'

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
 * Part of a table that is in order of time. `id` tells the records of one time and one `repeat` apart; `orders`: its rows
 * have the event's id, which a cursor compares.
 */
export type Stretch = {
  readonly table: string
  readonly where: string
  readonly id: string
  readonly orders: boolean
}

/**
 * `extras`: the columns of a record that not every table has, as expressions. `stretches`: where what matches is found in order of time.
 * A record that matches stands in at least one of them, before its versions are put together; it may stand there several times.
 */
export type Source = {
  readonly table: string
  readonly extras: string
  readonly where: string
  readonly stretches: readonly Stretch[]
  /** Of a meter, where all of it may be read and counted by one statement. */
  readonly counted?: Counted
}
/** What records are read from, each once, and what has the order of their ids. */
export type Counted = { readonly from: string; readonly id: string }

/** Whether a list is read from the table of meters as well: those of a customer, and of a reference, have tables of their own. */
export const isOfMeter = (events: EventFilter): events is EventFilter & { readonly meterReference: string } =>
  events.meterReference !== undefined && events.customerKeys === undefined && events.reference === undefined

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

type Conditions = (...more: string[]) => string

/** Which records of a meter are read from which table, as conditions; null of a table that is not read. */
type Parts = { readonly byTime: readonly string[] | null; readonly byMeter: readonly string[] | null }
function partsOf(filter: UsageFilter, whole: WholeBefore): Parts {
  if (whole === 'NONE') return { byTime: [], byMeter: null }
  if (whole === 'ALL') return { byTime: null, byMeter: [] }
  const at = instantSql(filter, whole)
  return { byTime: [`received_at >= ${at}`], byMeter: [`received_at < ${at}`] }
}

/** The records of a meter by its own table, and what that may not have yet. */
const stretchesOf = (may: Conditions, { byTime, byMeter }: Parts): Stretch[] => [
  ...(byTime ? [{ table: 'usage_records_by_time', where: may(...byTime), id: METER_RECORD_ID, orders: true }] : []),
  ...(byMeter ? [{ table: 'usage_records_by_meter', where: may(...byMeter), id: 'id', orders: false }] : []),
]

/** The same records, each once. */
function countedOf(all: Conditions, { byTime, byMeter }: Parts): Counted {
  const recent = byTime && `usage_records_by_time FINAL WHERE ${all(...byTime)}`
  const copied = byMeter && `usage_records_by_meter FINAL WHERE ${all(...byMeter)}`
  if (!copied) return { from: `${recent}`, id: 'id_hash' }
  if (!recent) return { from: copied, id: 'id' }
  const columns = 'id_hash, customer_key, meter_reference, timestamp, received_at, deleted, repeat, content'
  const each = [`SELECT ${METER_RECORD_ID} AS id, ${columns} FROM ${recent}`, `SELECT id, ${columns} FROM ${copied}`]
  return { from: `(${each.join(' UNION ALL ')})`, id: 'id' }
}

/**
 * The tables a filter asks, each with its conditions. No deletion names a duplicate, so none of them is deleted. `whole` says how much of a
 * meter's list stands in its own table; it matters to `stretches` and `counted` alone.
 */
export function sourcesOf(
  filter: UsageFilter,
  tenant: Tenant,
  events: EventFilter,
  whole: WholeBefore = 'NONE',
): Source[] {
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
    const may: Conditions = (...more) => [filter.scope, ...more, ...always].join(' AND ')
    const extras = 'deleted, repeat, content'
    const where = all(...state, ...kind)
    if (customerKeys !== undefined) {
      const table = 'usage_records_by_customer'
      const stretches = [...new Set(customerKeys)].map(key => ({
        table,
        where: may(`customer_key = ${filter.bind(key, 'String')}`),
        id: 'id_hash',
        orders: true,
      }))
      return [{ table, extras, where, stretches }]
    }
    const table = 'usage_records_by_time'
    if (!isOfMeter(events))
      return [{ table, extras, where, stretches: [{ table, where: may(), id: 'id_hash', orders: true }] }]
    const parts = partsOf(filter, whole)
    const counted = countedOf((...more) => all(...state, ...kind, ...more), parts)
    return [{ table, extras, where, stretches: stretchesOf(may, parts), counted }]
  }
  const first = { table: 'usage_events', extras: EVENT_EXTRAS, where: all(...state), stretches: [] }
  const repeats = { table: 'usage_duplicates', extras: DUPLICATE_EXTRAS, where: all(), stretches: [] }
  if (duplicate === false || (deleted === true && duplicate === undefined)) return [first]
  if (duplicate === true) return [deleted === true ? { ...repeats, where: all('0') } : repeats]
  return [first, repeats]
}
