// The worker process: relays changes and works on the jobs. Any number of them may run.
import { collectDefaultMetrics, register } from 'prom-client'
import { Pool } from 'undici'
import { loadConfig } from '../shared/config.ts'
import { databaseFault, openDatabase } from '../shared/database/database.ts'
import { createFailpoints } from '../shared/failpoint.ts'
import { startHealthServer } from '../shared/http/health-server.ts'
import { createLogger } from '../shared/logger.ts'
import { OUTBOUND_SETTINGS, outboundPolicy } from '../shared/outbound/judge-url.ts'
import { createOutboundAgent } from '../shared/outbound/outbound-agent.ts'
import { systemClock } from '../shared/time.ts'
import { lookForAlerts } from './modules/alerts/evaluate/look-for-alerts.ts'
import { DOWNLOAD_WAITS_MS } from './modules/files/download/download-file.ts'
import { runBilling } from './modules/invoices/run-billing.ts'
import { runReprocess } from './modules/reprocess/run-reprocess.ts'
import { openUsage } from './open-usage.ts'
import { clickHouseFault } from './readiness.ts'
import { findUsedIds } from './usage/known-references.ts'
import { startAlertJobs } from './workers/alert-jobs.ts'
import { billingOf, queueBilling } from './workers/billing-run.ts'
import { downloadsOf, queueDownloads, startDownloadJobs } from './workers/download-jobs.ts'
import { queueFiles, settleUsage, startFileJobs, uploadsOf } from './workers/file-jobs.ts'
import { prepareJobSchema } from './workers/job-schema.ts'
import { startJobs } from './workers/jobs.ts'
import { createWorkerMetrics } from './workers/metrics.ts'
import { startOutboxRelay } from './workers/outbox-relay.ts'
import { queueReprocesses, reprocessesOf } from './workers/reprocess.ts'

const config = loadConfig(process.env, [
  'PORT',
  'HOST',
  'LOG_LEVEL',
  'DATABASE_URL',
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
  ...OUTBOUND_SETTINGS,
  'FAILPOINT',
])
const logger = createLogger('worker', config.LOG_LEVEL)

/** Of each of the two roles; the queues have their own few besides. */
const POOL_MAX = 8

/** Calls of two files at a time. */
const GATEWAY_CONNECTIONS_MAX = 32
const GATEWAY_PATIENCE_MS = 60_000

/** A server that is slower than this at any step is tried again later. */
const DOWNLOAD_TIMES = { connectMs: 10_000, headMs: 60_000, silenceMs: 60_000 }

async function main(): Promise<void> {
  const stopped = new Promise<void>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  collectDefaultMetrics({ register })
  const metrics = createWorkerMetrics(register)
  const failpoint = createFailpoints(config.FAILPOINT)
  const shared = { url: config.DATABASE_URL, clock: systemClock, logger, poolMax: POOL_MAX }
  await prepareJobSchema(config.DATABASE_URL)
  const workerDatabase = await openDatabase({ ...shared, role: 'millrace_worker' })
  const database = await openDatabase({ ...shared, role: 'millrace_app' })
  const { client, usage, logFault, close: closeUsage } = await openUsage(config, 'worker')
  const jobs = await startJobs(config.DATABASE_URL, {
    database: workerDatabase,
    billing: {
      database,
      runBilling: (tenant, subscriptionId) => runBilling({ database, usage, failpoint }, tenant, subscriptionId),
      metrics,
      logger,
    },
    reprocess: run => runReprocess({ database, usage, failpoint }, run),
    metrics,
    logger,
  })
  const gateway = new Pool(config.INGEST_URL, { connections: GATEWAY_CONNECTIONS_MAX })
  const files = await startFileJobs(config.DATABASE_URL, {
    database: workerDatabase,
    work: {
      database,
      gateway,
      eventsPerSecond: { LIVE: config.INGEST_RATE_LIVE, TEST: config.INGEST_RATE_TEST },
      share: config.FILE_RATE_PERCENT / 100,
      findUsedIds: (lease, idHashes) => findUsedIds(client, lease.tenant, idHashes),
      settleUsage: () => settleUsage(usage),
      patienceMs: GATEWAY_PATIENCE_MS,
      failpoint,
    },
    metrics,
    logger,
  })
  const policy = outboundPolicy(config)
  const agent = createOutboundAgent(policy, DOWNLOAD_TIMES)
  const downloads = await startDownloadJobs(config.DATABASE_URL, {
    database: workerDatabase,
    appDatabase: database,
    download: {
      agent,
      policy,
      limits: { fileBytesMax: config.FILE_BYTES_MAX, storageBytesMax: config.FILE_STORAGE_BYTES_MAX },
      deadlineMs: config.FILE_DOWNLOAD_SECONDS * 1_000,
      waitsMs: DOWNLOAD_WAITS_MS,
      failpoint,
    },
    metrics,
    logger,
  })
  const alerts = await startAlertJobs(config.DATABASE_URL, {
    database: workerDatabase,
    lookForAlerts: tenant => lookForAlerts({ database, usage, logger, failpoint }, tenant),
    metrics,
    logger,
  })
  const relay = startOutboxRelay({
    database: workerDatabase,
    react: async (tx, rows) => {
      await queueBilling(tx, billingOf(rows))
      await queueReprocesses(tx, reprocessesOf(rows))
      await queueFiles(tx, uploadsOf(rows))
      await queueDownloads(tx, downloadsOf(rows))
    },
    failpoints: failpoint,
    metrics,
    logger,
  })
  const ready = async () =>
    jobs.fault() ??
    files.fault() ??
    downloads.fault() ??
    alerts.fault() ??
    logFault() ??
    (await databaseFault(workerDatabase)) ??
    (await clickHouseFault(client))
  const health = await startHealthServer({ port: config.PORT, host: config.HOST, ready })
  logger.info({ port: config.PORT }, 'worker started')
  await stopped
  logger.info({}, 'stopping')
  await health.close()
  await relay.close()
  await Promise.all([jobs.close(), files.close(), downloads.close(), alerts.close()])
  await Promise.all([gateway.destroy(), agent.destroy()])
  await closeUsage()
  await database.close()
  await workerDatabase.close()
  logger.info({}, 'worker stopped')
}

main().catch((error: unknown) => {
  logger.error({ err: error }, 'the worker cannot go on')
  // Connections opened before the failure would keep the process, and so its supervisor, waiting.
  process.exit(1)
})
