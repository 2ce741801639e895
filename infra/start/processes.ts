// Millrace's own processes as units of the supervisor.
import { join } from 'node:path'
import { SECRET_SETTINGS } from '../../shared/config/config.ts'
import { STOP_GRACE_MS } from '../../shared/process/process-stop.ts'
import { type Child, startChild, type WantedPorts, waitUntilReady } from '../services/child.ts'
import { nodeArgs } from '../services/project.ts'
import { secretIn } from '../services/secret.ts'
import { METRICS_PORTS, type ProcessName, type ServiceUrls, type Settings } from './settings.ts'
import type { Unit } from './supervisor.ts'

export type ProcessSpec = {
  readonly name: ProcessName
  readonly module: string
  /** What else it is given, beyond its settings: the secrets of its own work and no others. */
  readonly needs: readonly Need[]
  /** How long it may take to be ready, where that is not READY_TIMEOUT_MS. */
  readonly readyWithinMs?: number
  readonly env?: NodeJS.ProcessEnv
  /** Whether it calls others of these: it is stopped before they are. */
  readonly isFront?: boolean
}

const READY_TIMEOUT_MS = 60_000
/** An aggregator that lost its index builds it again first, which takes minutes when there are many references. */
const REBUILD_TIMEOUT_MS = 3_600_000
/** A process ends by itself before that, whatever hangs. */
export const STOP_TIMEOUT_MS = STOP_GRACE_MS + 3_000

const WORKER: ProcessSpec = {
  name: 'worker',
  module: 'api/worker',
  needs: ['worker logins', 'data secret', 'mail', 'nats', 'clickhouse'],
  isFront: true,
}
const FURTHER_WORKERS = (['worker-2', 'worker-3', 'worker-4'] as const).map(name => ({ ...WORKER, name }))

/** One of each, in the order they are started; the api fronts the others and comes last. */
export const PROCESSES: readonly ProcessSpec[] = [
  { name: 'identity', module: 'identity/main', needs: ['identity login', 'identity secret', 'mail'] },
  { name: 'ingest', module: 'ingest/main', needs: ['gateway login', 'nats'] },
  {
    name: 'aggregator',
    module: 'aggregator/main',
    needs: ['nats', 'clickhouse'],
    readyWithinMs: REBUILD_TIMEOUT_MS,
  },
  WORKER,
  { name: 'api', module: 'api/main', needs: ['api logins', 'data secret', 'nats', 'clickhouse'], isFront: true },
]

/** The same with so many workers; without a number, all that any start runs. */
export const processesWith = (workers = 1 + FURTHER_WORKERS.length): ProcessSpec[] =>
  PROCESSES.flatMap(spec => (spec === WORKER ? [WORKER, ...FURTHER_WORKERS.slice(0, workers - 1)] : [spec]))

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

type Need =
  | 'identity login'
  | 'identity secret'
  | 'data secret'
  | 'mail'
  | 'gateway login'
  | 'worker logins'
  | 'api logins'
  | 'nats'
  | 'clickhouse'

/** The settings that hold a secret, each for the processes that need it. */
function secretsOf(
  settings: Settings,
  { logins, natsUrl, clickhouseUrl }: ServiceUrls,
): Record<Need, NodeJS.ProcessEnv> {
  const { IDENTITY_SECRET: own, DATA_SECRET: ownOfData, SMTP_URL: smtp } = process.env
  return {
    'identity login': { DATABASE_URL: logins.millrace_identity },
    // An operator's own secret wins; without one a start makes it once and finds it again.
    'identity secret': { IDENTITY_SECRET: own ?? secretIn(join(settings.dataDir, 'identity.secret')) },
    'data secret': { DATA_SECRET: ownOfData ?? secretIn(join(settings.dataDir, 'data.secret')) },
    mail: smtp === undefined ? {} : { SMTP_URL: smtp },
    'gateway login': { DATABASE_URL: logins.millrace_gateway },
    'worker logins': { DATABASE_URL: logins.millrace_worker, APP_DATABASE_URL: logins.millrace_app },
    'api logins': { DATABASE_URL: logins.millrace_app, KEYS_DATABASE_URL: logins.millrace_gateway },
    nats: { NATS_URL: natsUrl },
    clickhouse: { CLICKHOUSE_URL: clickhouseUrl },
  }
}

/** What this start was given, without the secrets among it. */
function inherited(): NodeJS.ProcessEnv {
  const given = Object.entries(process.env)
  return Object.fromEntries(given.filter(([name]) => !SECRET_SETTINGS.has(name) && !ADDRESSES.has(name)))
}

/** They carry a password where the service asks for one. */
const ADDRESSES: ReadonlySet<string> = new Set(['NATS_URL', 'CLICKHOUSE_URL'])

/** The environment of one process: its settings, and of the secrets those it needs. */
export function environmentOf(settings: Settings, services: ServiceUrls, spec: ProcessSpec): NodeJS.ProcessEnv {
  const secrets = secretsOf(settings, services)
  return {
    // Everything on one machine is what this start is for: any broker is taken, and the gateway says what an ack of it means.
    DURABILITY: 'local',
    ...(services.natsMonitorUrl === undefined ? {} : { NATS_MONITOR_URL: services.natsMonitorUrl }),
    ...inherited(),
    ...spec.env,
    DATA_DIR: settings.dataDir,
    HOST: settings.host,
    PORT: String(settings.port(spec.name)),
    METRICS_PORT: String(settings.port(METRICS_PORTS[spec.name])),
    BASE_URL: settings.addresses.base_url,
    IDENTITY_URL: settings.addresses.identity_url,
    INGEST_URL: settings.addresses.ingest_url,
    CLICKHOUSE_DATABASE: settings.clickhouseDatabase,
    ...Object.assign({}, ...spec.needs.map(need => secrets[need])),
  }
}

/** The ports on which a process listens. */
export const portsOf = (settings: Settings, { name }: Pick<ProcessSpec, 'name'>): WantedPorts => ({
  name,
  port: settings.port(name),
  metricsPort: settings.port(METRICS_PORTS[name]),
})

/** One of our processes, spawned and not waited for. Throws when one of its two ports is in use. */
export const spawnProcess = (settings: Settings, services: ServiceUrls, spec: ProcessSpec): Promise<Child> =>
  startChild({
    ...portsOf(settings, spec),
    command: process.execPath,
    args: nodeArgs(spec.module),
    env: environmentOf(settings, services, spec),
    pidFile: pidFileOf(settings.dataDir, spec.name),
    logFile: join(settings.dataDir, 'logs', `${spec.name}.log`),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })

/** One of our processes: spawned, and ready when its own /health/ready says so. */
export function processUnit(settings: Settings, services: ServiceUrls, spec: ProcessSpec): Unit {
  const url = settings.metricsUrl(spec.name)
  return {
    name: spec.name,
    isFront: spec.isFront ?? false,
    start: async signal => {
      const child = await spawnProcess(settings, services, spec)
      try {
        await waitUntilReady(child, { timeoutMs: spec.readyWithinMs ?? READY_TIMEOUT_MS, signal }, () => readiness(url))
      } catch (error) {
        await child.stop()
        throw error
      }
      return child
    },
  }
}
