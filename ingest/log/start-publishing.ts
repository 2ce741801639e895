// The usage log as the gateway's main thread sees it: orders to the thread that publishes, and its answers.
import { Worker } from 'node:worker_threads'
import type { Logger } from '../../shared/logger.ts'
import type { FromThread, ThreadSettings, ToThread } from './publishing-thread.ts'
import type { UsageLog } from './usage-log.ts'

type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void }

/** The thread's module. As TypeScript, in tests and development, it needs the loader in its own thread first. */
function startThread(workerData: ThreadSettings): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./publishing-thread.js', import.meta.url), { workerData })
  }
  const module = new URL('./publishing-thread.ts', import.meta.url).href
  const code = `import('tsx/esm/api').then(tsx => tsx.register()).then(() => import(${JSON.stringify(module)}))`
  return new Worker(code, { eval: true, workerData })
}

/**
 * Starts the thread and resolves when it is connected; rejects with what keeps it from that. A body given to `publish` must
 * lie in shared memory and stay unchanged until it is settled. A thread that ends by itself takes the process with it:
 * nobody could say any more what of the messages in flight was stored, and senders that get no answer resend.
 */
export async function startPublishing(settings: Omit<ThreadSettings, 'logLevel'>, logger: Logger): Promise<UsageLog> {
  const worker = startThread({ ...settings, logLevel: logger.level })
  const waiting = new Map<number, Waiting>()
  let [connected, closing, messages] = [true, false, 0]
  const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()))
  const tell = (order: ToThread): void => worker.postMessage(order)

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (news: FromThread) => {
      switch (news.kind) {
        case 'open':
          return resolve()
        case 'failed':
          return reject(news.error)
        case 'connected':
          connected = news.connected
          return undefined
        case 'answer': {
          const sender = waiting.get(news.message)
          waiting.delete(news.message)
          if (news.error) sender?.reject(news.error)
          else sender?.resolve()
          return undefined
        }
      }
    })
    worker.on('error', error => {
      logger.error({ err: error }, 'the thread that publishes failed')
      reject(error)
    })
  })
  worker.once('exit', code => {
    if (!closing) throw new Error(`the thread that publishes ended with ${code}`)
  })

  return {
    publish: (partition, body) =>
      new Promise((resolve, reject) => {
        messages += 1
        waiting.set(messages, { resolve, reject })
        tell({ kind: 'publish', message: messages, partition, body })
      }),
    fault: () => (connected ? null : 'NATS is not connected'),
    close: () => {
      closing = true
      tell({ kind: 'close' })
      return exited
    },
  }
}
