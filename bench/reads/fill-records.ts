// More events than a bench can wait for, in the tables alone that lists read.
import { copyRecords } from '../../aggregator/meter-lists/statements.ts'
import { createUsageSink } from '../../aggregator/sinks/usage-sink.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import { ALL_COPIED } from '../../shared/usage/meter-records.ts'
import { type Call, METERS, meterReference } from '../billing-run/platform.ts'
import { EVENT_CUSTOMERS, eventCustomer, type Filled, fillEvents, MONTH_MS } from './fill-events.ts'

const DAY = 86_400
const ROWS_PER_STATEMENT = 250_000
/** The newest, which are whole events: a page holds their ids. */
const WHOLE = 100_000

/** Beside half of all events, which are of the first meter: one in 38 of each. */
const OTHERS = Array.from({ length: 19 }, (_, place) => meterReference(place + 1))
export const SELDOM = 'seldom'
const SELDOM_EVERY = 50_000
export const RARE = 'rare'
const RARE_EVENTS = 12
export const UNUSED = 'unused'

/** The meter of event `n`, as an SQL expression: one of 22, some of which have few events. */
const mixedMeters = (events: number): string =>
  `multiIf(n % ${Math.ceil(events / RARE_EVENTS)} = 7, '${RARE}', n % ${SELDOM_EVERY} = 11, '${SELDOM}', n % 2 = 0, '${meterReference(0)}',
    concat('${meterReference(0).slice(0, -1)}', toString(1 + intDiv(n, 2) % ${OTHERS.length})))`

/** Makes those of the meters that are not there yet, and one that no event has. */
async function makeMixedMeters(call: Call): Promise<void> {
  const { meter_values, meter_properties } = await call('GET', `meters/${meterReference(0)}`)
  const named = (given: unknown) =>
    (given as readonly { id: string; required: boolean }[]).map(({ id, required }) => ({ id, required }))
  const definition = { meter_values: named(meter_values), meter_properties: named(meter_properties), status: 'ACTIVE' }
  for (const reference of [...OTHERS.slice(METERS - 1), SELDOM, RARE, UNUSED])
    await call('POST', 'meters', { reference, ...definition })
}

/** As fillEvents, of which only the newest are more than an entry of a list. */
async function fillRecords(client: ClickHouseClient, of: Filled): Promise<void> {
  const { tenant, meter, events, end } = of
  const records = events - WHOLE
  for (let first = 0; first < records; first += ROWS_PER_STATEMENT)
    // usage_records_by_customer is filled from it.
    await client.command({
      query: `INSERT INTO usage_records_by_time
          (platform_id, environment, timestamp, id_hash, repeat, customer_key, meter_reference, received_at, content, version, deleted)
        SELECT {platform:String}, {environment:String}, at, lower(hex(sipHash128(n, 'read'))), 0,
          concat('${eventCustomer(0).slice(0, -1)}', toString(cityHash64(n) % ${EVENT_CUSTOMERS})), ${meter}, at,
          concat('["read-', toString(n), '","",["units","hits"],["', toString(n % 1000 / 8), '","1"],["",""],{"kind":"kind-', toString(n % 5),
            '"},', toString(n % 4), ',"', toString(intDiv(n, 50) + 1), '",', toString(n % 50), ',0]'),
          intDiv(n, 50) + 1, 0
        FROM (SELECT number + {first:UInt64} AS n,
          fromUnixTimestamp64Milli(toInt64(${end - MONTH_MS} + intDiv(n * ${MONTH_MS}, ${events})), 'UTC') AS at
        FROM numbers({rows:UInt64}))`,
      query_params: {
        platform: tenant.platformId,
        environment: tenant.environment,
        first,
        rows: Math.min(ROWS_PER_STATEMENT, records - first),
      },
    })
  await fillEvents(client, { ...of, from: records })
  await fillMeterLists(client)
}

/** As an aggregator leaves them that has stored nothing for a while, once it has copied what there is. Events are received when they happen, one day after the other. */
async function fillMeterLists(client: ClickHouseClient): Promise<void> {
  const [first, last] = (
    await selectRows<[number, number]>(
      client,
      'SELECT toUnixTimestamp(min(received_at)), toUnixTimestamp(max(received_at)) FROM usage_records_by_time',
    )
  )[0] ?? [0, 0]
  for (let from = first; from <= last; from += DAY) await copyRecords(client, [{ from, before: from + DAY }])
  const now = Date.now()
  const progress = { owner: 'bench', publishedAt: now, version: now, completeBefore: ALL_COPIED, meters: [] }
  await createUsageSink(client).insertProgress([progress])
}

/** More are filled into the tables alone that lists read. */
const WHOLE_EVENTS_MAX = 5_000_000

/** So many events of one meter, or, where they are more than five million, of 22 meters with some that have few. Whether they are. */
export async function fillAll(
  client: ClickHouseClient,
  call: Call,
  of: Omit<Filled, 'meter' | 'from'>,
): Promise<boolean> {
  if (of.events <= WHOLE_EVENTS_MAX) {
    await fillEvents(client, { ...of, meter: `'${meterReference(0)}'` })
    return false
  }
  await makeMixedMeters(call)
  await fillRecords(client, { ...of, meter: mixedMeters(of.events) })
  return true
}
