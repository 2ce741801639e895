// The aggregator process: configuration, connections, start, and an orderly end.
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { register } from 'prom-client'
import { loadConfig } from '../shared/config.ts'
import { createFailpoints } from '../shared/failpoint.ts'
import { startHealthServer } from '../shared/http/health-server.ts'
import { brokerAddress } from '../shared/log/address.ts'
import { createLogger } from '../shared/logger.ts'
import { systemClock } from '../shared/time.ts'
import { createClickHouse } from '../shared/usage/clickhouse.ts'
import { startAggregator } from './aggregator.ts'
import { migrateClickHouse } from './clickhouse/migrate.ts'
import { createMetrics } from './metrics.ts'

const config = loadConfig(process.env, [
  'PORT',
  'HOST',
  'LOG_LEVEL',
  'DATA_DIR',
  'NATS_URL',
  'NATS_REPLICAS',
  'PARTITIONS',
  'CLICKHOUSE_URL',
  'CLICKHOUSE_DATABASE',
  'FAILPOINT',
])
const logger = createLogger('aggregator', config.LOG_LEVEL)

async function main(): Promise<void> {
  const stopped = new Promise<void>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  await migrateClickHouse(config.CLICKHOUSE_URL, config.CLICKHOUSE_DATABASE)
  const client = createClickHouse(config.CLICKHOUSE_URL, config.CLICKHOUSE_DATABASE)
  // The log is the whole input: without it there is nothing to do but wait for it.
  const nats = await connect({ ...brokerAddress(config.NATS_URL), maxReconnectAttempts: -1, name: 'aggregator' })
  const aggregator = await startAggregator({
    nats,
    client,
    clock: systemClock,
    logger,
    metrics: createMetrics(register),
    failpoints: createFailpoints(config.FAILPOINT),
    partitions: config.PARTITIONS,
    replicas: config.NATS_REPLICAS,
    indexDirectory: join(config.DATA_DIR, 'index'),
  })
  const health = await startHealthServer({ port: config.PORT, host: config.HOST, ready: aggregator.ready })
  logger.info({ partitions: config.PARTITIONS }, 'aggregator started')
  try {
    await Promise.race([stopped, aggregator.done])
  } finally {
    await health.close()
    await aggregator.stop()
    await nats.close()
    await client.close()
  }
  logger.info({}, 'aggregator stopped')
}

main().catch((error: unknown) => {
  logger.error({ err: error }, 'the aggregator cannot go on')
  process.exitCode = 1
})
