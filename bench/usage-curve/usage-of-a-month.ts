// How long the usage of one customer's month takes, by how many events it has: through queryUsage, as billing asks it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { findStaleBuckets, rollBuckets } from '../../aggregator/rollups/roll-buckets.ts'
import { findStaleDays, rollDays } from '../../aggregator/rollups/roll-days.ts'
import { queryUsage } from '../../api/usage/query-usage.ts'
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

export type Latency = { readonly p50Ms: number; readonly p95Ms: number }
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

async function latency(client: ClickHouseClient, query: UsageQuery, times: number): Promise<Latency> {
  await queryUsage(client, query)
  const taken: number[] = []
  for (let turn = 0; turn < times; turn += 1) taken.push(1000 * (await seconds(() => queryUsage(client, query))))
  taken.sort((a, b) => a - b)
  const at = (share: number): number => taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0
  return { p50Ms: at(0.5), p95Ms: at(0.95) }
}

async function measureMonth(client: ClickHouseClient, events: number, shape: Shape): Promise<MonthOfUsage> {
  const customer = `month-of-${events}-${shape.models}`
  const fillSeconds = await seconds(() => fillMonth(client, { customer, count: events, shape }))
  const questions = questionsOf(customer)
  const latencies: Record<string, Latency> = {}
  if (events <= RAW_EVENTS_MAX && questions['sum'])
    latencies['raw'] = await latency(client, { ...questions['sum'], source: 'RAW' }, RAW_QUERIES)
  const hoursSeconds = await seconds(async () => rollBuckets(client, await findStaleBuckets(client, 10_000)))
  const daysSeconds = await seconds(async () => rollDays(client, await findStaleDays(client, 10_000)))
  for (const [name, query] of Object.entries(questions)) latencies[name] = await latency(client, query, QUERIES)
  // The running hour is never rolled up while events come in.
  await touchHour(client, customer, MONTH.end - 1)
  for (const name of ['sum', 'sum by condition']) {
    const query = questions[name]
    if (query) latencies[`${name}, an hour raw`] = await latency(client, query, QUERIES)
  }
  return { events, shape: shape.name, fillSeconds, hoursSeconds, daysSeconds, latencies }
}

function print({ events, shape, fillSeconds, hoursSeconds, daysSeconds, latencies }: MonthOfUsage): void {
  const made = `made in ${fillSeconds.toFixed(1)} s, rolled up in ${hoursSeconds.toFixed(1)} + ${daysSeconds.toFixed(1)} s`
  console.log(`\n${events.toLocaleString('en')} events, ${shape}: ${made}`)
  for (const [name, { p50Ms, p95Ms }] of Object.entries(latencies)) {
    console.log(`  ${name.padEnd(32)}${p50Ms.toFixed(1).padStart(10)} ms${p95Ms.toFixed(1).padStart(10)} ms p95`)
  }
}

/** Whether the budget holds: every question of 10 million events in BUDGET_MS, at the median. */
export const withinBudget = (months: readonly MonthOfUsage[]): boolean =>
  months
    .filter(({ events }) => events === BUDGET_EVENTS)
    .every(({ latencies }) =>
      Object.entries(latencies).every(([name, { p50Ms }]) => name === 'raw' || p50Ms < BUDGET_MS),
    )

/**
 * Measures months of so many events, each with the usual number of combinations of properties and with very many, on a
 * ClickHouse of its own (or BENCH_CLICKHOUSE_URL), and prints them. 10 million events take about half a minute.
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
      for (const shape of [USUAL, WIDE]) {
        await migrateClickHouse(url, DATABASE)
        const month = await measureMonth(client, events, shape)
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
