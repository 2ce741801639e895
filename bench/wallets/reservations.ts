// Reservations through the api as it ships: as many a second as two cores give, and the 99th percentile at the rate that is promised, of
// one wallet on which all clients meet and of as many wallets as clients.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Body, type Call, caller } from '../billing-run/platform.ts'
import { countTrees } from '../billing-run/tree-cpu.ts'
import type { Costs } from '../cpu.ts'
import { COUNTER_DIGITS } from '../load/events.ts'
import type { LoadOptions, LoadResult } from '../load/generator.ts'
import { measureFlushes } from '../measure/flush.ts'
import { runModule } from '../processes.ts'
import { startApi, UNLIMITED } from '../product.ts'
import { type Setup, setUp } from '../setup.ts'

const CLIENTS = 64
const RATE = 2_000
const WARM_UP_MS = 3_000
const MEASURE_MS = 6_000

export type Reservations = {
  /** As many a second as the clients can get, each sending the next when it is answered. */
  readonly perSecond: number
  /** At 2,000 a second. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Microseconds of processor time a reservation at that rate, by process, the client among them. */
  readonly costs: Costs
}

const CORES = 2
const SECOND_US = 1_000_000

/** Microseconds of processor time of all processes together. */
export const totalOf = (costs: Costs): number => Object.values(costs).reduce((sum, each) => sum + each, 0)

/** Measures both. Prints as it goes. */
export async function walletReservations(): Promise<{ hot: Reservations; many: Reservations }> {
  const setup = await setUp()
  try {
    await ageLog(setup.databaseUrl)
    const api = await startApi(setup, await setup.startClickHouse(), UNLIMITED)
    const { port } = api
    try {
      const call = caller(`http://127.0.0.1:${port}`, setup.apiKey)
      const wallets = await makeWallets(call, CLIENTS + 1)
      const of = { setup, port, pids: { api: api.pid, postgres: setup.pids['postgres'] ?? 0 } }
      const [first, ...rest] = wallets
      if (!first) throw new Error('there is no wallet')
      return { hot: await turn('one hot wallet', of, [first]), many: await turn('many wallets', of, rest) }
    } finally {
      await api.stop()
    }
  } finally {
    await setup.stop()
  }
}

/**
 * Gives the server the log files of one that has run for a while. A new server makes and clears a file for each 16 MB that it logs, and
 * commits wait for that; later it writes into files that it has.
 */
async function ageLog(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(
      'create table ballast as select repeat(md5(n::text), 30) as text from generate_series(1, 300000) as n',
    )
    await client.query('drop table ballast')
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
}

/**
 * Has everything written that was done before: the system writes it half a minute later otherwise, and commits wait for the disk then.
 */
async function settleDisk(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('checkpoint')
  } finally {
    await client.end()
  }
  await promisify(execFile)('sync')
}

/** Wallets of credits, each of a customer of its own, with more than a run takes. */
async function makeWallets(call: Call, count: number): Promise<Body[]> {
  const active = { status: 'ACTIVE' }
  const { id: credit_type_id } = await call('POST', 'credit-types', {
    reference: 'credits',
    name: 'Credits',
    unit_name: { singular: 'credit', plural: 'credits' },
    ...active,
  })
  const { id: wallet_type_id } = await call('POST', 'wallet-types', {
    reference: 'prepaid',
    name: 'Prepaid',
    type: 'CREDIT',
    credit: { grant_type: 'CREDITS', credits_grant: { credit_type_id } },
    ...active,
  })
  const { id: billing_entity_id } = await call('POST', 'billing-entities', {
    reference: 'main',
    legal_name: 'Millrace',
    registered_address: { country: 'NL', city: 'Utrecht' },
  })
  const wallets: Body[] = []
  for (let each = 0; each < count; each += 1) {
    const reference = `client-${each}`
    const { id: customer_id } = await call('POST', 'customers', { reference, type: 'ORGANIZATION', ...active })
    const wallet = await call('POST', 'wallets', { reference, wallet_type_id, customer_id, ...active })
    const grant_credits = { quantity: '1000000000', credit_type_id }
    await call('POST', 'wallet-grants', { customer_id, billing_entity_id, wallet_id: wallet.id, grant_credits })
    wallets.push({ ...wallet, credit_type_id })
  }
  return wallets
}

type Of = { readonly setup: Setup; readonly port: number; readonly pids: Readonly<Record<string, number>> }
let runs = 0

async function turn(name: string, { setup, port, pids }: Of, wallets: readonly Body[]): Promise<Reservations> {
  const load = async (pace: Partial<LoadOptions>): Promise<LoadResult> => {
    runs += 1
    const run = `${process.pid}-${runs}`
    const reference = `req-${run}-${'0'.repeat(COUNTER_DIGITS)}`
    const result = await runModule<LoadResult>('bench/load/generator', [
      JSON.stringify({
        port,
        path: '',
        apiKey: setup.apiKey,
        connections: CLIENTS,
        eventsPerRequest: 1,
        warmUpMs: WARM_UP_MS,
        measureMs: MEASURE_MS,
        run,
        requests: wallets.map(({ id, credit_type_id }) => ({
          path: `/v1/wallets/${id}/reservations`,
          body: JSON.stringify({ reference, credits: { quantity: '1', credit_type_id } }),
        })),
        ...pace,
      } satisfies LoadOptions),
    ])
    if (Object.keys(result.others).length > 0) throw new Error(`not all granted: ${JSON.stringify(result.others)}`)
    return result
  }
  const most = await load({})
  await settleDisk(setup.databaseUrl)
  const disk = await measureFlushes()
  const count = countTrees(pids)
  const paced = await load({ eventsPerSecond: RATE })
  const milliseconds = count(paced.acceptedEvents)
  const servers = Object.fromEntries(Object.entries(milliseconds).map(([of, each]) => [of, Math.round(each * 1_000)]))
  const costs = { ...servers, generator: Math.round(paced.cpuMicrosEach) }
  const perSecond = Math.round(most.events / most.seconds)
  const kept = Math.round(paced.events / paced.seconds)
  console.log(
    `  ${name}: at most ${perSecond}/s; at ${kept}/s p50 ${paced.p50Ms.toFixed(1)} ms, p99 ${paced.p99Ms.toFixed(1)} ms ` +
      `(the disk alone keeps a page in ${disk.p50Ms.toFixed(1)} ms, p99 ${disk.p99Ms.toFixed(1)}), ` +
      `µs of processor each: ${JSON.stringify(costs)}. On a machine that other work keeps busy rates say nothing: ` +
      `${CORES} idle cores have time for ${Math.round((CORES * SECOND_US) / totalOf(costs))}/s, the client on them as well`,
  )
  return { perSecond, p50Ms: paced.p50Ms, p99Ms: paced.p99Ms, costs }
}
