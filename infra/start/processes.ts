// Millrace's own processes as units of the supervisor.
import { join } from 'node:path'
import { type Child, startChild, waitUntilReady } from '../services/child.ts'
import { nodeArgs } from '../services/project.ts'
import { secretIn } from '../services/secret.ts'
import type { PORTS, ServiceUrls, Settings } from './settings.ts'
import type { Unit } from './supervisor.ts'

export type ProcessSpec = {
  readonly name: keyof typeof PORTS
  readonly module: string
  /** How long it may take to be ready, where that is not READY_TIMEOUT_MS. */
  readonly readyWithinMs?: number
  readonly env?: NodeJS.ProcessEnv
}

const READY_TIMEOUT_MS = 60_000
/** An aggregator that lost its index builds it again first, which takes minutes when there are many references. */
const REBUILD_TIMEOUT_MS = 3_600_000
/** Longer than a request may take, so that what was accepted is answered. */
const STOP_TIMEOUT_MS = 15_000

/** In the order they are started; the api fronts the others and comes last. */
export const PROCESSES: readonly ProcessSpec[] = [
  { name: 'identity', module: 'identity/main' },
  { name: 'ingest', module: 'ingest/main' },
  { name: 'aggregator', module: 'aggregator/main', readyWithinMs: REBUILD_TIMEOUT_MS },
  { name: 'worker', module: 'api/worker' },
  { name: 'api', module: 'api/main' },
]

export const pidFileOf = (dataDir: string, name: string): string => join(dataDir, 'run', `${name}.pid.json`)

async function readiness(url: string): Promise<string | null> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(3_000) })
    if (response.ok) return null
    return `/health/ready answers ${response.status} ${(await response.text()).slice(0, 300)}`
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cause instanceof Error ? cause.message : String(cause)
  }
}

function environment(settings: Settings, services: ServiceUrls, spec: ProcessSpec): NodeJS.ProcessEnv {
  return {
    // Everything on one machine is what this start is for: any broker is taken, and the gateway says what an ack of it means.
    DURABILITY: 'local',
    ...(services.natsMonitorUrl === undefined ? {} : { NATS_MONITOR_URL: services.natsMonitorUrl }),
    ...process.env,
    ...spec.env,
    DATA_DIR: settings.dataDir,
    HOST: settings.host,
    PORT: String(settings.port(spec.name)),
    BASE_URL: settings.addresses.base_url,
    IDENTITY_URL: settings.addresses.identity_url,
    // An operator's own secret wins; without one a start makes it once and finds it again.
    IDENTITY_SECRET: process.env['IDENTITY_SECRET'] ?? secretIn(join(settings.dataDir, 'identity.secret')),
    INGEST_URL: settings.addresses.ingest_url,
    DATABASE_URL: services.databaseUrl,
    NATS_URL: services.natsUrl,
    CLICKHOUSE_URL: services.clickhouseUrl,
    CLICKHOUSE_DATABASE: settings.clickhouseDatabase,
  }
}

/** One of our processes, spawned and not waited for. */
export const spawnProcess = (settings: Settings, services: ServiceUrls, spec: ProcessSpec): Promise<Child> =>
  startChild({
    name: spec.name,
    command: process.execPath,
    args: nodeArgs(spec.module),
    env: environment(settings, services, spec),
    port: settings.port(spec.name),
    pidFile: pidFileOf(settings.dataDir, spec.name),
    logFile: join(settings.dataDir, 'logs', `${spec.name}.log`),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })

/** One of our processes: spawned, and ready when its own /health/ready says so. */
export function processUnit(settings: Settings, services: ServiceUrls, spec: ProcessSpec): Unit {
  const url = new URL(settings.addresses.ingest_url)
  url.port = String(settings.port(spec.name))
  return {
    name: spec.name,
    start: async signal => {
      const child = await spawnProcess(settings, services, spec)
      try {
        await waitUntilReady(child, { timeoutMs: spec.readyWithinMs ?? READY_TIMEOUT_MS, signal }, () =>
          readiness(url.origin),
        )
      } catch (error) {
        await child.stop()
        throw error
      }
      return child
    },
  }
}
