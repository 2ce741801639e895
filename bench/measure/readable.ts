// From accepted to readable: a whole burst sent through the gateway, until the last event of it can be read in ClickHouse.
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClickHouseClient, createClickHouse, selectRows } from '../../shared/usage/clickhouse.ts'
import { countCpu } from '../cpu.ts'
import { type Running, runModule } from '../processes.ts'
import type { Turn } from '../report.ts'
import type { Setup } from '../setup.ts'
import { BATCH, load } from './ingest.ts'

const DRAIN_TIMEOUT_MS = 180_000
const POLL_MS = 50
export const DATABASE = 'bench'

async function linesAcked(gateway: Running): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.metricsPort}/metrics`)).text()
  const found = /^millrace_ingest_lines_acked_total ([0-9]+)$/m.exec(text)
  if (!found) throw new Error('the gateway does not tell how many lines were acknowledged')
  return Number(found[1])
}

// Every reference of a run is new, so the rows in the table are the events that count.
async function readable(client: ClickHouseClient): Promise<number> {
  const [row] = await selectRows<[string]>(client, 'select count() from usage_events')
  return Number(row?.[0] ?? 0)
}

/** One burst. The time runs from its first request to the moment all of it is readable: load and drain together. */
export async function readableTurn(
  { apiKey, pids }: Setup,
  gateway: Running,
  clickhouseUrl: string,
  aggregator: Running,
): Promise<Turn> {
  const { clickhouse = 0 } = pids
  const countLimit = countCpu({ clickhouse })
  const limit = await runModule<{ events: number; eventsPerSecond: number }>('bench/limits/insert', [
    clickhouseUrl,
    `bench_limit_${Date.now()}`,
  ])
  const limitCosts = countLimit(limit.events)
  const client = createClickHouse(clickhouseUrl, DATABASE)
  try {
    const count = countCpu({ gateway: gateway.pid, aggregator: aggregator.pid, ...pids })
    const before = await linesAcked(gateway)
    const startedAt = performance.now()
    const { cpuMicrosEach: generator } = await load(gateway, apiKey, BATCH)
    const accepted = await linesAcked(gateway)
    while ((await readable(client)) < accepted) {
      if (performance.now() - startedAt > DRAIN_TIMEOUT_MS)
        throw new Error('the events did not become readable in time')
      await sleep(POLL_MS)
    }
    const seconds = (performance.now() - startedAt) / 1000
    const events = accepted - before
    const costs = { ...count(events), generator }
    return { limit: limit.eventsPerSecond, subject: events / seconds, p99Ms: null, costs, limitCosts }
  } finally {
    await client.close()
  }
}
