// Questions to a broker that is between two leaders.
import { setTimeout as sleep } from 'node:timers/promises'
import { JetStreamApiError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'

const PATIENCE_MS = 30_000
const PAUSE_MS = 500

/**
 * Asks again for as long as nobody is there to answer: a cluster that lost a server takes some seconds to choose who
 * leads instead. Throws the last error after half a minute, and every other error at once. `ask` must be safe to
 * repeat.
 */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!isNobodyThere(error) || performance.now() > deadline) throw error
      await sleep(PAUSE_MS)
    }
  }
}

const SERVICE_UNAVAILABLE = 503

const isNobodyThere = (error: unknown): boolean =>
  error instanceof errors.TimeoutError ||
  error instanceof errors.NoRespondersError ||
  error instanceof errors.RequestError ||
  (error instanceof Error && error.name === 'JetStreamNotEnabled') ||
  (error instanceof JetStreamApiError && error.status === SERVICE_UNAVAILABLE)
