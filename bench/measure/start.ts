// What a start of the api takes: processor time until it listens, which hardly depends on what else the machine does. On a busy
// machine a start takes several times as long as its processor time.
import { cpuSeconds } from '../cpu.ts'
import { startApi } from '../product.ts'
import type { Setup } from '../setup.ts'

const STARTS = 5

/** The median of five starts in milliseconds; null where the system does not tell. */
export async function startCpuMs(setup: Setup, ingestUrl: string): Promise<number | null> {
  const clickhouseUrl = await setup.startClickHouse()
  const taken: number[] = []
  for (let each = 0; each < STARTS; each += 1) {
    const api = await startApi(setup, clickhouseUrl, { PORT: '0', INGEST_URL: ingestUrl, IDENTITY_URL: ingestUrl })
    const seconds = cpuSeconds(api.pid)
    await api.stop()
    if (seconds === null) return null
    taken.push(seconds * 1_000)
  }
  return taken.toSorted((a, b) => a - b)[Math.floor(STARTS / 2)] ?? null
}
