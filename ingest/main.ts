// The gateway process: settings, start, and a stop that finishes what was begun.
import { createLogger } from '../shared/process/logger.ts'
import { stopSignal } from '../shared/process/process-stop.ts'
import { ingestConfig } from './config.ts'
import { startGateway } from './gateway.ts'

const config = ingestConfig(process.env)
const logger = createLogger('ingest', config.LOG_LEVEL)

async function main(): Promise<void> {
  // Until then nothing was accepted, and a signal ends the process at once.
  const gateway = await startGateway(config, logger)
  await stopSignal(logger)
  logger.info({}, 'stopping')
  gateway.stop().then(
    () => process.exit(0), // connections a client keeps open must not keep the process
    (error: unknown) => {
      logger.error({ err: error }, 'the gateway did not stop cleanly')
      process.exit(1)
    },
  )
}

main().catch((error: unknown) => {
  logger.error({ err: error }, 'the gateway cannot go on')
  // Connections opened before the failure would keep the process, and so its supervisor, waiting.
  process.exit(1)
})
