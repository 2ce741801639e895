// node dist/bench/billing-run/behind.js [customers [seconds [eventsPerSecond]]]: how far OPEN invoices are behind their usage while events of
// all customers (1,000 by default) come in through gateway and aggregator (5,000 a second, for four minutes). BENCH_WORKERS: of how many
// processes the worker is.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Pool } from 'undici'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { DATABASE } from '../measure/readable.ts'
import { type Running, startModule } from '../processes.ts'
import { startApi, startWorkers } from '../product.ts'
import { setUp } from '../setup.ts'
import {
  caller,
  copyCustomers,
  customerReference,
  KINDS,
  METERS,
  makeTemplate,
  meterReference,
  PROPERTY,
  VALUES,
} from './platform.ts'
import { printStatements, resetStatements } from './statements.ts'
import { countTrees } from './tree-cpu.ts'

const CUSTOMERS = 1_000
const SECONDS = 240
const EVENTS_PER_SECOND = 5_000
const BATCH = 50
/** From when on invoices must follow: the first check of a tenant comes within a minute. */
const SETTLE_MS = 120_000
const POLL_MS = 200
const DAY_MS = 86_400_000

const customers = Number(process.argv[2] ?? CUSTOMERS)
const seconds = Number(process.argv[3] ?? SECONDS)
const eventsPerSecond = Number(process.argv[4] ?? EVENTS_PER_SECOND)
for (const each of [customers, seconds, eventsPerSecond])
  if (!Number.isSafeInteger(each) || each < 1)
    throw new Error('give whole numbers of customers, seconds and events a second')

const setup = await setUp()
const running: Running[] = []
const database = new pg.Client({ connectionString: setup.databaseUrl })
try {
  const clickhouseUrl = await setup.startClickHouse()
  const aggregator = await setup.startAggregator(clickhouseUrl, DATABASE)
  const gateway = await startModule('ingest/main', {
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    NATS_URL: setup.natsUrl,
    DATABASE_URL: loginOf(setup.databaseUrl, 'millrace_gateway'),
    INGEST_RATE_LIVE: '100000000',
  })
  const api = await startApi(setup, clickhouseUrl)
  running.push(aggregator, gateway, api)
  await database.connect()

  const startAt = new Date(Date.now() - 2 * DAY_MS).toISOString()
  const template = await makeTemplate(caller(`http://127.0.0.1:${api.port}`, setup.apiKey), startAt)
  const copied = await copyCustomers(setup, { template, from: 0, to: customers })
  const workers = await startWorkers(setup, clickhouseUrl)
  running.push(...workers.all)
  // Each gets its OPEN invoice.
  await database.query(
    `update pricing_plan_subscriptions set next_billing_at = now() - interval '1 second' where id = any($1)`,
    [copied.map(({ subscriptionId }) => subscriptionId)],
  )
  await database.query(`select graphile_worker.add_job('find-due-billing', job_key => 'find-due-billing')`)
  while (
    (await database.query('select from pricing_plan_subscriptions where next_billing_at <= now() limit 1')).rowCount !==
    0
  )
    await sleep(POLL_MS)
  console.log(`${customers} OPEN invoices stand`)

  const pids = { ...setup.pids, gateway: gateway.pid, aggregator: aggregator.pid, ...workers.pids, api: api.pid }
  const sender = sendEvents(gateway)
  // The sender ends first, also after a failure: its own error would hide that one.
  const { behind, costs, invoices, noticesMiB } = await followed(pids).catch(async (error: unknown) => {
    await sender.end()
    throw error
  })
  const sent = await sender.end()
  const sorted = behind.toSorted((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1)
  console.log(
    `${Math.round(sent.events / sent.seconds)} events a second of all customers: the invoice that is furthest behind is so by ${at(0.5)} s at the ` +
      `median of ${sorted.length} samples, ${at(0.9)} s in nine of ten, ${at(1)} s at most`,
  )
  console.log(`cores in use: ${costs.map(([name, ms]) => `${name} ${(ms / 1_000).toFixed(2)}`).join(', ')}`)
  console.log(
    `${invoices.toFixed(0)} invoices a second, each for ms of ${costs.map(([name, ms]) => `${name} ${(ms / invoices).toFixed(2)}`).join(', ')}; ` +
      `notices and audit records grow by ${(noticesMiB * 60).toFixed(1)} MiB a minute`,
  )
} finally {
  await database.end()
  for (const each of running.reverse()) await each.stop()
  await setup.stop()
}

/** How far behind the invoices were each second, and what that cost. */
async function followed(pids: Readonly<Record<string, number>>) {
  await sleep(SETTLE_MS)
  const isCounted = await resetStatements(database)
  const before = await written()
  const count = countTrees(pids)
  const startedAt = performance.now()
  const behind: number[] = []
  while (performance.now() - startedAt < seconds * 1_000) {
    behind.push(await secondsBehind())
    await sleep(1_000)
  }
  const lasted = (performance.now() - startedAt) / 1_000
  const costs = Object.entries(count(lasted))
  const after = await written()
  if (isCounted) await printStatements(database, after.invoices - before.invoices)
  return {
    behind,
    costs,
    invoices: (after.invoices - before.invoices) / lasted,
    noticesMiB: (after.noticesBytes - before.noticesBytes) / 1_048_576 / lasted,
  }
}

/** Of the OPEN invoice that is furthest behind. */
async function secondsBehind(): Promise<number> {
  const { rows } = await database.query<{ behind: string }>(
    `select extract(epoch from now() - min(coalesce(usage_counted_until, created_at))) as behind from invoices where status = 'OPEN'
       and pricing_plan_subscription_id in (select id from pricing_plan_subscriptions where customer_id in (
         select id from customers where reference like 'customer-%'))`,
  )
  return Number(rows[0]?.behind ?? 0)
}

/** How many invoices were saved so far, and what the notices of changes and their audit records take on disk. */
async function written(): Promise<{ invoices: number; noticesBytes: number }> {
  const { rows } = await database.query<{ invoices: string; bytes: string }>(
    `select n_tup_upd as invoices, pg_total_relation_size('outbox') + pg_total_relation_size('audit_records') as bytes
     from pg_stat_user_tables where relname = 'invoices'`,
  )
  return { invoices: Number(rows[0]?.invoices ?? 0), noticesBytes: Number(rows[0]?.bytes ?? 0) }
}

/** Sends events at a fixed rate, customer by customer, until it is stopped. */
function sendEvents(to: Running): { end(): Promise<{ events: number; seconds: number }> } {
  const pool = new Pool(`http://127.0.0.1:${to.port}`, { connections: 32 })
  const headers = { 'x-api-key': setup.apiKey, 'content-type': 'application/json' }
  const startedAt = performance.now()
  let isOver = false
  let events = 0
  const batch = (): string => {
    const timestamp = new Date().toISOString()
    const list = Array.from({ length: BATCH }, () => {
      const n = events
      events += 1
      return {
        reference: `behind-${process.pid}-${n}`,
        meter_reference: meterReference(n % METERS),
        customer_reference: customerReference(Math.floor(n / METERS) % customers),
        timestamp,
        meter_values: VALUES.map(reference => ({ reference, number: '1.5' })),
        meter_properties: [{ reference: PROPERTY, value: `kind-${n % KINDS}` }],
      }
    })
    return JSON.stringify(list)
  }
  const send = async (): Promise<void> => {
    const answer = await pool.request({ path: '/v1/events/ingest-list', method: 'POST', headers, body: batch() })
    const text = await answer.body.text()
    if (answer.statusCode !== 201) throw new Error(`${answer.statusCode}: ${text.slice(0, 300)}`)
  }
  const working = (async () => {
    const open = new Set<Promise<void>>()
    while (!isOver) {
      const due = ((performance.now() - startedAt) / 1_000) * eventsPerSecond
      while (events < due) {
        const one = send().finally(() => open.delete(one))
        open.add(one)
      }
      await sleep(20)
    }
    await Promise.all(open)
  })()
  return {
    end: async () => {
      isOver = true
      await working
      await pool.close()
      return { events, seconds: (performance.now() - startedAt) / 1_000 }
    },
  }
}
