// What a billing run costs: subscriptions of ten metered lines that all become due at once, through the worker as it ships, until
// their invoices stand and every notice of them is relayed. Then previews of some of them through the api.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { instantOf, interval } from '../../shared/time.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import type { Costs } from '../cpu.ts'
import { DATABASE } from '../measure/readable.ts'
import type { Running } from '../processes.ts'
import { startApi, startWorkers } from '../product.ts'
import { peakMemoryMiB } from '../report.ts'
import { type Setup, setUp } from '../setup.ts'
import { type Beside, countGarbage, measureBeside } from './beside.ts'
import { caller, copyCustomers, LINES, makeTemplate } from './platform.ts'
import { makeAllReceipts, type ReceiptCosts } from './receipts.ts'
import { printStatements, resetStatements } from './statements.ts'
import { countServers, countTrees } from './tree-cpu.ts'
import { fillUsage } from './usage.ts'

/** Of a customer and meter in the month that is billed, and in the month that runs. */
export const EVENTS = 60
export const EVENTS_NOW = 10
const PREVIEWS = 40
/** For each subscription, however much else the machine does. */
const TIMEOUT_MS = 1_000
const LEAST_TIMEOUT_MS = 600_000
const POLL_MS = 200
const WARM_UP = 100
/** Subscriptions of a customer, which combine. */
const EACH = Number(process.env['BENCH_COMBINE'] ?? 1)
/** Whether subscriptions end with the month: `1` by their schedules, `term` since they are not renewed. */
const ENDS = process.env['BENCH_ENDS']
/** Whether invoices are DRAFT for a grace period first; their way from there to FINAL is a run of its own. */
const GRACE = process.env['BENCH_GRACE'] === '1'
const ONE_MONTH = { initial_term: { type: 'MONTH', value: 1 }, auto_renewal: false }

export type RunCosts = {
  readonly customers: number
  readonly invoices: number
  /** How many of them have each status. */
  readonly statuses: string
  /** Of one that is FINAL, on average: only of those is every line a row. 0 without any. */
  readonly lines: number
  readonly seconds: number
  /** Milliseconds of processor time an invoice, by process. */
  readonly costs: Costs
  readonly workerMiB: number | null
}
export type PreviewCosts = { readonly p50Ms: number; readonly costs: Costs }

/** Measures runs of so many customers, one after the other, and previews. Prints as it goes. */
export async function billingRuns(
  sizes: readonly number[],
): Promise<{ runs: RunCosts[]; preview: PreviewCosts | null }> {
  const setup = await setUp()
  const running: Running[] = []
  const garbage = countGarbage()
  try {
    const clickhouseUrl = await setup.startClickHouse()
    const aggregator = await setup.startAggregator(clickhouseUrl, DATABASE)
    running.push(aggregator)
    const api = await startApi(setup, clickhouseUrl)
    running.push(api)
    const workers = await startWorkers(setup, clickhouseUrl, garbage.settings)
    running.push(...workers.all)
    return await measure(setup, { clickhouseUrl, api, workers, aggregator, garbage, sizes })
  } finally {
    for (const each of running.reverse()) await each.stop()
    garbage.end()
    await setup.stop()
  }
}

type Started = {
  readonly clickhouseUrl: string
  readonly api: Running
  readonly workers: Awaited<ReturnType<typeof startWorkers>>
  readonly aggregator: Running
  readonly garbage: ReturnType<typeof countGarbage>
  readonly sizes: readonly number[]
}

async function measure(setup: Setup, { clickhouseUrl, api, workers, aggregator, garbage, sizes }: Started) {
  const now = new Date()
  const monthAt = (ahead: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)
  const call = caller(`http://127.0.0.1:${api.port}`, setup.apiKey)
  const last = interval(instantOf(monthAt(-1)), instantOf(monthAt(0)))
  // So that the invoice of the month before goes FINAL in the run that makes it.
  const grace = { type: 'CUSTOM', configuration: { type: 'HOUR', value: GRACE ? 48 : 0 } }
  await call('PATCH', `platforms/${setup.tenant.platformId}`, { invoice_settings: { invoice_grace_period: grace } })
  const template = await makeTemplate(call, new Date(last.start).toISOString(), {
    subscription: { ...(EACH === 1 ? {} : { combine: true }), ...(ENDS === 'term' ? ONE_MONTH : {}) },
    rich: process.env['BENCH_TERMS'] === '1',
    ownPrices: process.env['BENCH_OWN'] === '1',
    // With the month, so that no invoice of the next one is made.
    ...(ENDS === '1' ? { schedule: async () => ({ end_at: new Date(last.end).toISOString() }) } : {}),
  })
  const database = new pg.Client({ connectionString: setup.databaseUrl })
  await database.connect()
  const client = createClickHouse(clickhouseUrl, DATABASE)
  const runs: RunCosts[] = []
  const { worker } = workers
  const pids = { ...setup.pids, ...workers.pids, aggregator: aggregator.pid }
  try {
    let from = 0
    let subscriptions: string[] = []
    const warmUp = Math.ceil(WARM_UP / EACH)
    for (const customers of [warmUp, ...sizes]) {
      const to = from + customers
      const copied = await copyCustomers(setup, { template, from, to, each: EACH })
      subscriptions = copied.map(({ subscriptionId }) => subscriptionId)
      const { tenant } = setup
      await fillUsage(client, { tenant, from, to, events: EVENTS, period: last, each: EACH })
      // The first days of the month that runs, as far as they are past.
      const until = Math.max(monthAt(0) + EVENTS_NOW * 3_600_000, Math.floor(Date.now() / 3_600_000 - 3) * 3_600_000)
      const running = interval(instantOf(monthAt(0)), instantOf(until))
      await fillUsage(client, { tenant, from, to, events: EVENTS_NOW, period: running, each: EACH })
      await sleep(5_000)
      const { result: run, beside } = await measureBeside(garbage, () =>
        oneRun(database, { customers, subscriptions, pids, worker }),
      )
      from = to
      if (runs.length > 0 || customers !== warmUp) printRun(run, beside)
      if (process.env['BENCH_RECEIPTS'] === '1') {
        const { result: made, beside: meanwhile } = await measureBeside(garbage, () => makeAllReceipts(database, pids))
        if (made) printReceipts(made, meanwhile)
      }
      runs.push(run)
      if (GRACE) {
        // As if the grace period was over.
        await database.query(`update invoices set finalize_at = now() - interval '1 second' where status = 'DRAFT'`)
        const last = await measureBeside(garbage, () => oneRun(database, { customers, subscriptions, pids, worker }))
        printRun(last.result, last.beside)
      }
    }
    // Of what has ended there is nothing to preview.
    if (ENDS !== undefined) return { runs: runs.slice(1), preview: null }
    const preview = await previews(database, call, { subscriptions, pids: { ...setup.pids, api: api.pid } })
    printPreview(preview)
    return { runs: runs.slice(1), preview }
  } finally {
    await client.close()
    await database.end()
  }
}

/** Makes them due, and waits until every one was billed and every notice of it relayed. */
export async function oneRun(
  database: pg.Client,
  of: {
    readonly customers: number
    readonly subscriptions: readonly string[]
    readonly pids: Record<string, number>
    readonly worker: Running
  },
): Promise<RunCosts> {
  const { customers, subscriptions, pids, worker } = of
  const isCounted = await resetStatements(database)
  const count = countTrees(pids)
  const startedAt = performance.now()
  const timeoutMs = Math.max(LEAST_TIMEOUT_MS, subscriptions.length * TIMEOUT_MS)
  // In the second before, as the worker's time has no parts of one; else the first look would find none of them.
  await database.query(
    `update pricing_plan_subscriptions set next_billing_at = now() - interval '1 second', status = 'ACTIVE' where id = any($1)`,
    [subscriptions],
  )
  await database.query(`select graphile_worker.add_job('find-due-billing', job_key => 'find-due-billing')`)
  // Both are read by an index of what waits alone, so that watching costs nothing of what is measured.
  const isOpen = async (query: string): Promise<boolean> => (await database.query(query)).rowCount !== 0
  while (
    (await isOpen('select from pricing_plan_subscriptions where next_billing_at <= now() limit 1')) ||
    (await isOpen('select from outbox where position is null limit 1'))
  ) {
    if (performance.now() - startedAt > timeoutMs) throw new Error('not every subscription was billed in time')
    await sleep(POLL_MS)
  }
  const seconds = (performance.now() - startedAt) / 1000
  if (isCounted) await printStatements(database, subscriptions.length * 2)
  const { rows } = await database.query<{ status: string; invoices: string; lines: string }>(
    `select v.status, count(*) as invoices, sum((select count(*) from invoice_lines l where l.platform_id = v.platform_id
       and l.environment = v.environment and l.invoice_id = v.id)) as lines
     from invoices v where v.pricing_plan_subscription_id = any($1) or v.id in (
       select p.combined_into_id from invoices p where p.pricing_plan_subscription_id = any($1))
     group by v.status order by v.status`,
    [subscriptions],
  )
  const sumOf = (all: typeof rows, name: 'invoices' | 'lines') => all.reduce((sum, row) => sum + Number(row[name]), 0)
  const closed = rows.filter(({ status }) => status === 'FINAL')
  const invoices = sumOf(rows, 'invoices')
  return {
    customers,
    invoices,
    statuses: rows.map(row => `${row.invoices} ${row.status}`).join(', '),
    lines: closed.length === 0 ? 0 : sumOf(closed, 'lines') / sumOf(closed, 'invoices'),
    seconds,
    costs: count(invoices),
    workerMiB: peakMemoryMiB(worker.pid),
  }
}

/** Previews, one after the other, as a person in a console asks for them. */
async function previews(
  database: pg.Client,
  call: ReturnType<typeof caller>,
  { subscriptions, pids }: { readonly subscriptions: readonly string[]; readonly pids: Record<string, number> },
): Promise<PreviewCosts> {
  const ask = (place: number) =>
    call('POST', 'invoices/preview', { pricing_plan_subscription_id: subscriptions[place % subscriptions.length] })
  for (let warm = 0; warm < PREVIEWS; warm += 1) await ask(warm)
  const isCounted = await resetStatements(database)
  const count = countTrees(pids)
  const countServer = pids['postgres'] === undefined ? null : countServers(pids['postgres'])
  const taken: number[] = []
  for (let place = 0; place < PREVIEWS; place += 1) {
    const startedAt = performance.now()
    await ask(PREVIEWS + place)
    taken.push(performance.now() - startedAt)
  }
  const costs = count(PREVIEWS)
  if (countServer) {
    const { asked, housekeeping } = countServer(PREVIEWS)
    console.log(
      `  of PostgreSQL's, ${asked.toFixed(1)} ms for who asks, ${housekeeping.toFixed(1)} ms for itself, the rest in processes that ended`,
    )
  }
  if (isCounted) await printStatements(database, PREVIEWS)
  return { costs, p50Ms: taken.toSorted((a, b) => a - b)[PREVIEWS / 2] ?? 0 }
}

export const total = (costs: Costs): number => Object.values(costs).reduce((sum, each) => sum + each, 0)

export const shown = (costs: Costs): string =>
  Object.entries(costs)
    .map(([name, ms]) => `${name} ${ms.toFixed(2)}`)
    .join(', ')

export function printRun(
  { customers, invoices, statuses, lines, seconds, costs, workerMiB }: RunCosts,
  beside: Beside,
): void {
  const { pieceMs, bytes, collections, minutes } = beside
  const ofLines = lines === 0 ? '' : ` of ${lines.toFixed(1)} lines (${LINES} at most)`
  console.log(
    `${customers} customers, ${invoices} invoices (${statuses})${ofLines}: ${seconds.toFixed(1)} s, ` +
      `${total(costs).toFixed(2)} ms of processor time an invoice (${shown(costs)}), worker at most ${workerMiB ?? '?'} MiB`,
  )
  const ratio = pieceMs === null ? '' : `${(total(costs) / pieceMs).toFixed(2)} pieces of ${pieceMs.toFixed(2)} ms, `
  console.log(
    `  which is ${ratio}${(bytes / invoices / 1024).toFixed(0)} KiB on the worker's heap an invoice, cleared ${collections} times; jobs of every minute ran ${minutes} times`,
  )
}

function printReceipts({ receipts, seconds, events, costs }: ReceiptCosts, { pieceMs, bytes }: Beside): void {
  const ratio = pieceMs === null ? '' : `, ${(total(costs) / pieceMs).toFixed(2)} pieces of ${pieceMs.toFixed(2)} ms`
  console.log(
    `  ${receipts} receipts of ${events.toFixed(0)} events: ${seconds.toFixed(1)} s, ${total(costs).toFixed(2)} ms of processor time each ` +
      `(${shown(costs)})${ratio}, ${(bytes / receipts / 1024).toFixed(0)} KiB on the worker's heap`,
  )
}

function printPreview({ p50Ms, costs }: PreviewCosts): void {
  console.log(
    `a preview: ${p50Ms.toFixed(0)} ms at the median, ${total(costs).toFixed(1)} ms of processor time (${shown(costs)})`,
  )
}
