// How long it takes to build a lost first-seen index again from usage_events, and what memory it takes. It fills a
// ClickHouse of its own with one partition's events. `npm run build && node dist/bench/index-rebuild.js [references] [folder]`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateClickHouse } from '../aggregator/clickhouse/migrate.ts'
import { openFirstSeenIndex } from '../aggregator/index/first-seen-index.ts'
import { rebuildIndex } from '../aggregator/index/resume.ts'
import { freePort } from '../infra/services/child.ts'
import { startClickHouse } from '../infra/services/clickhouse.ts'
import { createClickHouse, selectRows } from '../shared/usage/clickhouse.ts'

const DATABASE = 'rebuild'
const ROWS_PER_INSERT = 1_000_000
const LOOKUPS = 1_000

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0)

// 1,000 customers, a month, two values, and the columns as the aggregator writes them.
const FILL = `INSERT INTO usage_events SELECT
  lower(hex(reinterpretAsFixedString(sipHash128(number)))), lower(hex(reinterpretAsFixedString(cityHash64(number)))),
  'plat_0000000000000000000001', 'LIVE', concat('reference-', toString(number)), concat('customer-', toString(number % 1000)),
  'requests', fromUnixTimestamp64Milli(toInt64(1767225600000 + number * 86 % 2592000000)), now64(3), ['input', 'output'],
  [toDecimal128(number % 1000, 12), toDecimal128(1, 12)], ['', ''], map('model', 'large'), '',
  0, intDiv(number, 100) + 1, number % 100, intDiv(number, 100) + 1, 0
  FROM numbers({from:UInt64}, {count:UInt64})`

async function main(): Promise<void> {
  const count = Number(process.argv[2] ?? 1_000_000)
  const folder = mkdtempSync(join(process.argv[3] ?? tmpdir(), 'millrace-index-rebuild-'))
  const service = await startClickHouse({ dataDir: join(folder, 'clickhouse'), port: await freePort(), log: print })
  const client = createClickHouse(service.url, DATABASE)
  try {
    await migrateClickHouse(service.url, DATABASE)
    for (let from = 0; from < count; from += ROWS_PER_INSERT) {
      const params = { from, count: Math.min(ROWS_PER_INSERT, count - from) }
      await client.command({ query: FILL, query_params: params })
    }
    print(`${count} events stored; rebuilding`)
    const index = await openFirstSeenIndex(join(folder, 'index'))
    const startedAt = performance.now()
    const cpu = process.cpuUsage()
    const of = {
      partition: 0,
      position: { seq: Math.ceil(count / 100), timeMs: 0, streamCreated: '' },
      stop: new AbortController().signal,
    }
    const claims = await rebuildIndex(client, index, of)
    const seconds = (performance.now() - startedAt) / 1000
    const { user, system } = process.cpuUsage(cpu)
    const { disk, memory } = index.bytes()
    print(
      `${claims} references in ${seconds.toFixed(1)} s (${Math.round(claims / seconds)}/s), ` +
        `${((user + system) / claims).toFixed(2)} us of our processor time each; ${megabytes(disk)} MB on disk, ` +
        `${megabytes(memory)} MB filters, ${megabytes(process.memoryUsage().rss)} MB resident`,
    )
    const some = await selectRows<[string, string, number]>(
      client,
      `SELECT toString(id_hash), log_seq, log_line FROM usage_events LIMIT ${LOOKUPS}`,
    )
    for (const [idHash, seq, line] of some) {
      const found = index.find(idHash)
      if (found?.seq !== Number(seq) || found.line !== line) throw new Error(`${idHash} is not where it was`)
    }
    await index.close()
  } finally {
    await client.close()
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

await main()
