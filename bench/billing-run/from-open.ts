// node dist/bench/billing-run/from-open.js [customers]: what it costs to close invoices that stand OPEN already, as at the end of a month in
// which they followed their usage. The other runs here make their FINAL invoices at once. BENCH_WORKERS: of how many processes the worker is.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { instantOf, interval } from '../../shared/time.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { DATABASE } from '../measure/readable.ts'
import type { Running } from '../processes.ts'
import { startApi, startWorkers } from '../product.ts'
import { setUp } from '../setup.ts'
import { countGarbage, measureBeside } from './beside.ts'
import { EVENTS, EVENTS_NOW, oneRun, printRun } from './billing-run.ts'
import { caller, copyCustomers, makeTemplate } from './platform.ts'
import { fillUsage } from './usage.ts'

const CUSTOMERS = 1_000
/** From the start until the period ends; until then the invoices of all customers must stand. */
const SET_UP_MS = 60_000
const EACH_MS = 25
const MINUTE_MS = 60_000
const INTO_MINUTE_MS = 20_000
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const customers = Number(process.argv[2] ?? CUSTOMERS)
if (!Number.isSafeInteger(customers) || customers < 1) throw new Error('give a whole number of customers')

const setup = await setUp()
const running: Running[] = []
const garbage = countGarbage()
const database = new pg.Client({ connectionString: setup.databaseUrl })
try {
  const clickhouseUrl = await setup.startClickHouse()
  const aggregator = await setup.startAggregator(clickhouseUrl, DATABASE)
  const api = await startApi(setup, clickhouseUrl)
  const workers = await startWorkers(setup, clickhouseUrl, garbage.settings)
  running.push(aggregator, api, ...workers.all)
  await database.connect()
  const call = caller(`http://127.0.0.1:${api.port}`, setup.apiKey)
  const none = { type: 'CUSTOM', configuration: { type: 'HOUR', value: 0 } }
  await call('PATCH', `platforms/${setup.tenant.platformId}`, { invoice_settings: { invoice_grace_period: none } })
  const now = Date.now()
  // In a part of a minute in which nothing else is due (beside.ts).
  const endsAt = Math.ceil((now + SET_UP_MS + customers * EACH_MS) / MINUTE_MS) * MINUTE_MS + INTO_MINUTE_MS
  const startAt = Math.floor(now / DAY_MS - 10) * DAY_MS
  const template = await makeTemplate(call, new Date(startAt).toISOString(), {
    schedule: async () => ({ end_at: new Date(endsAt).toISOString() }),
    subscription: { billing_time: 'EXACT' },
  })
  const copied = await copyCustomers(setup, { template, from: 0, to: customers })
  const subscriptions = copied.map(({ subscriptionId }) => subscriptionId)
  const client = createClickHouse(clickhouseUrl, DATABASE)
  const lately = Math.floor((now - 3 * HOUR_MS) / HOUR_MS) * HOUR_MS
  for (const [events, start, end] of [
    [EVENTS, startAt, startAt + 8 * DAY_MS],
    [EVENTS_NOW, startAt + 8 * DAY_MS, lately],
  ] as const)
    await fillUsage(client, {
      tenant: setup.tenant,
      from: 0,
      to: customers,
      events,
      period: interval(instantOf(start), instantOf(end)),
    })
  await client.close()
  await sleep(5_000)
  const pids = { ...setup.pids, ...workers.pids, aggregator: aggregator.pid }
  const each = { customers, subscriptions, pids, worker: workers.worker }
  const first = await measureBeside(garbage, () => oneRun(database, each))
  printRun(first.result, first.beside)
  await sleep(endsAt - Date.now() - INTO_MINUTE_MS)
  const last = await measureBeside(garbage, async () => {
    if (Date.now() >= endsAt) throw new Error('the period ended before its invoices stood')
    await sleep(endsAt - Date.now())
    return oneRun(database, each)
  })
  printRun(last.result, last.beside)
} finally {
  await database.end()
  for (const each of running.reverse()) await each.stop()
  garbage.end()
  await setup.stop()
}
