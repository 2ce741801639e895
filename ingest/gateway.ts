// Builds the gateway from its settings and takes it down in reverse. PostgreSQL and NATS must answer at the start; later
// the gateway outlives an outage of either.
import { createLiveKeys } from '../shared/access/live-keys.ts'
import { MESSAGE_BYTES_MAX } from '../shared/contracts/streams.ts'
import { openDatabase } from '../shared/database/database.ts'
import { createFailpoints } from '../shared/failpoint.ts'
import { startHealthServer } from '../shared/http/health-server.ts'
import { newId } from '../shared/ids.ts'
import type { Logger } from '../shared/process/logger.ts'
import { type Clock, systemClock } from '../shared/time.ts'
import { ingestRoutes } from './app.ts'
import type { IngestConfig } from './config.ts'
import { createLiveMeters } from './events/parse/live-meters.ts'
import { createNamedSubscriptions } from './events/parse/named-subscriptions.ts'
import { createPublisher } from './events/publish.ts'
import { createFindRepeats } from './events/repeats/find-repeats.ts'
import { createRecentEvents, type RecentEvents } from './events/repeats/recent.ts'
import { loadUws } from './http/load-uws.ts'
import { createBodyReader } from './http/read-body.ts'
import { startServer } from './http/server.ts'
import { later } from './later.ts'
import { createAllowance } from './limits/allowance.ts'
import { createLiveLimits, type LiveLimits } from './limits/live-limits.ts'
import { createRateLimits } from './limits/rate-limits.ts'
import { createShareBook } from './limits/share-book.ts'
import { joinShareNews } from './limits/share-news.ts'
import { checkDurability } from './log/check-durability.ts'
import { createFirstSeenClient } from './log/first-seen-client.ts'
import { openUsageLog, type UsageLog } from './log/usage-log.ts'
import { createMetrics, type IngestCounts, newCounts } from './metrics.ts'
import { createTenantCounts } from './tenant-counts.ts'

type Listening = {
  readonly port: number
  /** Where it says why it is not ready and what it measures. */
  readonly metricsPort: number
}
export type Gateway = Listening & {
  /** Takes no new connection, answers what is open, and releases everything. */
  stop(): Promise<void>
}

/** Events waiting for their message or its ack; beyond this a request is refused at once rather than kept waiting. */
const LOG_BYTES_MAX = 64 * 1024 * 1024

/** Monotonic: rates and waits do not depend on what the wall clock says. */
const nowMs = (): number => performance.now()

/** Starts the gateway. Throws when the binary, PostgreSQL, NATS or the port cannot be had; then nothing is left open. */
export async function startGateway(config: IngestConfig, logger: Logger, clock: Clock = systemClock): Promise<Gateway> {
  const closers: Closers = []
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    return { ...(await start(config, { logger, clock, closers })), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Closers = (() => Promise<void> | void)[]

type Context = { readonly logger: Logger; readonly clock: Clock; readonly closers: Closers }

async function start(config: IngestConfig, context: Context): Promise<Listening> {
  const { logger, clock, closers } = context
  const { uws, name: uwsName } = loadUws()
  const { keys, meters, limits, subscriptions, tenantCounts } = await openTenants(config, context)
  const log = await openUsageLog({
    url: config.NATS_URL,
    partitions: config.PARTITIONS,
    replicas: config.NATS_REPLICAS,
    failpoint: createFailpoints(config.FAILPOINT),
    logger,
    later,
  })
  closers.push(log.close)
  const counts = newCounts()
  counts.ackDurable = await checkDurability({
    url: config.NATS_URL,
    partitions: config.PARTITIONS,
    monitors: config.NATS_MONITOR_URL,
    wanted: config.DURABILITY,
    logger,
  })
  const { rates, gateways } = await openRates(limits, log, context)
  const recent = createRecentEvents(config.INGEST_RECENT_MAX)
  const { publisher, metrics } = createLogPublisher(config, { log, logger, counts, gateways, recent })
  const bodies = createBodyReader({ bytesMax: config.INGEST_BODY_BYTES_MAX, nowMs })
  closers.push(bodies.close)

  let stopping = false
  const fault = () => (stopping ? 'the gateway is stopping' : log.fault())
  const server = await startServer({
    uws,
    host: config.HOST,
    port: config.PORT,
    connectionsMax: config.INGEST_CONNECTIONS_MAX,
    logger,
    onRefused: error => counts.refused.set(error.code, (counts.refused.get(error.code) ?? 0) + 1),
    routes: ingestRoutes({
      keys,
      meters,
      limits,
      subscriptions,
      rates,
      publisher,
      ...createRepeats(log, recent),
      bodies,
      clock,
      logger,
      counts,
      tenantCounts,
      partitions: config.PARTITIONS,
      mayBeChunked: config.INGEST_CHUNKED === 'accept',
      fault,
    }),
  })
  counts.connections = server.connections
  closers.push(async () => {
    stopping = true
    await server.stop()
    await publisher.drained()
  })
  const health = await startHealthServer({
    port: config.METRICS_PORT,
    host: config.METRICS_HOST,
    registry: metrics.registry,
    ready: async () => fault(),
  })
  closers.push(health.close)
  logger.info({ port: server.port, metricsPort: health.port, uws: uwsName }, 'the gateway takes events')
  return { port: server.port, metricsPort: health.port }
}

/** Three connections listen for changes; three more load keys, meters and limits. */
const POOL_MIN = 6
/** How long a request with a key that is not known yet may wait for a connection: senders are answered within 5 s. */
const CONNECT_MS = 4_000

/** Who may send, what they measure and how much they may send, in memory. */
async function openTenants(config: IngestConfig, { logger, clock, closers }: Context) {
  const database = await openDatabase({
    url: config.DATABASE_URL,
    role: 'millrace_gateway',
    clock,
    logger,
    poolMax: Math.max(POOL_MIN, config.DATABASE_POOL_MAX),
    connectMs: CONNECT_MS,
  })
  closers.push(() => database.close())
  const tenantCounts = createTenantCounts({ database, logger, clock, gateway: newId('gate') })
  const keys = createLiveKeys({ database, logger })
  const meters = createLiveMeters({ database, logger })
  const batchMax = config.INGEST_BATCH_DEFAULT
  const limits = createLiveLimits({
    database,
    logger,
    defaults: {
      LIVE: { eventsPerSecond: config.INGEST_RATE_LIVE, batchMax },
      TEST: { eventsPerSecond: config.INGEST_RATE_TEST, batchMax },
    },
    most: { eventsPerSecond: config.INGEST_RATE_MAX, batchMax: config.INGEST_BATCH_MAX },
  })
  // Together: while PostgreSQL hangs each waits some seconds for it.
  closers.push(async () => void (await Promise.all([tenantCounts, keys, meters, limits].map(each => each.close()))))
  await Promise.all([keys.load(), meters.load(), limits.load()])
  const subscriptions = createNamedSubscriptions({ database, logger, nowMs })
  return { keys, meters, limits, subscriptions, tenantCounts }
}

/** The rate limits, shared with the other gateways on the broker. */
async function openRates(limits: LiveLimits, log: UsageLog, { logger, closers }: Context) {
  const gateway = newId('gate')
  let joinedAt: number | null = null
  const book = createShareBook({ gateway, nowMs })
  const rates = createRateLimits({ limits, shares: book, nowMs, emptyAt: () => joinedAt })
  const news = await joinShareNews({
    connection: log.connection,
    connected: () => log.fault() === null,
    book,
    measure: rates.measure,
    gateway,
    nowMs,
    logger,
  })
  closers.push(news.close)
  joinedAt = news.joinedAt
  return { rates, gateways: book.gateways }
}

/** Requests that are looked at for repeats which the memory does not hold: at once, and in a second. Each costs as much as an event. */
const LOOKS = { most: 100, perSecond: 10 }
/** Messages of the log that are read for the answers to repeats. Each may hold nearly a megabyte. */
const READS = { most: 400, perSecond: 100 }

/** What answers repeats with the event that counts: a part of all answers that leaves the rate of events as it is. */
function createRepeats(log: UsageLog, recent: RecentEvents) {
  const { places, event } = createFirstSeenClient(log.connection, () => log.fault() === null)
  const reads = createAllowance({ ...READS, nowMs })
  const bounded = <Args extends unknown[], Result>(read: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      if (!reads.take(1)) throw new Error('too many repeats a second for each to be read')
      return read(...args)
    }
  }
  return {
    repeats: createFindRepeats({ recent, places, allowance: createAllowance({ ...LOOKS, nowMs }), nowMs }),
    readMessage: bounded(log.read),
    readEvent: bounded(event),
  }
}

type PublisherDeps = {
  readonly log: UsageLog
  readonly logger: Logger
  readonly counts: IngestCounts
  readonly gateways: () => number
  readonly recent: RecentEvents
}

function createLogPublisher(config: IngestConfig, deps: PublisherDeps) {
  const publisher = createPublisher({
    partitions: config.PARTITIONS,
    recent: deps.recent,
    publish: async (partition, message) => {
      const { lines } = message
      const startedAt = performance.now()
      try {
        const seq = await deps.log.publish(partition, message)
        metrics.observeMessage(lines, (performance.now() - startedAt) / 1000)
        return seq
      } catch (error) {
        deps.logger.warn({ err: error, partition, lines }, 'a message of the usage log was not confirmed')
        throw error
      }
    },
    defer: setImmediate,
    later,
    nowMs,
    messageBytesMax: MESSAGE_BYTES_MAX,
    bytesMax: LOG_BYTES_MAX,
  })
  const metrics = createMetrics(deps.counts, publisher.counts, deps.gateways)
  return { publisher, metrics }
}
