// How long the usage of one customer's month takes, by how many events it has: through queryUsages, as billing and charts ask it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { findStaleBuckets, rollBuckets } from '../../aggregator/rollups/roll-buckets.ts'
import { findStaleDays, rollDays } from '../../aggregator/rollups/roll-days.ts'
import { queryUsages } from '../../api/usage/query/query-usages.ts'
import type { UsageQuery } from '../../api/usage/usage-query.ts'
import { freePort } from '../../infra/services/child.ts'
import { startClickHouse } from '../../infra/services/clickhouse.ts'
import { type ClickHouseClient, createClickHouse } from '../../shared/usage/clickhouse.ts'
import { fillMonth, MONTH, type Shape, touchHour, USUAL, WIDE } from './fill.ts'
import { questionsOf } from './questions.ts'

const DATABASE = 'usage_curve'
const QUERIES = 40
/** Raw rows are read for comparison, and take seconds. */
const RAW_QUERIES = 3
const RAW_EVENTS_MAX = 10_000_000
const BUDGET_EVENTS = 10_000_000
export const BUDGET_MS = 100

/** `cpuMs`: what ClickHouse spent on one query; null where the system does not tell. */
export type Latency = { readonly p50Ms: number; readonly p95Ms: number; readonly cpuMs: number | null }
export type MonthOfUsage = {
  readonly events: number
  readonly shape: string
  readonly fillSeconds: number
  readonly hoursSeconds: number
  readonly daysSeconds: number
  /** By question; `raw` is the sum read from raw rows alone. */
  readonly latencies: Readonly<Record<string, Latency>>
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

const MS_PER_TICK = 10

/** Processor time a process has used, in ms; null where the system does not tell. */
function cpuOf(pid: number | null): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
  } catch {
    return null // no /proc on this system, or a server that is not ours
  }
}

type Server = { readonly client: ClickHouseClient; readonly pid: number | null }

async function latency({ client, pid }: Server, queries: readonly UsageQuery[], times: number): Promise<Latency> {
  await queryUsages(client, queries)
  const before = cpuOf(pid)
  const taken: number[] = []
  for (let turn = 0; turn < times; turn += 1) taken.push(1000 * (await seconds(() => queryUsages(client, queries))))
  taken.sort((a, b) => a - b)
  const at = (share: number): number => taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0
  const after = cpuOf(pid)
  const cpuMs = before === null || after === null ? null : (after - before) / times
  return { p50Ms: at(0.5), p95Ms: at(0.95), cpuMs }
}

async function measureMonth(server: Server, events: number, shape: Shape): Promise<MonthOfUsage> {
  const { client } = server
  const customer = `month-of-${events}-${shape.models}`
  const fillSeconds = await seconds(() => fillMonth(client, { customer, count: events, shape }))
  const questions = questionsOf(customer)
  const latencies: Record<string, Latency> = {}
  const raw = questions['sum']?.map(query => ({ ...query, source: 'RAW' as const }))
  if (events <= RAW_EVENTS_MAX && raw) latencies['raw'] = await latency(server, raw, RAW_QUERIES)
  const hoursSeconds = await seconds(async () => rollBuckets(client, await findStaleBuckets(client, 10_000)))
  const daysSeconds = await seconds(async () => rollDays(client, await findStaleDays(client, 10_000)))
  for (const [name, query] of Object.entries(questions)) latencies[name] = await latency(server, query, QUERIES)
  // The running hour is never rolled up while events come in.
  await touchHour(client, customer, MONTH.end - 1)
  for (const name of ['sum', 'sum by condition']) {
    const query = questions[name]
    if (query) latencies[`${name}, an hour raw`] = await latency(server, query, QUERIES)
  }
  return { events, shape: shape.name, fillSeconds, hoursSeconds, daysSeconds, latencies }
}

function print({ events, shape, fillSeconds, hoursSeconds, daysSeconds, latencies }: MonthOfUsage): void {
  const made = `made in ${fillSeconds.toFixed(1)} s, rolled up in ${hoursSeconds.toFixed(1)} + ${daysSeconds.toFixed(1)} s`
  console.log(`\n${events.toLocaleString('en')} events, ${shape}: ${made}`)
  for (const [name, { p50Ms, p95Ms, cpuMs }] of Object.entries(latencies)) {
    const cpu = cpuMs === null ? '' : `${cpuMs.toFixed(0).padStart(8)} ms of processor`
    console.log(`  ${name.padEnd(32)}${p50Ms.toFixed(1).padStart(10)} ms${p95Ms.toFixed(1).padStart(10)} ms p95${cpu}`)
  }
}

/** The slowest question of a month of 10 million events, at the median; null when none was measured. */
export function slowest(months: readonly MonthOfUsage[]): { readonly question: string; readonly p50Ms: number } | null {
  const all = months
    .filter(({ events }) => events === BUDGET_EVENTS)
    .flatMap(({ shape, latencies }) =>
      Object.entries(latencies)
        .filter(([name]) => name !== 'raw')
        .map(([name, { p50Ms }]) => ({ question: `${name} (${shape})`, p50Ms })),
    )
  return all.toSorted((a, b) => b.p50Ms - a.p50Ms)[0] ?? null
}

/**
 * Measures months of so many events, with the usual number of combinations of properties and, up to 10 million events, with
 * very many, on a ClickHouse of its own (or BENCH_CLICKHOUSE_URL), and prints them. 10 million events take some minutes.
 */
export async function usageOfAMonth(
  sizes: readonly number[] = [10_000, 100_000, 1_000_000, 10_000_000],
): Promise<MonthOfUsage[]> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-usage-curve-'))
  const given = process.env['BENCH_CLICKHOUSE_URL']
  const own =
    given === undefined ? await startClickHouse({ dataDir: folder, port: await freePort(), log: () => {} }) : null
  const url = given ?? own?.url ?? ''
  const client = createClickHouse(url, DATABASE)
  try {
    const months: MonthOfUsage[] = []
    for (const events of sizes) {
      for (const shape of events <= BUDGET_EVENTS ? [USUAL, WIDE] : [USUAL]) {
        await migrateClickHouse(url, DATABASE)
        const month = await measureMonth({ client, pid: own?.child.pid ?? null }, events, shape)
        print(month)
        months.push(month)
        await client.command({ query: `DROP DATABASE ${DATABASE} SYNC` })
      }
    }
    return months
  } finally {
    await client.close()
    await own?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
