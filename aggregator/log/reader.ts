// Reads one partition of the log in order, ahead of its consumer by a bounded number of messages.
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConsumerMessages, DeliverPolicy, type JetStreamClient, type JsMsg } from '@nats-io/jetstream'
import { streamName } from '../../shared/contracts/streams.ts'
import type { Logger } from '../../shared/process/logger.ts'
import type { LogMessage } from '../outcome.ts'

export type ReaderDeps = {
  readonly js: JetStreamClient
  readonly logger: Logger
  /** Called whenever a message was added. */
  readonly onMessage: () => void
}
export type PartitionReader = {
  /** Messages waiting to be taken. */
  waiting(): number
  /** Whether it holds all it may: the consumer is behind. */
  full(): boolean
  /** Removes and returns waiting messages in order: at least one if any waits, at most these numbers. */
  take(messagesMax: number, bytesMax: number): LogMessage[]
  close(): Promise<void>
}

/** What is held of a partition for a consumer that is busy; reading pauses at either bound. */
const AHEAD_MESSAGES_MAX = 256
const AHEAD_BYTES_MAX = 2 * 1024 * 1024
/** Messages asked of the broker at once, of up to 1 MB each; they come on top of what is held. */
const PULL_MESSAGES = 32
const REOPEN_DELAY_MS = 500
/**
 * How long one pull waits at the broker, and with it how long the client waits before it asks again when a restarted broker
 * did not answer at first: 30 s by default, in which nothing accepted would become visible.
 */
const PULL_EXPIRES_MS = 2_000

/** Starts reading after position `after`. It reads on through broker restarts until it is closed. */
export function openReader(deps: ReaderDeps, partition: number, after: number): PartitionReader {
  const queue: LogMessage[] = []
  let bytes = 0
  let lastSeq = after
  let closed = false
  let messages: ConsumerMessages | null = null
  let roomMade: (() => void) | null = null

  const full = (): boolean => queue.length >= AHEAD_MESSAGES_MAX || bytes >= AHEAD_BYTES_MAX

  async function readOn(): Promise<void> {
    const consumer = await deps.js.consumers.get(streamName(partition), {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: lastSeq + 1,
    })
    messages = await consumer.consume({ max_messages: PULL_MESSAGES, expires: PULL_EXPIRES_MS })
    // close() would wait for the iteration below, which has not begun.
    if (closed) messages.stop()
    for await (const message of messages) {
      if (closed) return
      // After a reconnection a message may come a second time.
      if (message.seq <= lastSeq) continue
      queue.push(logMessage(message))
      bytes += message.data.length
      lastSeq = message.seq
      deps.onMessage()
      if (full()) await new Promise<void>(resolve => (roomMade = resolve))
    }
  }

  async function readForever(): Promise<void> {
    while (!closed) {
      try {
        await readOn()
      } catch (error) {
        deps.logger.warn({ partition, err: error }, 'reading the usage log failed; opening it again')
      }
      if (!closed) await sleep(REOPEN_DELAY_MS)
    }
  }

  const done = readForever()
  return {
    waiting: () => queue.length,
    full,
    take(messagesMax, bytesMax) {
      const taken = queue.splice(0, countWithin(queue, messagesMax, bytesMax))
      for (const message of taken) bytes -= message.bytes
      if (!full()) roomMade?.()
      return taken
    },
    async close() {
      closed = true
      roomMade?.()
      await messages?.close()
      await done
    },
  }
}

const logMessage = (message: JsMsg): LogMessage => ({
  seq: message.seq,
  timeMs: message.time.getTime(),
  bytes: message.data.length,
  body: message.string(),
})

function countWithin(queue: readonly LogMessage[], messagesMax: number, bytesMax: number): number {
  let count = 0
  let total = 0
  for (const { bytes } of queue) {
    total += bytes
    if (count > 0 && (count >= messagesMax || total > bytesMax)) break
    count += 1
  }
  return count
}
