// What a start of the api takes: processor time until it listens, which hardly depends on what else the machine does. On a busy
// machine a start takes several times as long as its processor time.
import { loginOf } from '../../shared/testing/database-logins.ts'
import { cpuSeconds } from '../cpu.ts'
import { startModule } from '../processes.ts'
import type { Setup } from '../setup.ts'

const STARTS = 5

/** The median of five starts in milliseconds; null where the system does not tell. */
export async function startCpuMs(setup: Setup, ingestUrl: string): Promise<number | null> {
  const clickhouseUrl = await setup.startClickHouse()
  const taken: number[] = []
  for (let each = 0; each < STARTS; each += 1) {
    const api = await startModule('api/main', {
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '0',
      LOG_LEVEL: 'info',
      DATABASE_URL: loginOf(setup.databaseUrl, 'millrace_app'),
      KEYS_DATABASE_URL: loginOf(setup.databaseUrl, 'millrace_gateway'),
      NATS_URL: setup.natsUrl,
      CLICKHOUSE_URL: clickhouseUrl,
      INGEST_URL: ingestUrl,
      IDENTITY_URL: ingestUrl,
    })
    const seconds = cpuSeconds(api.pid)
    await api.stop()
    if (seconds === null) return null
    taken.push(seconds * 1_000)
  }
  return taken.toSorted((a, b) => a - b)[Math.floor(STARTS / 2)] ?? null
}
