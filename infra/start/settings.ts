// What one start is made of: where it keeps its data, which services it brings itself, and who listens where.
import { resolve } from 'node:path'
import { loadConfig } from '../../shared/config/config.ts'
import type { Logins } from '../../shared/database/logins.ts'
import { PROJECT_ROOT } from '../services/project.ts'
import type { Addresses } from './accounts.ts'

/** Offsets from PORT_BASE. */
export const PORTS = {
  api: 0,
  identity: 1,
  ingest: 2,
  aggregator: 3,
  worker: 4,
  clickhouse: 5,
  postgres: 6,
  nats: 7,
  natsMonitor: 8,
  apiMetrics: 9,
  identityMetrics: 10,
  ingestMetrics: 11,
  'worker-2': 12,
  'worker-3': 13,
  'worker-4': 14,
} as const

/** Where each process says how it is and what it measures: beside its public port, or on its only one. */
export const METRICS_PORTS = {
  api: 'apiMetrics',
  identity: 'identityMetrics',
  ingest: 'ingestMetrics',
  aggregator: 'aggregator',
  worker: 'worker',
  'worker-2': 'worker-2',
  'worker-3': 'worker-3',
  'worker-4': 'worker-4',
} as const satisfies Record<string, keyof typeof PORTS>
export type ProcessName = keyof typeof METRICS_PORTS

export type ServiceUrls = {
  /** With the owner's password: for migrations and set-up, and in the environment of no process. */
  readonly databaseUrl: string
  readonly logins: Logins
  readonly natsUrl: string
  readonly clickhouseUrl: string
  /** Where the embedded broker tells how it is configured; left out when the broker is not ours. */
  readonly natsMonitorUrl?: string
}
type ExternalUrls = Omit<ServiceUrls, 'natsMonitorUrl' | 'logins'>

export type Settings = {
  readonly dataDir: string
  readonly host: string
  readonly clickhouseDatabase: string
  /** How many workers are started. */
  readonly workers: number
  /** Services that run elsewhere; null: the embedded one is started. */
  readonly external: { readonly [Name in keyof ExternalUrls]: string | null }
  readonly addresses: Addresses
  port(name: keyof typeof PORTS): number
  /** Where a process serves its metrics and the whole of its readiness. */
  metricsUrl(name: ProcessName): string
}

/** Reads and checks the environment. Throws one error that lists every fault. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const given = (name: 'DATABASE_URL' | 'NATS_URL' | 'CLICKHOUSE_URL' | 'IDENTITY_URL'): string | null =>
    env[name] ? loadConfig(env, [name])[name] : null
  const config = loadConfig(env, [
    'DATA_DIR',
    'PORT_BASE',
    'HOST',
    'METRICS_HOST',
    'CLICKHOUSE_DATABASE',
    'WORKERS',
    'BASE_URL',
    'LOG_LEVEL',
  ])
  const port = (name: keyof typeof PORTS) => config.PORT_BASE + PORTS[name]
  const urlOf = (name: keyof typeof PORTS) => `http://${reachable(config.HOST)}:${port(name)}`
  const baseUrl = config.BASE_URL ?? urlOf('api')
  return {
    dataDir: resolve(PROJECT_ROOT, config.DATA_DIR),
    host: config.HOST,
    clickhouseDatabase: config.CLICKHOUSE_DATABASE,
    workers: config.WORKERS,
    external: {
      databaseUrl: given('DATABASE_URL'),
      natsUrl: given('NATS_URL'),
      clickhouseUrl: given('CLICKHOUSE_URL'),
    },
    addresses: {
      base_url: baseUrl,
      identity_url: given('IDENTITY_URL') ?? urlOf('identity'),
      ingest_url: urlOf('ingest'),
      console_url: `${baseUrl}/console`,
    },
    port,
    metricsUrl: name => `http://${reachable(config.METRICS_HOST)}:${port(METRICS_PORTS[name])}`,
  }
}

/** An address to listen on is not always one to call. */
const reachable = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host)
