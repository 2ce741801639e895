// A message while it fills and flies, with the events in it and the requests that wait for its ack.

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

  waitFor(parcel: Parcel): void {
    // The events of one request come one after another, so this is all it takes to count a parcel once.
    if (parcel.waiters.at(-1) === this) return
    parcel.waiters.push(this)
    this.left += 1
  }

  finish(outcome: PublishOutcome): void {
    if (outcome === 'failed') this.outcome = 'failed'
    this.left -= 1
    if (this.left === 0) this.settled(this.outcome)
  }
}

export type Parcel = {
  readonly message: Message
  readonly keys: KeySet
  readonly waiters: Waiter[]
  bytes: number
}

/** One partition: the message in flight, and those behind it, of which the last is filling. */
export type Lane = { flying: Parcel | null; readonly queue: Parcel[] }

/** Parcels kept to be filled again; making them and their tables anew was a tenth of the work on a batch. */
const SPARE_MAX = 32

export class Parcels {
  private readonly messageBytesMax: number
  private readonly spare: Parcel[] = []

  constructor(messageBytesMax: number) {
    this.messageBytesMax = messageBytesMax
  }

  /**
   * The parcel, queued or in flight, that carries this very event with this content already; or else the one that takes its
   * line of so many bytes: the last of the queue, or a new one. Adding the key to it tells which.
   */
  parcelFor(lane: Lane, keys: EventKeys, at: number, bytes: number): Parcel {
    const { flying, queue } = lane
    if (flying?.keys.has(keys, at)) return flying
    for (let each = 0; each < queue.length; each += 1) {
      const parcel = queue[each]
      if (parcel === undefined) continue
      const isFilling = each === queue.length - 1 && parcel.message.fits(bytes)
      if (isFilling || parcel.keys.has(keys, at)) return parcel
    }
    const message = (): Message => new Message(this.messageBytesMax)
    const parcel = this.spare.pop() ?? { message: message(), keys: new KeySet(), waiters: [], bytes: 0 }
    queue.push(parcel)
    return parcel
  }

  /** Takes a parcel to be filled again. Only what was acked: a message that was not may still wait to be sent. */
  giveBack(parcel: Parcel): void {
    if (this.spare.length === SPARE_MAX) return
    parcel.message.clear()
    parcel.keys.clear()
    parcel.waiters.length = 0
    parcel.bytes = 0
    this.spare.push(parcel)
  }
}
