// The thread that talks to the broker. Encoding a message for NATS, writing it to the socket and reading its ack were a fifth
// of what a single event cost the thread that answers requests; here they run on another core (decision 0013).
import { parentPort, workerData } from 'node:worker_threads'
import { createFailpoints } from '../../shared/failpoint.ts'
import { createLogger } from '../../shared/logger.ts'
import { openUsageLog } from './usage-log.ts'

export type ThreadSettings = {
  readonly url: string
  readonly partitions: number
  readonly replicas: number
  readonly failpoint: string
  readonly logLevel: string
}
/** What the thread is told. A body lies in shared memory, and stays as it is until the answer. */
export type ToThread =
  | { readonly kind: 'publish'; readonly message: number; readonly partition: number; readonly body: Uint8Array }
  | { readonly kind: 'close' }
/** What it tells: once `open` or `failed`, and `answer` for each message. */
export type FromThread =
  | { readonly kind: 'open' }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'connected'; readonly connected: boolean }
  | { readonly kind: 'answer'; readonly message: number; readonly error: Error | null }

const port = parentPort
if (!port) throw new Error('this module runs as a thread of the gateway')
const tell = (news: FromThread): void => port.postMessage(news)
const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

const settings: ThreadSettings = workerData
try {
  const log = await openUsageLog({
    ...settings,
    failpoint: createFailpoints(settings.failpoint),
    logger: createLogger('ingest', settings.logLevel),
    onChange: connected => tell({ kind: 'connected', connected }),
  })
  port.on('message', (order: ToThread) => {
    if (order.kind === 'close') {
      void log.close().finally(() => port.close())
      return
    }
    const { message, partition, body } = order
    log.publish(partition, body).then(
      () => tell({ kind: 'answer', message, error: null }),
      (error: unknown) => tell({ kind: 'answer', message, error: errorOf(error) }),
    )
  })
  tell({ kind: 'open' })
} catch (error) {
  tell({ kind: 'failed', error: errorOf(error) })
}
