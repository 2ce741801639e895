// A message that is filled and then in flight, with the events in it and the requests that wait for its ack.

import { Message } from './message.ts'
import { type EventKeys, KeySet } from './repeats/event-key.ts'

/** `failed`: at least one event of the request has no ack; it may be in the log all the same, so the sender must resend. */
export type PublishOutcome = 'acked' | 'failed'
export type Settled = (outcome: PublishOutcome) => void

/** A request that waits for messages. It starts at one, so that it cannot settle while those are still being counted. */
export class Waiter {
  private left = 1
  private outcome: PublishOutcome = 'acked'
  private readonly settled: Settled

  constructor(settled: Settled) {
    this.settled = settled
  }

  waitFor(queued: QueuedMessage): void {
    // The events of one request come one after another, so this is all it takes to count a message once.
    if (queued.waiters.at(-1) === this) return
    queued.waiters.push(this)
    this.left += 1
  }

  finish(outcome: PublishOutcome): void {
    if (outcome === 'failed') this.outcome = 'failed'
    this.left -= 1
    if (this.left === 0) this.settled(this.outcome)
  }
}

export type QueuedMessage = {
  readonly message: Message
  readonly keys: KeySet
  readonly waiters: Waiter[]
  bytes: number
}

/** The queue of one partition: the message in flight, and those that wait. The last of them still takes events. */
export type PartitionQueue = { inFlight: QueuedMessage | null; readonly waiting: QueuedMessage[] }

/** Messages that are filled again; making them and their tables anew was a tenth of the work on a batch. */
const SPARE_MAX = 32

export class MessagePool {
  private readonly messageBytesMax: number
  private readonly spare: QueuedMessage[] = []

  constructor(messageBytesMax: number) {
    this.messageBytesMax = messageBytesMax
  }

  /**
   * The message, waiting or in flight, that carries this very event with this content already; or else the one that takes its
   * line of so many bytes: the last that waits, or a new one. Adding the key to it tells which.
   */
  messageFor(queue: PartitionQueue, keys: EventKeys, at: number, bytes: number): QueuedMessage {
    const { inFlight, waiting } = queue
    if (inFlight?.keys.has(keys, at)) return inFlight
    for (let each = 0; each < waiting.length; each += 1) {
      const queued = waiting[each]
      if (queued === undefined) continue
      const isFilling = each === waiting.length - 1 && queued.message.fits(bytes)
      if (isFilling || queued.keys.has(keys, at)) return queued
    }
    const message = (): Message => new Message(this.messageBytesMax)
    const queued = this.spare.pop() ?? { message: message(), keys: new KeySet(), waiters: [], bytes: 0 }
    waiting.push(queued)
    return queued
  }

  /** Takes a message to be filled again. Only what was acked: a message that was not may still wait to be sent. */
  recycle(queued: QueuedMessage): void {
    if (this.spare.length === SPARE_MAX) return
    queued.message.clear()
    queued.keys.clear()
    queued.waiters.length = 0
    queued.bytes = 0
    this.spare.push(queued)
  }
}
