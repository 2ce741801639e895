// Says at the start what a 201 of this gateway is worth, and refuses to give any when it is worth less than DURABILITY requires.
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connectToBroker, untilBrokerAnswers } from '../../shared/log/connect.ts'
import { ackMeaning, durabilityFault, type LogDurability, readDurability } from '../../shared/log/durability.ts'
import type { Logger } from '../../shared/process/logger.ts'

export type DurabilityCheck = {
  readonly url: string
  readonly partitions: number
  readonly monitors: readonly string[]
  /** `local`: any broker will do, as long as the log says what it means. */
  readonly wanted: 'strict' | 'local'
  readonly logger: Logger
}

const CONNECT_TIMEOUT_MS = 10_000
const SETTLES_WITHIN_MS = 15_000
const SETTLE_PAUSE_MS = 500

const isUnsettled = ({ notAsked }: LogDurability, monitors: readonly string[]): boolean =>
  monitors.length > 0 && notAsked.length > 0

/**
 * Resolves with whether an acknowledged event outlives the loss of a machine. Throws under `strict` when it does not
 * (security 6.1), and when the streams cannot be read.
 */
export async function checkDurability({
  url,
  partitions,
  monitors,
  wanted,
  logger,
}: DurabilityCheck): Promise<boolean> {
  const connection = await connectToBroker({ url, logger, name: 'millrace-gateway', timeout: CONNECT_TIMEOUT_MS })
  try {
    const ask = () =>
      untilBrokerAnswers(
        async () => readDurability(await jetstreamManager(connection), { partitions, monitors }),
        logger,
      )
    let durability = await ask()
    // A server that was killed a moment ago still counts as taking part, and cannot be asked any more.
    for (const deadline = performance.now() + SETTLES_WITHIN_MS; isUnsettled(durability, monitors); ) {
      if (performance.now() > deadline) break
      await sleep(SETTLE_PAUSE_MS)
      durability = await ask()
    }
    const fault = durabilityFault(durability)
    if (fault === null) logger.info(durability, ackMeaning(durability))
    else if (wanted === 'local') logger.warn({ ...durability, fault }, `DURABILITY=local: ${ackMeaning(durability)}`)
    else
      throw new Error(
        `The usage log is not safe enough to accept events: ${fault}. Set it right (docs/operating.md, "Brokers"), ` +
          'or set DURABILITY=local to accept them all the same.',
      )
    return fault === null
  } finally {
    await connection.close()
  }
}
