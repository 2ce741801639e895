// The revenue gate by the usage door: the last closed month of every customer of a plan, rated again from its events through the worker
// as it ships. One customer is billed and the others get copies of its invoice, so that the set-up takes minutes and not an hour.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { instantOf, interval } from '../../shared/time.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { oneRun, shown, total } from '../billing-run/billing-run.ts'
import { type Call, caller, copyCustomers, makeTemplate } from '../billing-run/platform.ts'
import { countTrees } from '../billing-run/tree-cpu.ts'
import { fillUsage } from '../billing-run/usage.ts'
import { DATABASE } from '../measure/readable.ts'
import type { Running } from '../processes.ts'
import { startApi, startWorker } from '../product.ts'
import { peakMemoryMiB } from '../report.ts'
import { setUp } from '../setup.ts'
import { copyFinalInvoice } from './closed-invoices.ts'

const TIMEOUT_MS = 7_200_000
/** Half a million events at once take longer than a command of a process may, where the machine is busy. */
const FILL_MS = 600_000
const POLL_MS = 200

type Of = {
  readonly customers: number
  readonly times: number
  /** Of each customer and meter. */
  readonly events: number
}

/** Measures so many simulations of so many customers, and prints them. From the second on, the worker is warm. */
export async function simulations({ customers, times, events }: Of): Promise<void> {
  const setup = await setUp()
  const running: Running[] = []
  try {
    const clickhouseUrl = await setup.startClickHouse()
    const aggregator = await setup.startAggregator(clickhouseUrl, DATABASE)
    running.push(aggregator)
    const api = await startApi(setup, clickhouseUrl)
    running.push(api)
    const worker = await startWorker(setup, clickhouseUrl)
    running.push(worker)
    const call = caller(`http://127.0.0.1:${api.port}`, setup.apiKey)
    const pids = { ...setup.pids, worker: worker.pid, aggregator: aggregator.pid }
    const database = new pg.Client({ connectionString: setup.databaseUrl })
    await database.connect()
    const client = createClickHouse(clickhouseUrl, DATABASE, { commandMs: FILL_MS })
    try {
      const now = new Date()
      const monthAt = (ahead: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)
      const last = interval(instantOf(monthAt(-1)), instantOf(monthAt(0)))
      // So that the invoice goes FINAL in the run that makes it.
      const none = { type: 'CUSTOM', configuration: { type: 'HOUR', value: 0 } }
      await call('PATCH', `platforms/${setup.tenant.platformId}`, { invoice_settings: { invoice_grace_period: none } })
      const template = await makeTemplate(call, new Date(last.start).toISOString())
      const copied = await copyCustomers(setup, { template, from: 0, to: customers })
      // Before the invoice: it counts all that the log holds by then.
      await fillUsage(client, { tenant: setup.tenant, from: 0, to: customers, events, period: last })
      await sleep(5_000)
      const [first] = copied
      if (!first) throw new Error('there are no customers')
      await oneRun(database, { customers: 1, subscriptions: [first.subscriptionId], pids, worker })
      await copyFinalInvoice(database, copied)
      const { rows } = await database.query<{ id: string }>('select id from pricing_plan_versions limit 1')
      for (let time = 1; time <= times; time += 1) {
        const count = countTrees(pids)
        const { seconds, rated } = await simulate(call, rows[0]?.id ?? '')
        const costs = count(rated)
        console.log(
          `a simulation of ${rated} customers: ${seconds.toFixed(1)} s, ${total(costs).toFixed(2)} ms of processor time a customer (${shown(costs)}), worker at most ${peakMemoryMiB(worker.pid) ?? '?'} MiB`,
        )
      }
    } finally {
      await client.close()
      await database.end()
    }
  } finally {
    for (const each of running.reverse()) await each.stop()
    await setup.stop()
  }
}

async function simulate(call: Call, versionId: string): Promise<{ seconds: number; rated: number }> {
  const startedAt = performance.now()
  const { id } = await call('POST', `pricing-plan-versions/${versionId}/simulate`, {})
  for (;;) {
    const { status, result } = await call('GET', `pricing-plan-version-simulations/${id}`)
    const seconds = (performance.now() - startedAt) / 1000
    if (status === 'DONE') {
      const { number_of_customers: rated, number_of_failed: failed } = result as Record<string, number>
      if (rated === undefined || failed !== 0) throw new Error(`${failed} of ${rated} customers were not rated`)
      return { seconds, rated }
    }
    if (status !== 'SCHEDULED' && status !== 'IN_PROGRESS') throw new Error(`the simulation is ${String(status)}`)
    if (seconds * 1000 > TIMEOUT_MS) throw new Error('the simulation did not end in time')
    await sleep(POLL_MS)
  }
}
