// node dist/bench/reads/pairs.js [name [calls [rounds]]]: what the api's reads cost with sixteen on their way at once, in turn with a
// bare Fastify route over the same database, so that whatever else the machine does meets all of them. With BENCH_BEFORE, the folder of
// another checkout that was built, its api takes turns as well.
import { Pool } from 'undici'
import { instantOf, interval } from '../../shared/time.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { caller, copyCustomers, makeTemplate } from '../billing-run/platform.ts'
import { countTrees } from '../billing-run/tree-cpu.ts'
import { fillUsage } from '../billing-run/usage.ts'
import type { Costs } from '../cpu.ts'
import { DATABASE } from '../measure/readable.ts'
import { type Running, startModule } from '../processes.ts'
import { startApi, UNLIMITED } from '../product.ts'
import { setUp } from '../setup.ts'
import { makeInvoices } from './make-invoices.ts'

const CUSTOMERS = 60
const AT_ONCE = 16
const CALLS = 4_000
const ROUNDS = 5
/** Of a hundred calls, as many of what is dear. */
const DEAR_PERCENT = 1
/** Of a customer and meter, in the days before now. */
const EVENTS = 20
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const wanted = process.argv[2] ?? ''
const calls = Number(process.argv[3] ?? CALLS)
const rounds = Number(process.argv[4] ?? ROUNDS)
for (const each of [calls, rounds])
  if (!Number.isSafeInteger(each) || each < 1) throw new Error('give whole numbers of calls and rounds')

type Read = {
  readonly name: string
  readonly path: string
  /** The same of the bare route. */
  readonly bare?: string
  /** Of the call with this number. */
  readonly body?: (number: number) => object
  /** One after the other, and fewer of them. */
  readonly dear?: true
}

const setup = await setUp()
const running: Running[] = []
try {
  const clickhouseUrl = await setup.startClickHouse()
  running.push(await setup.startAggregator(clickhouseUrl, DATABASE))
  const api = await startApi(setup, clickhouseUrl, UNLIMITED)
  const bare = await startModule('bench/limits/bare-read', { DATABASE_URL: setup.databaseUrl })
  const servers: Record<string, Running> = { bare, api }
  running.push(api, bare)
  const former = process.env['BENCH_BEFORE']
  if (former !== undefined) {
    servers['before'] = await startApi(setup, clickhouseUrl, { ...UNLIMITED, folder: former })
    running.push(servers['before'])
  }
  const call = caller(`http://127.0.0.1:${api.port}`, setup.apiKey)
  const template = await makeTemplate(call, new Date(Date.now() - 70 * DAY_MS).toISOString())
  const { billing_entity_id } = await call('GET', `pricing-plan-subscriptions/${template}`)
  const copied = await copyCustomers(setup, { template, from: 0, to: CUSTOMERS })
  await makeInvoices(setup, { clickhouseUrl, subscriptions: copied.map(({ subscriptionId }) => subscriptionId) })
  const client = createClickHouse(clickhouseUrl, DATABASE)
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const period = interval(instantOf(hour - EVENTS * HOUR_MS), instantOf(hour))
  await fillUsage(client, { tenant: setup.tenant, from: 0, to: CUSTOMERS, events: EVENTS, period })
  await client.close()

  const reads: Read[] = [
    {
      name: 'a customer by id',
      path: `customers/${copied[1]?.customerId}`,
      bare: `customers/${copied[1]?.customerId}`,
    },
    { name: 'fifty customers', path: 'customers?limit=50', bare: 'customers' },
    {
      name: 'a customer created',
      path: 'customers',
      body: () => ({ type: 'ORGANIZATION', organization: { legal_name: 'A' } }),
    },
    {
      name: 'a subscription created',
      path: 'pricing-plan-subscriptions',
      body: number => ({
        customer_id: copied[number % CUSTOMERS]?.customerId,
        billing_entity_id,
        billing_currency: 'EUR',
      }),
    },
    { name: 'fifty invoices', path: 'invoices?limit=50' },
    {
      name: 'a preview of ten lines',
      path: 'invoices/preview',
      body: number => ({ pricing_plan_subscription_id: copied[number % CUSTOMERS]?.subscriptionId }),
      dear: true,
    },
  ]
  for (const read of reads.filter(each => each.name.includes(wanted))) await compare(read, servers)
} finally {
  for (const each of running.reverse()) await each.stop()
  await setup.stop()
}

/** Runs the read on each server in turn, and prints what it cost in milliseconds of processor time. */
async function compare(read: Read, all: Readonly<Record<string, Running>>): Promise<void> {
  const turns = new Map<string, Turn[]>()
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, server] of Object.entries(all)) {
      const path = name === 'bare' ? read.bare : `v1/${read.path}`
      if (path === undefined) continue
      const turn = await oneTurn({ ...read, path }, server)
      // In the first, code is compiled.
      if (round > 0) turns.set(name, [...(turns.get(name) ?? []), turn])
    }
  }
  const ofProcess = (taken: readonly Turn[], process: string): number[] => taken.map(({ costs }) => costs[process] ?? 0)
  const rateOf = (taken: readonly Turn[]): number => median(taken.map(({ perSecond }) => perSecond))
  const limit = turns.get('bare')
  for (const [name, taken] of turns) {
    const costs = ['itself', 'postgres', 'clickhouse'].map(each => `${each} ${spread(ofProcess(taken, each))}`)
    const less = limit ? median(ofProcess(limit, 'itself')) / median(ofProcess(taken, 'itself')) : 1
    const ratio =
      limit && name !== 'bare'
        ? `, ${(rateOf(taken) / rateOf(limit)).toFixed(2)} of the bare route's rate (${less.toFixed(2)} by processor time of itself)`
        : ''
    console.log(`${read.name}, ${name}: ${costs.join(', ')}, ${rateOf(taken).toFixed(0)} a second${ratio}`)
  }
}

/** What one of its calls cost, and how many were answered each second, the caller being on the same machine. */
type Turn = { readonly costs: Costs; readonly perSecond: number }

async function oneTurn({ path, body, name, dear }: Read, server: Running): Promise<Turn> {
  const headers = { 'x-api-key': setup.apiKey, ...(body ? { 'content-type': 'application/json' } : {}) }
  const atOnce = dear ? 1 : AT_ONCE
  const all = dear ? Math.ceil((calls * DEAR_PERCENT) / 100) : calls
  const pool = new Pool(`http://127.0.0.1:${server.port}`, { connections: atOnce })
  let sent = 0
  const one = async (): Promise<void> => {
    for (; sent < all; ) {
      sent += 1
      const given = body
        ? ({ method: 'POST', body: JSON.stringify(body(sent)) } as const)
        : ({ method: 'GET' } as const)
      const answer = await pool.request({ path: `/${path}`, headers, ...given })
      const text = await answer.body.text()
      if (answer.statusCode >= 300) throw new Error(`${name}: ${answer.statusCode} ${text.slice(0, 300)}`)
    }
  }
  const count = countTrees({ ...setup.pids, itself: server.pid })
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: atOnce }, one))
  const perSecond = (all / (performance.now() - startedAt)) * 1000
  const costs = count(all)
  await pool.close()
  return { costs, perSecond }
}

function median(of: readonly number[]): number {
  return of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)] ?? 0
}

/** The median, with the least and the most. */
function spread(of: readonly number[]): string {
  return `${median(of).toFixed(2)} (${Math.min(...of).toFixed(2)} to ${Math.max(...of).toFixed(2)}) ms`
}
