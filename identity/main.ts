// The identity host's process: settings, connections, start, and a stop that answers what is open.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { collectDefaultMetrics, register } from 'prom-client'
import { loadConfig } from '../shared/config/config.ts'
import { databaseFault, openDatabase } from '../shared/database/database.ts'
import { startHealthServer } from '../shared/http/health-server.ts'
import { type MailTransport, mailboxTransport, smtpOf } from '../shared/mail/transport.ts'
import type { OutboundPolicy } from '../shared/outbound/judge-url.ts'
import { createOutboundRequest } from '../shared/outbound/outbound-request.ts'
import { createLogger, measureLog } from '../shared/process/logger.ts'
import { stopSignal } from '../shared/process/process-stop.ts'
import { systemClock } from '../shared/time.ts'
import { buildIdentity } from './app.ts'
import type { DocumentAccess } from './client-documents/fetch-document.ts'
import { createKeystore } from './keys/keystore.ts'
import { startMailer } from './mail/mailer.ts'
import { startMaintenance } from './maintenance.ts'

const config = loadConfig(process.env, [
  'PORT',
  'HOST',
  'METRICS_PORT',
  'METRICS_HOST',
  'LOG_LEVEL',
  'DATABASE_URL',
  'DATABASE_POOL_MAX',
  'IDENTITY_URL',
  'BASE_URL',
  'IDENTITY_SECRET',
  'OAUTH_REDIRECT_SCHEMES',
  'OAUTH_CLIENT_DOCUMENTS',
  'TRUSTED_PROXIES',
  'DATA_DIR',
  'SMTP_URL',
  'MAIL_FROM',
])
const logger = createLogger('identity', config.LOG_LEVEL)

/** How long a call waits for a connection to PostgreSQL: callers are answered within 5 s. */
const CONNECT_MS = 4_000

async function main(): Promise<void> {
  // Tokens name the api by this address, so it is not to be guessed here.
  if (config.BASE_URL === null)
    throw new Error('BASE_URL is not set: the public address of the api, which tokens are for')
  collectDefaultMetrics({ register })
  measureLog(register)
  const database = await openDatabase({
    url: config.DATABASE_URL,
    role: 'millrace_identity',
    clock: systemClock,
    logger,
    poolMax: config.DATABASE_POOL_MAX,
    connectMs: CONNECT_MS,
  })
  const keystore = createKeystore(database, config.IDENTITY_SECRET)
  await keystore.rotate()
  const runMaintenance = startMaintenance({ database, keystore, logger })
  const mailer = startMailer({ database, transport: mailTransport(), identityUrl: config.IDENTITY_URL, logger })
  const clientDocuments = config.OAUTH_CLIENT_DOCUMENTS === 'accept' ? documentAccess() : null
  const ready = () => databaseFault(database)
  const app = await buildIdentity({
    keystore,
    secret: config.IDENTITY_SECRET,
    redirectSchemes: config.OAUTH_REDIRECT_SCHEMES,
    clientDocuments,
    trustedProxies: config.TRUSTED_PROXIES,
    onTokenReuse: found => logger.warn(found, 'a refresh token was used twice; its grant is revoked'),
    database,
    logger,
    identityUrl: config.IDENTITY_URL,
    baseUrl: config.BASE_URL,
    ready,
  })
  // Until then nothing was accepted, and a signal ends the process at once.
  const stopped = stopSignal(logger)
  await app.listen({ port: config.PORT, host: config.HOST })
  const health = await startHealthServer({
    port: config.METRICS_PORT,
    host: config.METRICS_HOST,
    registry: register,
    ready,
  })
  logger.info({ port: config.PORT, metricsPort: health.port }, 'identity host started')
  await stopped
  await health.close()
  await app.close()
  await mailer.stop()
  await runMaintenance.stop()
  await database.close()
  logger.info({}, 'identity host stopped')
}

/**
 * How documents of clients are reached: on the public internet alone. OUTBOUND_HOSTS is for users, and anybody may name a
 * document. Documents are short, so what is slow is given up.
 */
function documentAccess(): DocumentAccess {
  const policy: OutboundPolicy = { ports: { 'https:': [443], 'http:': [] }, hosts: new Set() }
  return { policy, request: createOutboundRequest(policy, { connectMs: 2_000, headMs: 3_000, silenceMs: 2_000 }) }
}

/** Mail by SMTP, or into a file where no server is set. Throws when a server is, and nothing to send from. */
function mailTransport(): MailTransport {
  const { MAIL_FROM: from, DATA_DIR: folder } = config
  const server = smtpOf(config)
  if (server !== null) return server.transport
  const file = join(folder, 'mail.mbox')
  logger.info({ file }, 'SMTP_URL is not set; mail is written to a file')
  mkdirSync(folder, { recursive: true })
  return mailboxTransport(file, from ?? 'Millrace <no-reply@localhost>', () => new Date())
}

main().catch((error: unknown) => {
  logger.error({ err: error }, 'the identity host cannot go on')
  // Connections opened before the failure would keep the process, and so its supervisor, waiting.
  process.exit(1)
})
