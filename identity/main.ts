// The identity host's process: settings, connections, start, and a stop that answers what is open.
import { collectDefaultMetrics, register } from 'prom-client'
import { loadConfig } from '../shared/config.ts'
import { databaseFault, openDatabase } from '../shared/database/database.ts'
import { createLogger } from '../shared/logger.ts'
import { systemClock } from '../shared/time.ts'
import { buildIdentity } from './app.ts'
import { createKeystore } from './keys/keystore.ts'
import { startUpkeep } from './upkeep.ts'

const config = loadConfig(process.env, [
  'PORT',
  'HOST',
  'LOG_LEVEL',
  'DATABASE_URL',
  'DATABASE_POOL_MAX',
  'IDENTITY_URL',
  'BASE_URL',
  'IDENTITY_SECRET',
  'OAUTH_REDIRECT_SCHEMES',
])
const logger = createLogger('identity', config.LOG_LEVEL)

async function main(): Promise<void> {
  // Tokens name the api by this address, so it is not to be guessed here.
  if (config.BASE_URL === null)
    throw new Error('BASE_URL is not set: the public address of the api, which tokens are for')
  const stopped = new Promise<void>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  collectDefaultMetrics({ register })
  const database = await openDatabase({
    url: config.DATABASE_URL,
    role: 'millrace_identity',
    clock: systemClock,
    logger,
    poolMax: config.DATABASE_POOL_MAX,
  })
  const keystore = createKeystore(database, config.IDENTITY_SECRET)
  await keystore.rotate()
  const upkeep = startUpkeep({ database, keystore, logger })
  const app = await buildIdentity({
    keystore,
    secret: config.IDENTITY_SECRET,
    redirectSchemes: config.OAUTH_REDIRECT_SCHEMES,
    onTokenReuse: found => logger.warn(found, 'a refresh token was used twice; its grant is revoked'),
    database,
    logger,
    identityUrl: config.IDENTITY_URL,
    baseUrl: config.BASE_URL,
    ready: () => databaseFault(database),
  })
  await app.listen({ port: config.PORT, host: config.HOST })
  logger.info({ port: config.PORT }, 'identity host started')
  await stopped
  await app.close()
  await upkeep.stop()
  await database.close()
  logger.info({}, 'identity host stopped')
}

main().catch((error: unknown) => {
  logger.error({ err: error }, 'the identity host cannot go on')
  // Connections opened before the failure would keep the process, and so its supervisor, waiting.
  process.exit(1)
})
