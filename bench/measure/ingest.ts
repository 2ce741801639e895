// The gateway beside its limits: accepted, that is acknowledged, events a second.
import { countCpu } from '../cpu.ts'
import type { LoadOptions, LoadResult } from '../load/generator.ts'
import { type Running, runModule } from '../processes.ts'
import type { Turn } from '../report.ts'
import type { Setup } from '../setup.ts'

const WARM_UP_MS = 1_500
const MEASURE_MS = 4_000
/** Enough that the gateway is kept busy while messages wait for the fsync of the broker. One request at a time on each. */
const SINGLE_CONNECTIONS = 384
const BATCH_CONNECTIONS = 128
export const BATCH = 50

let runs = 0

/** Loads a server with requests of so many events, for a while or as said. Rejects unless every answer was 201. */
export async function load(
  server: Running,
  apiKey: string,
  eventsPerRequest: number,
  pace: Partial<Pick<LoadOptions, 'measureMs' | 'eventsPerSecond' | 'minute'>> = {},
): Promise<LoadResult> {
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
      ...pace,
    } satisfies LoadOptions),
  ])
  if (Object.keys(result.others).length > 0) {
    throw new Error(`not every answer was 201: ${JSON.stringify(result.others)}`)
  }
  return result
}

const perSecond = (result: LoadResult): number => result.events / result.seconds

/** Loads a server and tells, beside the result, what it cost these processes and the generator. */
async function costed(server: Running, apiKey: string, events: number, pids: Readonly<Record<string, number>>) {
  const count = countCpu(pids)
  const result = await load(server, apiKey, events)
  return { result, costs: { ...count(result.acceptedEvents), generator: result.cpuMicrosEach } }
}

/** Single events: the gateway beside a handler that only reads the body. */
export async function singleTurn({ apiKey, pids }: Setup, gateway: Running, bare: Running): Promise<Turn> {
  const limit = await costed(bare, apiKey, 1, { handler: bare.pid })
  const subject = await costed(gateway, apiKey, 1, { gateway: gateway.pid, ...pids })
  return {
    limit: perSecond(limit.result),
    subject: perSecond(subject.result),
    p99Ms: subject.result.p99Ms,
    costs: subject.costs,
    limitCosts: limit.costs,
  }
}

/** Batches: the gateway beside one thread that only parses the same bodies. */
export async function batchTurn({ apiKey, pids }: Setup, gateway: Running): Promise<Turn> {
  const limit = await runModule<{ eventsPerSecond: number; cpuMicrosEach: number }>('bench/limits/json-parse', [
    String(BATCH),
    String(MEASURE_MS),
  ])
  const { result, costs } = await costed(gateway, apiKey, BATCH, { gateway: gateway.pid, ...pids })
  return {
    limit: limit.eventsPerSecond,
    subject: perSecond(result),
    p99Ms: result.p99Ms,
    costs,
    limitCosts: { parser: limit.cpuMicrosEach },
  }
}
