// From accepted to counted: while 10,000 events a second come in, how long after its 201 an event is in its customer's usage,
// as the query module that bills gives it.
import { setTimeout as sleep } from 'node:timers/promises'
import { queryUsage } from '../../api/usage/query-usage.ts'
import { instantOf, interval } from '../../shared/time.ts'
import { type ClickHouseClient, createClickHouse } from '../../shared/usage/clickhouse.ts'
import { METER_REFERENCE, PROPERTY_REFERENCE, VALUE_REFERENCES } from '../load/events.ts'
import type { Running } from '../processes.ts'
import type { Setup } from '../setup.ts'
import { BATCH, load } from './ingest.ts'
import { DATABASE } from './readable.ts'

const EVENTS_PER_SECOND = 10_000
const MEASURE_MS = 30_000
/** Customers that send one event, wait until it is counted, and send the next. */
const WATCHERS = 4
const POLL_MS = 25
const VISIBLE_TIMEOUT_MS = 30_000
const HOUR_MS = 3_600_000

/** The 99th percentile in milliseconds, polling and the query itself included. Throws when the load was not reached. */
export async function visibleMs(setup: Setup, gateway: Running, clickhouseUrl: string): Promise<number> {
  const client = createClickHouse(clickhouseUrl, DATABASE)
  try {
    let isLoaded = true
    const loading = load(gateway, setup.apiKey, BATCH, {
      measureMs: MEASURE_MS,
      eventsPerSecond: EVENTS_PER_SECOND,
    }).finally(() => {
      isLoaded = false
    })
    const watching = Array.from({ length: WATCHERS }, (_, each) =>
      watch({ setup, gateway, client, customer: `watcher-${each}` }, () => isLoaded),
    )
    const [result, ...taken] = await Promise.all([loading, ...watching])
    const rate = result.events / result.seconds
    if (rate < EVENTS_PER_SECOND * 0.95) throw new Error(`only ${Math.round(rate)} events a second were accepted`)
    const sorted = taken.flat().sort((a, b) => a - b)
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
    const [p50, p99] = [at(0.5), at(0.99)]
    console.log(`  accepted to in usage: ${sorted.length} events, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`)
    return p99
  } finally {
    await client.close()
  }
}

type Watched = { setup: Setup; gateway: Running; client: ClickHouseClient; customer: string }

/** Sends events one after another for as long as `goOn`; milliseconds from the 201 of each until it is counted. */
async function watch(watched: Watched, goOn: () => boolean): Promise<number[]> {
  const taken: number[] = []
  while (goOn()) {
    await sendOne(watched, taken.length)
    const acceptedAt = performance.now()
    while ((await countedEvents(watched)) <= taken.length) {
      if (performance.now() - acceptedAt > VISIBLE_TIMEOUT_MS)
        throw new Error('an accepted event was not counted in time')
      await sleep(POLL_MS)
    }
    taken.push(performance.now() - acceptedAt)
  }
  return taken
}

async function sendOne({ setup, gateway, customer }: Watched, number: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/events/ingest`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-KEY': setup.apiKey },
    body: JSON.stringify({
      reference: `${customer}-${number}`,
      customer_reference: customer,
      meter_reference: METER_REFERENCE,
      timestamp: new Date().toISOString(),
      meter_values: VALUE_REFERENCES.map(reference => ({ reference, number: '1' })),
      meter_properties: [{ reference: PROPERTY_REFERENCE, value: 'code-1' }],
    }),
  })
  if (response.status !== 201) throw new Error(`an event was answered ${response.status}`)
}

async function countedEvents({ setup, client, customer }: Watched): Promise<number> {
  const now = Date.now()
  const [usage] = await queryUsage(client, {
    tenant: setup.tenant,
    customerKeys: [customer],
    meterReference: METER_REFERENCE,
    interval: interval(instantOf(now - HOUR_MS), instantOf(now + HOUR_MS)),
    calculation: { type: 'SUM', valueReference: VALUE_REFERENCES[0] },
  })
  return usage?.count ?? 0
}
