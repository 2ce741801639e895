// The aggregator process: configuration, connections, start, and an orderly end.
import { join } from 'node:path'
import { collectDefaultMetrics, register } from 'prom-client'
import { loadConfig } from '../shared/config/config.ts'
import { isUnavailable } from '../shared/database/driver-errors.ts'
import { createFailpoints } from '../shared/failpoint.ts'
import { startHealthServer } from '../shared/http/health-server.ts'
import { connectToBroker } from '../shared/log/connect.ts'
import { createLogger, measureLog } from '../shared/process/logger.ts'
import { stopSignal } from '../shared/process/process-stop.ts'
import { untilAnswers } from '../shared/process/until-answers.ts'
import { systemClock } from '../shared/time.ts'
import { createClickHouse } from '../shared/usage/clickhouse.ts'
import { type Aggregator, startAggregator } from './aggregator.ts'
import { migrateClickHouse } from './clickhouse/migrate.ts'
import { createMetrics } from './metrics.ts'

const config = loadConfig(process.env, [
  'PORT',
  'METRICS_HOST',
  'LOG_LEVEL',
  'DATA_DIR',
  'AGGREGATOR_NAME',
  'NATS_URL',
  'NATS_REPLICAS',
  'PARTITIONS',
  'CLICKHOUSE_URL',
  'CLICKHOUSE_DATABASE',
  'FAILPOINT',
])
const logger = createLogger('aggregator', config.LOG_LEVEL)

async function main(): Promise<void> {
  collectDefaultMetrics({ register })
  measureLog(register)
  const stopped = new AbortController()
  let waitsFor: 'ClickHouse' | 'NATS' | null = 'ClickHouse'
  let aggregator: Aggregator | null = null
  // Answers from the beginning: taking up a partition may mean to rebuild its index, which takes minutes when it is large.
  const health = await startHealthServer({
    port: config.PORT,
    host: config.METRICS_HOST,
    registry: register,
    ready: async () => {
      if (waitsFor !== null) return `it waits for ${waitsFor}`
      return aggregator === null ? 'its partitions are being taken up' : aggregator.ready()
    },
  })
  const client = createClickHouse(config.CLICKHOUSE_URL, config.CLICKHOUSE_DATABASE)
  try {
    // Every statement of it may be run again.
    const migrate = () => migrateClickHouse(config.CLICKHOUSE_URL, config.CLICKHOUSE_DATABASE)
    await untilAnswers(migrate, { server: 'ClickHouse', isAway: isUnavailable, logger })
    waitsFor = 'NATS'
    // The log is the whole input: without it there is nothing to do but wait for it.
    const nats = await connectToBroker({
      url: config.NATS_URL,
      logger,
      maxReconnectAttempts: -1,
      name: 'aggregator',
    })
    waitsFor = null
    // Until then nothing was taken, and a signal ends the process at once.
    void stopSignal(logger).then(() => stopped.abort())
    try {
      aggregator = await startAggregator({
        nats,
        client,
        clock: systemClock,
        logger,
        metrics: createMetrics(register, config.PARTITIONS),
        failpoints: createFailpoints(config.FAILPOINT),
        partitions: config.PARTITIONS,
        replicas: config.NATS_REPLICAS,
        indexDirectory: join(config.DATA_DIR, 'index', config.AGGREGATOR_NAME ?? `aggregator-${health.port}`),
        stop: stopped,
      })
      logger.info({ partitions: aggregator.held() }, 'aggregator started')
      await aggregator.done
    } catch (error) {
      // Stopped while the broker did not answer: nothing was taken.
      if (error !== stopped.signal.reason) throw error
    } finally {
      await nats.close()
    }
  } finally {
    await client.close()
    await health.close()
  }
  logger.info({}, 'aggregator stopped')
}

main().catch((error: unknown) => {
  logger.error({ err: error }, 'the aggregator cannot go on')
  process.exitCode = 1
})
