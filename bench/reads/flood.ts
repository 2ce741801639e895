// node dist/bench/reads/flood.js [events]: how long lists of events take on the clock, on a platform with so many events (a million by
// default), while 5,000 a second come in through the gateway and the aggregator as they ship.
import { setTimeout as sleep } from 'node:timers/promises'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { METER_REFERENCE } from '../load/events.ts'
import { BATCH, load } from '../measure/ingest.ts'
import { DATABASE } from '../measure/readable.ts'
import { type Running, startModule } from '../processes.ts'
import { startApi } from '../product.ts'
import { setUp } from '../setup.ts'
import { eventCustomer, fillEvents } from './fill-events.ts'

const EVENTS = 1_000_000
const EVENTS_PER_SECOND = 5_000
const MEASURE_MS = 20_000
/** Between two lists. */
const PAUSE_MS = 100
const DAY_MS = 24 * 3_600_000

const events = Number(process.argv[2] ?? EVENTS)
if (!Number.isSafeInteger(events) || events < 1) throw new Error('give a whole number of events')

const setup = await setUp()
const running: Running[] = []
try {
  const clickhouseUrl = await setup.startClickHouse()
  running.push(await setup.startAggregator(clickhouseUrl, DATABASE))
  const gateway = await startModule('ingest/main', {
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    NATS_URL: setup.natsUrl,
    DATABASE_URL: loginOf(setup.databaseUrl, 'millrace_gateway'),
    INGEST_RATE_LIVE: '100000000',
  })
  running.push(gateway)
  const api = await startApi(setup, clickhouseUrl, { INGEST_URL: `http://127.0.0.1:${gateway.port}` })
  running.push(api)
  const { port } = api
  const client = createClickHouse(clickhouseUrl, DATABASE)
  const now = Date.now()
  await fillEvents(client, { tenant: setup.tenant, meter: `'${METER_REFERENCE}'`, events, end: now })
  await client.close()

  const month = `[${new Date(now - 30 * DAY_MS).toISOString()},]`
  const lists: Readonly<Record<string, string>> = {
    'fifty events': 'events?limit=50',
    'fifty events, page 200': 'events?limit=50&page=200',
    'fifty events, page 1,000': 'events?limit=50&page=1000',
    'fifty events after a cursor': `events?limit=50&starting_after=${await oldestOf('events?limit=50&page=1000')}`,
    'fifty events of a meter': `events?limit=50&meter_id=${METER_REFERENCE}`,
    'fifty events of a customer and month': `events?limit=50&customer_id=${eventCustomer(7)}&timestamp=${month}`,
    'fifty events by verdict': 'events?limit=50&processed_details_type=NOT_MATCHED',
  }
  async function oldestOf(path: string): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/${path}`, { headers: { 'x-api-key': setup.apiKey } })
    const { data } = (await answer.json()) as { data?: readonly { readonly id: string }[] }
    const id = data?.at(-1)?.id
    if (id === undefined) throw new Error(`${path}: ${answer.status}; give at least 50,000 events`)
    return id
  }
  const read = async (name: string, path: string): Promise<number> => {
    const startedAt = performance.now()
    const answer = await fetch(`http://127.0.0.1:${port}/v1/${path}`, { headers: { 'x-api-key': setup.apiKey } })
    const { data } = (await answer.json()) as { data?: readonly unknown[] }
    if (!answer.ok || data?.length !== 50) throw new Error(`${name}: ${answer.status}, ${data?.length} events`)
    return performance.now() - startedAt
  }
  for (let warm = 0; warm < 5; warm += 1) for (const [name, path] of Object.entries(lists)) await read(name, path)
  await measure('quiet', () => sleep(MEASURE_MS / 4))
  await measure(`${EVENTS_PER_SECOND} events a second`, async () => {
    const pace = { measureMs: MEASURE_MS, eventsPerSecond: EVENTS_PER_SECOND }
    const { events: accepted, seconds } = await load(gateway, setup.apiKey, BATCH, pace)
    console.log(`${Math.round(accepted / seconds)} events a second were accepted`)
  })

  /** Reads the lists one after the other while `work` lasts, and prints how long each took. */
  async function measure(when: string, work: () => Promise<unknown>): Promise<void> {
    const taken = new Map<string, number[]>()
    let isOver = false
    const working = work().finally(() => {
      isOver = true
    })
    while (!isOver) {
      for (const [name, path] of Object.entries(lists)) {
        taken.set(name, [...(taken.get(name) ?? []), await read(name, path)])
        await sleep(PAUSE_MS)
      }
    }
    await working
    for (const [name, times] of taken) {
      const sorted = times.toSorted((a, b) => a - b)
      const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0)
      console.log(`${when}: ${name}: p50 ${at(0.5)} ms, most ${at(1)} ms, of ${times.length}`)
    }
  }
} finally {
  for (const each of running.reverse()) await each.stop()
  await setup.stop()
}
