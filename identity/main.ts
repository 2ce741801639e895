// The identity host: users, sign-in and tokens belong here. So far it holds its place in the start-up and tells its health.
import { collectDefaultMetrics, register } from 'prom-client'
import { loadConfig } from '../shared/config.ts'
import { databaseFault, openDatabase } from '../shared/database/database.ts'
import { startHealthServer } from '../shared/http/health-server.ts'
import { createLogger } from '../shared/logger.ts'
import { systemClock } from '../shared/time.ts'

const config = loadConfig(process.env, ['PORT', 'HOST', 'LOG_LEVEL', 'DATABASE_URL'])
const logger = createLogger('identity', config.LOG_LEVEL)

const POOL_MAX = 2

async function main(): Promise<void> {
  const stopped = new Promise<void>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  collectDefaultMetrics({ register })
  const database = await openDatabase({
    url: config.DATABASE_URL,
    role: 'millrace_app',
    clock: systemClock,
    logger,
    poolMax: POOL_MAX,
  })
  const health = await startHealthServer({ port: config.PORT, host: config.HOST, ready: () => databaseFault(database) })
  logger.info({ port: config.PORT }, 'identity host started')
  await stopped
  await health.close()
  await database.close()
  logger.info({}, 'identity host stopped')
}

main().catch((error: unknown) => {
  logger.error({ err: error }, 'the identity host cannot go on')
  // Connections opened before the failure would keep the process, and so its supervisor, waiting.
  process.exit(1)
})
