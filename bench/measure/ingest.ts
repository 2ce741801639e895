// The gateway beside its limits: accepted, that is acknowledged, events a second.
import type { LoadOptions, LoadResult } from '../load/generator.ts'
import { type Running, runModule } from '../processes.ts'
import type { Turn } from '../report.ts'

const WARM_UP_MS = 1_500
const MEASURE_MS = 4_000
/** Enough that the broker's fsync, some milliseconds a message, is shared by many. One request at a time on each. */
const SINGLE_CONNECTIONS = 256
const BATCH_CONNECTIONS = 64
export const BATCH = 50

let runs = 0

/** Loads a server with requests of so many events. Rejects unless every answer was 201. */
export async function load(server: Running, apiKey: string, eventsPerRequest: number): Promise<LoadResult> {
  runs += 1
  const result = await runModule<LoadResult>('bench/load/generator', [
    JSON.stringify({
      port: server.port,
      path: eventsPerRequest === 1 ? '/v1/events/ingest' : '/v1/events/ingest-list',
      apiKey,
      connections: eventsPerRequest === 1 ? SINGLE_CONNECTIONS : BATCH_CONNECTIONS,
      eventsPerRequest,
      warmUpMs: WARM_UP_MS,
      measureMs: MEASURE_MS,
      run: `${process.pid}-${runs}`,
    } satisfies LoadOptions),
  ])
  if (Object.keys(result.others).length > 0) {
    throw new Error(`not every answer was 201: ${JSON.stringify(result.others)}`)
  }
  return result
}

const perSecond = (result: LoadResult): number => result.events / result.seconds

/** Single events: the gateway beside a handler that only reads the body. */
export async function singleTurn(gateway: Running, bare: Running, apiKey: string): Promise<Turn> {
  const limit = perSecond(await load(bare, apiKey, 1))
  const subject = await load(gateway, apiKey, 1)
  return { limit, subject: perSecond(subject), p99Ms: subject.p99Ms }
}

/** Batches: the gateway beside one thread that only parses the same bodies. */
export async function batchTurn(gateway: Running, apiKey: string): Promise<Turn> {
  const { eventsPerSecond } = await runModule<{ eventsPerSecond: number }>('bench/limits/json-parse', [
    String(BATCH),
    String(MEASURE_MS),
  ])
  const subject = await load(gateway, apiKey, BATCH)
  return { limit: eventsPerSecond, subject: perSecond(subject), p99Ms: subject.p99Ms }
}
