// The api process: settings, connections, start, and a stop that answers what is open.
import { collectDefaultMetrics, register } from 'prom-client'
import { Pool } from 'undici'
import { createLiveKeys } from '../shared/access/live-keys.ts'
import { loadConfig } from '../shared/config/config.ts'
import { openDatabase } from '../shared/database/database.ts'
import { createFailpoints } from '../shared/failpoint.ts'
import { startHealthServer } from '../shared/http/health-server.ts'
import { OUTBOUND_SETTINGS, outboundPolicy } from '../shared/outbound/judge-url.ts'
import { createOutboundRequest } from '../shared/outbound/outbound-request.ts'
import { createLogger, measureLog } from '../shared/process/logger.ts'
import { stopSignal } from '../shared/process/process-stop.ts'
import { createStartPhases } from '../shared/process/start-phases.ts'
import { systemClock } from '../shared/time.ts'
import { createPermissionCache } from './access/permission-cache.ts'
import { openTokenAccess } from './access/token-access.ts'
import { buildApp } from './app.ts'
import { createLiveRates } from './http/rate-limit/live-rates.ts'
import { createRequestLimits } from './http/rate-limit/request-limits.ts'
import { createReadTurns } from './http/read-turns.ts'
import { httpTaxEngine } from './modules/invoices/tax/answers/http-engine.ts'
import { createPost, WEBHOOK_TIMES } from './modules/webhooks/request/post.ts'
import { openUsage } from './open-usage.ts'
import { readiness } from './readiness.ts'

const config = loadConfig(process.env, [
  'PORT',
  'HOST',
  'METRICS_PORT',
  'METRICS_HOST',
  'LOG_LEVEL',
  'DATABASE_URL',
  'KEYS_DATABASE_URL',
  'DATABASE_POOL_MAX',
  'NATS_URL',
  'PARTITIONS',
  'CLICKHOUSE_URL',
  'CLICKHOUSE_DATABASE',
  'INGEST_URL',
  'INGEST_BODY_BYTES_MAX',
  'INGEST_BATCH_MAX',
  'INGEST_RATE_MAX',
  'IDENTITY_URL',
  'FILE_BYTES_MAX',
  'FILE_STORAGE_BYTES_MAX',
  'DATA_SECRET',
  'MAIL_FROM',
  'TAX_ENGINE_URL',
  'TAX_ENGINE_SECRET',
  ...OUTBOUND_SETTINGS,
  'BASE_URL',
  'MCP_ORIGINS',
  'API_RATE_CREDENTIAL',
  'API_RATE_ADDRESS',
  'TRUSTED_PROXIES',
  'FAILPOINT',
])
const logger = createLogger('api', config.LOG_LEVEL)

// One connection each listens for changes of keys, grants, memberships and platforms; the others read them.
const KEYS_POOL_MAX = 6
const GATEWAY_CONNECTIONS_MAX = 64
/** The share of the connections to PostgreSQL that the reads of one tenant may use at once. */
const READS_SHARE = 0.6
/** How long a call waits for a connection to PostgreSQL: callers are answered within 5 s. */
const CONNECT_MS = 4_000
/** A statement is given up before the call that waits for it is refused. */
const STATEMENT_MS = 20_000

async function main(): Promise<void> {
  const phases = createStartPhases()
  phases.ended('code')
  collectDefaultMetrics({ register })
  measureLog(register)
  const shared = { clock: systemClock, logger, connectMs: CONNECT_MS, statementMs: STATEMENT_MS }
  const { DATABASE_URL: url, KEYS_DATABASE_URL: keysUrl, DATABASE_POOL_MAX: poolMax } = config
  const database = await openDatabase({ ...shared, url, role: 'millrace_app', poolMax })
  // Keys of all tenants are read with the gateway's login, which may see no more than that.
  const keyDatabase = await openDatabase({ ...shared, url: keysUrl, role: 'millrace_gateway', poolMax: KEYS_POOL_MAX })
  const keys = createLiveKeys({ database: keyDatabase, logger })
  await keys.load()
  phases.ended('database')
  const { client, usage, events, close: closeUsage } = await openUsage(config, { name: 'api', logger }, STATEMENT_MS)
  phases.ended('usage')
  const gateway = new Pool(config.INGEST_URL, { connections: GATEWAY_CONNECTIONS_MAX })
  const identity = new Pool(config.IDENTITY_URL, { connections: 1 })
  const addresses = {
    baseUrl: config.BASE_URL ?? `http://${config.HOST}:${config.PORT}`,
    identityUrl: config.IDENTITY_URL,
  }
  const permissionCache = createPermissionCache({ database: keyDatabase, logger, nowMs: () => performance.now() })
  const nowMs = () => performance.now()
  const rates = createLiveRates({ database: keyDatabase, logger, nowMs, perSecond: config.API_RATE_CREDENTIAL })
  const limits = createRequestLimits({ rates, nowMs, addressPerSecond: config.API_RATE_ADDRESS })
  const tokens = await openTokenAccess({ database: keyDatabase, logger, ...addresses, nowMs: Date.now })
  phases.ended('tokens')
  const policy = outboundPolicy(config)
  const ready = () => readiness({ database, client, peers: { gateway, 'identity host': identity } })
  const app = await buildApp({
    tokens,
    permissionCache,
    limits,
    readTurns: createReadTurns(Math.max(1, Math.floor(poolMax * READS_SHARE))),
    trustedProxies: config.TRUSTED_PROXIES,
    addresses,
    mcpOrigins: config.MCP_ORIGINS,
    database,
    keys,
    usage,
    events,
    files: { fileBytesMax: config.FILE_BYTES_MAX, storageBytesMax: config.FILE_STORAGE_BYTES_MAX },
    outbound: policy,
    dataSecret: config.DATA_SECRET,
    // Only the workers get SMTP_URL, which holds a password. MAIL_FROM is set together with it.
    sendsMail: config.MAIL_FROM !== null,
    taxEngine: httpTaxEngine(config),
    postWebhook: createPost({ request: createOutboundRequest(policy, WEBHOOK_TIMES), policy }),
    logger,
    failpoint: createFailpoints(config.FAILPOINT),
    gateway: { dispatcher: gateway, bodyBytesMax: config.INGEST_BODY_BYTES_MAX },
    ingestCeilings: { eventsPerSecond: config.INGEST_RATE_MAX, batchLimit: config.INGEST_BATCH_MAX },
    operations: { registry: register, ready },
  })
  phases.ended('routes')
  await app.ready()
  phases.ended('server')
  // Until then nothing was accepted, and a signal ends the process at once.
  const stopped = stopSignal(logger)
  await app.listen({ port: config.PORT, host: config.HOST })
  const health = await startHealthServer({
    port: config.METRICS_PORT,
    host: config.METRICS_HOST,
    registry: register,
    ready,
  })
  phases.ended('listen')
  logger.info({ port: config.PORT, metricsPort: health.port, ...phases.durations() }, 'api started')
  await stopped
  logger.info({}, 'stopping')
  await health.close()
  await app.close()
  await Promise.all([gateway.destroy(), identity.destroy()])
  await closeUsage()
  await Promise.all([keys.close(), tokens.close(), permissionCache.close(), rates.close()])
  await keyDatabase.close()
  await database.close()
  logger.info({}, 'api stopped')
}

main().catch((error: unknown) => {
  logger.error({ err: error }, 'the api cannot go on')
  // Connections opened before the failure would keep the process, and so its supervisor, waiting.
  process.exit(1)
})
