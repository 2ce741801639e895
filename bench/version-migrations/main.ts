// node dist/bench/version-migrations/main.js [subscriptions] [customers]: what it costs to preview and to carry out the move of so many
// subscriptions to another plan version, through the worker as it ships. They are spread over so many customers; one for each if absent.
// Meanwhile one that is being tried or moved is patched again and again: how long that waits.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Call, caller, copyCustomers, makeTemplate } from '../billing-run/platform.ts'
import { printStatements, resetStatements } from '../billing-run/statements.ts'
import { countTrees } from '../billing-run/tree-cpu.ts'
import { DATABASE } from '../measure/readable.ts'
import type { Running } from '../processes.ts'
import { startApi, startWorker } from '../product.ts'
import { type Setup, setUp } from '../setup.ts'

const POLL_MS = 500
const PAUSE_MS = 50
const TIMEOUT_MS = 3_600_000

const [subscriptions = 2_000, customers = subscriptions] = process.argv.slice(2).map(Number)
for (const size of [subscriptions, customers])
  if (!Number.isSafeInteger(size) || size < 1) throw new Error('give whole numbers of subscriptions and customers')

const setup = await setUp()
const running: Running[] = []
try {
  const clickhouseUrl = await setup.startClickHouse()
  running.push(await setup.startAggregator(clickhouseUrl, DATABASE))
  const api = await startApi(setup, clickhouseUrl)
  running.push(api)
  const call = caller(`http://127.0.0.1:${api.port}`, setup.apiKey)
  const { from, to } = await versions(setup, call)
  const worker = await startWorker(setup, clickhouseUrl)
  running.push(worker)
  const pids = { ...setup.pids, worker: worker.pid }
  const { id } = await measured('preview', pids, 'PREVIEWED', call, () =>
    call('POST', `pricing-plan-versions/${from}/migrate`, { pricing_plan_version_id: to }),
  )
  await measured('move', pids, 'DONE', call, () => call('POST', `pricing-plan-version-migrations/${id}/start`, {}))
} finally {
  for (const each of running.reverse()) await each.stop()
  await setup.stop()
}

/** The version that they are on, and the next one. */
async function versions(of: Setup, call: Call): Promise<{ from: string; to: string }> {
  const now = new Date()
  const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString()
  const template = await makeTemplate(call, start)
  const copied = await copyCustomers(of, { template, from: 0, to: subscriptions - 1 })
  const database = new pg.Client({ connectionString: of.databaseUrl })
  await database.connect()
  try {
    await database.query(
      `update pricing_plan_subscriptions s set customer_id = ($2::text[])[1 + (c.place - 1) % $3]
       from unnest($1::text[]) with ordinality as c (id, place) where s.id = c.id`,
      [copied.map(each => each.subscriptionId), copied.map(each => each.customerId), customers],
    )
    const { rows } = await database.query<{ id: string; plan: string }>(
      'select id, pricing_plan_id as plan from pricing_plan_versions',
    )
    const { id: from, plan } = rows[0] ?? { id: '', plan: '' }
    const next = await call('POST', 'pricing-plan-versions', {
      pricing_plan_id: plan,
      copied_from_pricing_plan_version_id: from,
    })
    await call('PATCH', `pricing-plan-versions/${next.id}`, { status: 'ACTIVE' })
    return { from, to: next.id }
  } finally {
    await database.end()
  }
}

async function measured(
  what: string,
  pids: Readonly<Record<string, number>>,
  wanted: string,
  call: Call,
  begin: () => ReturnType<Call>,
): ReturnType<Call> {
  const database = new pg.Client({ connectionString: setup.databaseUrl })
  await database.connect()
  const isCounted = await resetStatements(database)
  const count = countTrees(pids)
  const waits: number[] = []
  const startedAt = performance.now()
  const { id } = await begin()
  for (;;) {
    await patchBeside(database, call, { id, waits, until: performance.now() + POLL_MS })
    const found = await call('GET', `pricing-plan-version-migrations/${id}`)
    if (found['status'] === wanted) {
      const costs = Object.entries(count(subscriptions)).map(([name, ms]) => `${name} ${ms.toFixed(2)}`)
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
      const { totals: _totals, ...counts } = found['result'] as Record<string, unknown>
      console.log(
        `${what} of ${subscriptions} subscriptions of ${customers} customers: ${seconds} s, milliseconds of processor time for each: ${costs.join(', ')}; ${JSON.stringify(counts)}`,
      )
      console.log(`${waits.length} patches beside it: ${waitsOf(waits)}`)
      if (isCounted) await printStatements(database, subscriptions)
      await database.end()
      return found
    }
    if (found['status'] === 'ERROR' || performance.now() - startedAt > TIMEOUT_MS)
      throw new Error(`the ${what} is ${String(found['status'])}: ${String(found['message'])}`)
  }
}

type Beside = { readonly id: string; readonly waits: number[]; readonly until: number }

/** Patches subscriptions that are previewed or moved just now, and notes how long each took. */
async function patchBeside(database: pg.Client, call: Call, { id, waits, until }: Beside): Promise<void> {
  while (performance.now() < until) {
    const { rows } = await database.query<{ subscription: string }>(
      `select m.pricing_plan_subscription_id as subscription from migrated_subscriptions m
       join pricing_plan_version_migrations v on v.id = m.migration_id
       where m.migration_id = $1 and m.status = case v.status when 'SCHEDULED' then 'SCHEDULED' else 'PREVIEWED' end
       order by m.id limit 1`,
      [id],
    )
    const startedAt = performance.now()
    if (rows[0]) {
      await call('PATCH', `pricing-plan-subscriptions/${rows[0].subscription}`, { description: `at ${startedAt}` })
      waits.push(performance.now() - startedAt)
    }
    await sleep(PAUSE_MS)
  }
}

function waitsOf(waits: readonly number[]): string {
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (share: number) => `${(sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0)} ms`
  return `half took ${at(0.5)}, one in ten ${at(0.9)}, the slowest ${at(1)}`
}
