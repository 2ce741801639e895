// node dist/bench/reads/flood.js [events]: how long lists of events take on the clock, and what they cost all processes, on a platform with
// so many events (a million by default), and then while 5,000 a second come in through the gateway and the aggregator as they ship.
import { setTimeout as sleep } from 'node:timers/promises'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { caller, makeTemplate } from '../billing-run/platform.ts'
import { countTrees } from '../billing-run/tree-cpu.ts'
import { METER_REFERENCE } from '../load/events.ts'
import { BATCH, load } from '../measure/ingest.ts'
import { DATABASE } from '../measure/readable.ts'
import { type Running, startModule } from '../processes.ts'
import { startApi } from '../product.ts'
import { setUp } from '../setup.ts'
import { eventLists } from './event-lists.ts'
import { fillAll } from './fill-records.ts'

const EVENTS = 1_000_000
const EVENTS_PER_SECOND = 5_000
const MEASURE_MS = 20_000
/** Of each list in the quiet, after as many that do not count. */
const READS = 100
/** Between two lists. */
const PAUSE_MS = 100
const MINUTE_MS = 60_000
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
  const call = caller(`http://127.0.0.1:${port}`, setup.apiKey)
  await makeTemplate(call, new Date(now - 70 * DAY_MS).toISOString())
  const isMixed = await fillAll(client, call, { tenant: setup.tenant, events, end: now })
  await client.close()

  const lists: Readonly<Record<string, string>> = {
    ...eventLists({ now, cursor: await oldestOf('events?limit=50&page=1000'), isMixed }),
    'fifty events of the meter of the flood': `events?limit=50&meter_id=${METER_REFERENCE}`,
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
    if (!answer.ok || !data) throw new Error(`${name}: ${answer.status}`)
    return performance.now() - startedAt
  }
  // Read until its code is compiled, and then counted.
  for (const [name, path] of Object.entries(lists)) {
    for (let warm = 0; warm < READS; warm += 1) await read(name, path)
    const count = countTrees({ ...setup.pids, api: api.pid })
    for (let counted = 0; counted < READS; counted += 1) await read(name, path)
    const costs = Object.entries(count(READS)).filter(([, ms]) => ms >= 0.05)
    const total = costs.reduce((sum, [, ms]) => sum + ms, 0)
    console.log(`${name}: ${total.toFixed(1)} ms (${costs.map(([each, ms]) => `${each} ${ms.toFixed(1)}`).join(', ')})`)
  }
  await measure('quiet', () => sleep(MEASURE_MS / 2))
  await measure(`${EVENTS_PER_SECOND} events a second`, async () => {
    const minute = new Date(Date.now() - MINUTE_MS).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length)
    const pace = { measureMs: MEASURE_MS, eventsPerSecond: EVENTS_PER_SECOND, minute }
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
