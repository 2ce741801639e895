// npm run bench: every path beside its bare limit, in one run on one machine, as ratios. Limit and subject take turns, and
// the ratio is the median of the turns, because a shared machine's speed drifts by more than the difference to be seen.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../infra/services/project.ts'
import type { LoadOptions, LoadResult } from './load/generator.ts'
import { type Running, runModule, startModule } from './processes.ts'
import { setUp } from './setup.ts'

type Turn = { readonly limit: number; readonly subject: number; readonly p99Ms: number }
export type Row = {
  readonly path: string
  readonly unit: string
  readonly turns: readonly Turn[]
  readonly ratio: number
  readonly budget: number
}

const TURNS = 3
const WARM_UP_MS = 1_500
const MEASURE_MS = 4_000
const SINGLE_CONNECTIONS = 128
const BATCH_CONNECTIONS = 32
const BATCH = 50

const run = newRun()
function newRun(): () => string {
  let count = 0
  return () => {
    count += 1
    return `${process.pid}-${count}`
  }
}

const load = (server: Running, apiKey: string, eventsPerRequest: number): Promise<LoadResult> =>
  runModule<LoadResult>('bench/load/generator', [
    JSON.stringify({
      port: server.port,
      path: eventsPerRequest === 1 ? '/v1/events/ingest' : '/v1/events/ingest-list',
      apiKey,
      connections: eventsPerRequest === 1 ? SINGLE_CONNECTIONS : BATCH_CONNECTIONS,
      eventsPerRequest,
      warmUpMs: WARM_UP_MS,
      measureMs: MEASURE_MS,
      run: run(),
    } satisfies LoadOptions),
  ])

const perSecond = (result: LoadResult): number => {
  const others = Object.entries(result.others)
  if (others.length > 0) throw new Error(`not every answer was 201: ${JSON.stringify(result.others)}`)
  return result.events / result.seconds
}

/** Single events: the gateway beside a handler that only reads the body. */
async function singleTurn(gateway: Running, bare: Running, apiKey: string): Promise<Turn> {
  const limit = perSecond(await load(bare, apiKey, 1))
  const subject = await load(gateway, apiKey, 1)
  return { limit, subject: perSecond(subject), p99Ms: subject.p99Ms }
}

/** Batches: the gateway beside one thread that only parses. */
async function batchTurn(gateway: Running, apiKey: string): Promise<Turn> {
  const { eventsPerSecond } = await runModule<{ eventsPerSecond: number }>('bench/limits/json-parse', [
    String(BATCH),
    String(MEASURE_MS),
  ])
  const subject = await load(gateway, apiKey, BATCH)
  return { limit: eventsPerSecond, subject: perSecond(subject), p99Ms: subject.p99Ms }
}

async function measure(path: string, unit: string, budget: number, turn: () => Promise<Turn>): Promise<Row> {
  const turns: Turn[] = []
  for (let each = 0; each < TURNS; each += 1) {
    const taken = await turn()
    turns.push(taken)
    console.log(
      `  ${path}: limit ${figure(taken.limit)}, ours ${figure(taken.subject)}, p99 ${taken.p99Ms.toFixed(1)} ms`,
    )
  }
  const ratios = turns.map(({ limit, subject }) => subject / limit).sort((a, b) => a - b)
  return { path, unit, turns, ratio: ratios[Math.floor(ratios.length / 2)] ?? 0, budget }
}

const figure = (value: number): string => Math.round(value).toLocaleString('en')

/** Most memory the process ever held, in MiB; null where the system does not tell. */
function peakMemoryMiB(pid: number): number | null {
  try {
    const peak = /VmHWM:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return peak ? Math.round(Number(peak[1]) / 1024) : null
  } catch {
    return null // no /proc on this system
  }
}

function report(rows: readonly Row[], gatewayMiB: number | null): void {
  console.log(
    `\n${'path'.padEnd(34)}${'limit'.padStart(12)}${'ours'.padStart(12)}${'ratio'.padStart(8)}${'budget'.padStart(8)}`,
  )
  for (const { path, unit, turns, ratio, budget } of rows) {
    const middle = turns.toSorted((a, b) => a.subject / a.limit - b.subject / b.limit)[Math.floor(turns.length / 2)]
    console.log(
      `${`${path} (${unit})`.padEnd(34)}${figure(middle?.limit ?? 0).padStart(12)}${figure(middle?.subject ?? 0).padStart(12)}` +
        `${ratio.toFixed(2).padStart(8)}${budget.toFixed(2).padStart(8)}${ratio >= budget ? '' : '  BELOW'}`,
    )
  }
  console.log(`gateway memory, peak: ${gatewayMiB ?? 'unknown'} MiB (budget 512)`)
  const folder = join(PROJECT_ROOT, 'bench', 'results')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${new Date().toISOString().replace(/[:.]/g, '-')}.json`)
  const machine = { cpus: cpus().length, model: cpus()[0]?.model ?? '', node: process.version }
  writeFileSync(file, `${JSON.stringify({ machine, rows, gatewayMiB }, null, 2)}\n`)
  console.log(`written to ${file}`)
}

console.log('starting servers')
const setup = await setUp()
try {
  const gateway = await startModule('ingest/main', {
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'info',
    DATABASE_URL: setup.databaseUrl,
    NATS_URL: setup.natsUrl,
    INGEST_RATE_LIVE: '100000000',
  })
  const bare = await startModule('bench/limits/bare-http', {})
  try {
    const rows = [
      await measure('single events', 'events/s', 0.45, () => singleTurn(gateway, bare, setup.apiKey)),
      await measure('batches of 50', 'events/s', 0.3, () => batchTurn(gateway, setup.apiKey)),
    ]
    report(rows, peakMemoryMiB(gateway.pid))
  } finally {
    await bare.stop()
    await gateway.stop()
  }
} finally {
  await setup.stop()
}
