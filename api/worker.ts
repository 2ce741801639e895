// The worker process: relays changes and works on the jobs. Any number of them may run.
import { collectDefaultMetrics, register } from 'prom-client'
import { startHealthServer } from '../shared/http/health-server.ts'
import { createLogger, measureLog } from '../shared/process/logger.ts'
import { optimizeLater } from '../shared/process/optimize-later.ts'
import { stopSignal } from '../shared/process/process-stop.ts'
import { startJobs } from './jobs/runner.ts'
import { CONSUMERS, JOBS, REACTIONS } from './modules/modules.ts'
import { startWebhookSender } from './modules/webhooks/delivery/sender.ts'
import { openWorkerDeps, type WorkerDeps, workerConfig } from './worker-deps.ts'
import { startOutboxConsumers } from './workers/outbox-consumer.ts'
import { startOutboxRelay } from './workers/outbox-relay.ts'
import { createRounds } from './workers/rounds.ts'

const config = workerConfig(process.env)
const logger = createLogger('worker', config.LOG_LEVEL)

async function main(): Promise<void> {
  optimizeLater()
  collectDefaultMetrics({ register })
  measureLog(register)
  const { deps, fault, close } = await openWorkerDeps(config, { logger, registry: register })
  // Until then nothing was begun, and a signal ends the process at once.
  const stopped = stopSignal(logger)
  const jobs = await startJobs<WorkerDeps>(config.DATABASE_URL, JOBS, deps)
  const rounds = createRounds(deps.system)
  const following = { database: deps.system, rounds, failpoints: deps.failpoint, metrics: deps.metrics, logger }
  const relay = startOutboxRelay({ ...following, reactions: REACTIONS })
  const consumers = startOutboxConsumers(CONSUMERS, following)
  const sender = startWebhookSender({
    ...deps.webhooks,
    system: deps.system,
    database: deps.database,
    rounds,
    failpoints: deps.failpoint,
    metrics: deps.metrics,
    logger,
  })
  const ready = async () => jobs.fault() ?? (await fault())
  const health = await startHealthServer({ port: config.PORT, host: config.METRICS_HOST, registry: register, ready })
  logger.info({ port: config.PORT }, 'worker started')
  await stopped
  logger.info({}, 'stopping')
  await health.close()
  await Promise.all([relay.close(), consumers.close(), sender.close(), jobs.close()])
  await close()
  logger.info({}, 'worker stopped')
}

main().catch((error: unknown) => {
  logger.error({ err: error }, 'the worker stops: it cannot continue')
  // Connections opened before the failure would keep the process, and so its supervisor, waiting.
  process.exit(1)
})
