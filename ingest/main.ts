// The gateway process: settings, start, and a stop that finishes what was begun.
import { createLogger } from '../shared/logger.ts'
import { ingestConfig } from './config.ts'
import { startGateway } from './gateway.ts'

const config = ingestConfig(process.env)
const logger = createLogger('ingest', config.LOG_LEVEL)
const gateway = await startGateway(config, logger)

let stopping = false
const stop = (signal: string): void => {
  if (stopping) return
  stopping = true
  logger.info({ signal }, 'stopping')
  gateway.stop().then(
    () => process.exit(0), // connections a client keeps open must not keep the process
    (error: unknown) => {
      logger.error({ err: error }, 'the gateway did not stop cleanly')
      process.exit(1)
    },
  )
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
