// The gateway's settings, from the environment.
import { type Config, loadConfig } from '../shared/config/config.ts'

const NAMES = [
  'HOST',
  'PORT',
  'METRICS_HOST',
  'METRICS_PORT',
  'LOG_LEVEL',
  'DATABASE_URL',
  'DATABASE_POOL_MAX',
  'NATS_URL',
  'NATS_REPLICAS',
  'NATS_MONITOR_URL',
  'DURABILITY',
  'PARTITIONS',
  'INGEST_BODY_BYTES_MAX',
  'INGEST_BATCH_DEFAULT',
  'INGEST_BATCH_MAX',
  'INGEST_RATE_LIVE',
  'INGEST_RATE_TEST',
  'INGEST_RATE_MAX',
  'INGEST_RECENT_MAX',
  'INGEST_CHUNKED',
  'INGEST_CONNECTIONS_MAX',
  'FAILPOINT',
] as const

export type IngestConfig = Config<(typeof NAMES)[number]>

/** Throws one error that lists every fault. */
export const ingestConfig = (env: Record<string, string | undefined>): IngestConfig => loadConfig(env, NAMES)
