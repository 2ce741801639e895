// What the worker's jobs work with, opened once for all of them.
import type { Registry } from 'prom-client'
import { Pool } from 'undici'
import { loadConfig } from '../shared/config/config.ts'
import { databaseFault, openDatabase } from '../shared/database/database.ts'
import { createFailpoints } from '../shared/failpoint.ts'
import { smtpOf } from '../shared/mail/transport.ts'
import { OUTBOUND_SETTINGS, outboundPolicy } from '../shared/outbound/judge-url.ts'
import { createOutboundRequest } from '../shared/outbound/outbound-request.ts'
import type { Logger } from '../shared/process/logger.ts'
import { systemClock } from '../shared/time.ts'
import { clickHouseFault } from '../shared/usage/clickhouse.ts'
import { createWorkerMetrics } from './jobs/metrics.ts'
import { DOWNLOAD_WAITS_MS } from './modules/ingestion/files/download/download-file.ts'
import { settleUsage } from './modules/ingestion/files/process/file-jobs.ts'
import type { FileWorkDeps } from './modules/ingestion/files/process/work-on-file.ts'
import { httpTaxEngine } from './modules/invoices/tax/answers/http-engine.ts'
import { invoiceProducers, RULES } from './modules/modules.ts'
import { createPost, WEBHOOK_TIMES } from './modules/webhooks/request/post.ts'
import { createOpener } from './modules/webhooks/request/request.ts'
import { openUsage } from './open-usage.ts'
import { withRules } from './resource/rules.ts'
import { findUsedIds } from './usage/known-references.ts'

/** Of each of the two roles; the queues have their own few besides. */
const POOL_MAX = 8
/** Calls of two files at a time. */
const GATEWAY_CONNECTIONS_MAX = 32
const GATEWAY_PATIENCE_MS = 60_000
/** A server that is slower than this at any step is tried again later. */
const DOWNLOAD_TIMES = { connectMs: 10_000, headMs: 60_000, silenceMs: 60_000 }
const RATES_TIMES = { connectMs: 10_000, headMs: 20_000, silenceMs: 20_000 }
/** The rates of a day have a few kilobytes. */
const RATES_LIMITS = { bytesMax: 1_000_000, deadlineMs: 30_000 }

/** It asks the registers of the member states, which take seconds. */
const VIES_TIMES = { connectMs: 10_000, headMs: 30_000, silenceMs: 10_000 }
const VIES_MS = 45_000

export const workerConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, [
    'PORT',
    'METRICS_HOST',
    'LOG_LEVEL',
    'DATABASE_URL',
    'APP_DATABASE_URL',
    'NATS_URL',
    'PARTITIONS',
    'CLICKHOUSE_URL',
    'CLICKHOUSE_DATABASE',
    'INGEST_URL',
    'INGEST_RATE_LIVE',
    'INGEST_RATE_TEST',
    'FILE_RATE_PERCENT',
    'FILE_BYTES_MAX',
    'FILE_STORAGE_BYTES_MAX',
    'FILE_DOWNLOAD_SECONDS',
    'OUTBOX_RETENTION_DAYS',
    'DATA_SECRET',
    'SMTP_URL',
    'MAIL_FROM',
    'VIES_URL',
    'TAX_ENGINE_URL',
    'TAX_ENGINE_SECRET',
    ...OUTBOUND_SETTINGS,
    'FAILPOINT',
  ])

export type WorkerDeps = Awaited<ReturnType<typeof openWorkerDeps>>['deps']

/** Opens everything, and says how to tell whether it is there and how to close it. `database` has the login of the api. */
export async function openWorkerDeps(
  config: ReturnType<typeof workerConfig>,
  of: { logger: Logger; registry: Registry },
) {
  const { logger } = of
  const failpoint = createFailpoints(config.FAILPOINT)
  const shared = { clock: systemClock, logger, poolMax: POOL_MAX }
  const system = await openDatabase({ ...shared, url: config.DATABASE_URL, role: 'millrace_worker' })
  const app = await openDatabase({ ...shared, url: config.APP_DATABASE_URL, role: 'millrace_app' })
  // No route is declared here, so no role could be given a permission here; nothing in the worker changes roles.
  const database = withRules(app, RULES, { permissions: new Set() })
  const { client, usage, events, logFault, close: closeUsage } = await openUsage(config, { name: 'worker', logger })
  const gateway = new Pool(config.INGEST_URL, { connections: GATEWAY_CONNECTIONS_MAX })
  const policy = outboundPolicy(config)
  const mail = smtpOf(config)
  const files = {
    database,
    gateway,
    eventsPerSecond: { LIVE: config.INGEST_RATE_LIVE, TEST: config.INGEST_RATE_TEST },
    share: config.FILE_RATE_PERCENT / 100,
    findUsedIds: (lease, idHashes) => findUsedIds(client, lease.tenant, idHashes),
    settleUsage: () => settleUsage(usage),
    patienceMs: GATEWAY_PATIENCE_MS,
    failpoint,
  } satisfies FileWorkDeps
  const download = {
    request: createOutboundRequest(policy, DOWNLOAD_TIMES),
    policy,
    limits: { fileBytesMax: config.FILE_BYTES_MAX, storageBytesMax: config.FILE_STORAGE_BYTES_MAX },
    deadlineMs: config.FILE_DOWNLOAD_SECONDS * 1_000,
    waitsMs: DOWNLOAD_WAITS_MS,
    failpoint,
  }
  return {
    deps: {
      system,
      database,
      usage,
      producers: invoiceProducers({ database, usage, failpoint }),
      events,
      files,
      download,
      failpoint,
      webhooks: {
        post: createPost({ request: createOutboundRequest(policy, WEBHOOK_TIMES), policy }),
        open: createOpener(config.DATA_SECRET),
      },
      rates: { request: createOutboundRequest(policy, RATES_TIMES), policy, ...RATES_LIMITS },
      mail,
      vies:
        config.VIES_URL === null
          ? null
          : { url: config.VIES_URL, request: createOutboundRequest(policy, VIES_TIMES), policy, deadlineMs: VIES_MS },
      taxEngine: httpTaxEngine(config),
      outboxRetentionDays: config.OUTBOX_RETENTION_DAYS,
      metrics: createWorkerMetrics(of.registry),
      logger,
    },
    fault: async (): Promise<string | null> =>
      logFault() ?? (await databaseFault(system)) ?? (await clickHouseFault(client)),
    close: async (): Promise<void> => {
      mail?.transport.close()
      await gateway.destroy()
      await closeUsage()
      await database.close()
      await system.close()
    },
  }
}
