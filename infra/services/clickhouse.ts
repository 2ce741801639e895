// The embedded ClickHouse service: a child process around chDB that speaks ClickHouse's HTTP interface.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Progress, type Service, startChild, waitUntilReady } from './child.ts'
import { nodeArgs } from './project.ts'
import { secretIn } from './secret.ts'

export type ServiceOptions = {
  /** The folder of this service alone, made if missing. */
  readonly dataDir: string
  readonly port: number
  /** Of a service that tells how it is configured on another port than it serves; left out: it does not. */
  readonly monitorPort?: number
  readonly log: Progress
  /** Gives up the start: what was begun is ended and the start rejects. */
  readonly signal?: AbortSignal
}

const READY_TIMEOUT_MS = 60_000

async function ping(port: number): Promise<string | null> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/ping`, { signal: AbortSignal.timeout(2_000) })
    return response.ok ? null : `/ping answers ${response.status}`
  } catch (error) {
    return `/ping: ${error instanceof Error ? error.message : error}`
  }
}

/** Starts the embedded ClickHouse and waits until it answers. The url carries the user and its random password. */
export async function startClickHouse({ dataDir, port, log, signal }: ServiceOptions): Promise<Service> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const password = secretIn(join(dataDir, 'password'))
  const child = await startChild({
    name: 'ClickHouse',
    command: process.execPath,
    args: nodeArgs('infra/clickhouse-server/main'),
    env: {
      ...process.env,
      PORT: String(port),
      CLICKHOUSE_DATA: join(dataDir, 'data'),
      CLICKHOUSE_PASSWORD: password,
      UV_THREADPOOL_SIZE: '8',
      // The engine takes its time zone from the machine; a server's is UTC.
      TZ: 'UTC',
    },
    port,
    pidFile: join(dataDir, 'server.pid.json'),
    logFile: join(dataDir, 'server.log'),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 20_000,
  })
  try {
    await waitUntilReady(child, { timeoutMs: READY_TIMEOUT_MS, signal }, () => ping(port))
  } catch (error) {
    await child.kill()
    throw error
  }
  log(`ClickHouse (embedded chDB) answers on port ${port}`)
  return { url: `http://default:${password}@127.0.0.1:${port}`, child, stop: () => child.stop() }
}
