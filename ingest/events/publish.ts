// From accepted events to acknowledged log messages: group commit. While a partition has a message in flight the events
// behind it gather, and go together when the ack is there, so the broker's cost a message is shared by as many events as
// the load brings. No clock, no network: both are handed in, and a test drives this with a simulated broker.
import { type EventKey, KEY_WORDS, KeySet } from './event-key.ts'
import type { Lines } from './lines.ts'
import { Message } from './message.ts'
import type { RecentEvents } from './recent.ts'

/** `failed`: at least one event of the request has no ack; it may be in the log all the same, so the sender must resend. */
export type PublishOutcome = 'acked' | 'failed'
export type Settled = (outcome: PublishOutcome) => void

export type Publisher = {
  /**
   * Takes a copy of all lines of one request, or none of them when the queue is full. `settled` is called exactly once, at
   * once when every event was accepted before.
   */
  offer(lines: Lines, settled: Settled): 'taken' | 'full'
  /** Resolves when nothing is queued or in flight any more. */
  drained(): Promise<void>
  readonly counts: PublishCounts
}

export type PublishCounts = {
  sparedRecent: number
  sparedInFlight: number
  messages: number
  messagesFailed: number
  linesAcked: number
  bytesQueued: number
  bytesInFlight: number
}

export type PublisherOptions = {
  readonly partitions: number
  readonly recent: RecentEvents
  /** Publishes one message and resolves with its ack; rejects when there is none in time. Must settle in bounded time. */
  readonly publish: (partition: number, body: Uint8Array, lines: number) => Promise<void>
  /** Runs `task` soon, after the requests that are already waiting were read: they then share the message. */
  readonly defer: (task: () => void) => void
  readonly messageBytesMax: number
  /** Queued and in flight together, over all partitions. */
  readonly bytesMax: number
}

/** A request that waits for messages. */
type Waiter = { left: number; outcome: PublishOutcome; readonly settled: Settled }
/** A message with the events in it, and the requests that wait for its ack. */
type Parcel = {
  readonly message: Message
  readonly keys: KeySet
  readonly waiters: Waiter[]
  bytes: number
}
/** Messages kept to be filled again; making them and their tables anew was a tenth of the work on a batch. */
const SPARE_MAX = 32

/** One partition: the message in flight, and those behind it, of which the last is filling. */
type Lane = { flying: Parcel | null; readonly queue: Parcel[] }

export function createPublisher(options: PublisherOptions): Publisher {
  const lanes: Lane[] = Array.from({ length: options.partitions }, () => ({ flying: null, queue: [] }))
  const dirty = new Set<number>()
  const counts: PublishCounts = {
    sparedRecent: 0,
    sparedInFlight: 0,
    messages: 0,
    messagesFailed: 0,
    linesAcked: 0,
    bytesQueued: 0,
    bytesInFlight: 0,
  }
  const key: EventKey = new Int32Array(KEY_WORDS)
  let whenDrained: (() => void)[] = []
  const spare: Parcel[] = []

  /** The message that takes the next line of so many bytes: the last of the queue, or a new one. */
  const roomFor = (lane: Lane, bytes: number): Parcel => {
    const last = lane.queue.at(-1)
    if (last?.message.fits(bytes)) return last
    const parcel = spare.pop() ?? {
      message: new Message(options.messageBytesMax),
      keys: new KeySet(),
      waiters: [],
      bytes: 0,
    }
    lane.queue.push(parcel)
    return parcel
  }

  const finish = (waiter: Waiter, outcome: PublishOutcome): void => {
    if (outcome === 'failed') waiter.outcome = 'failed'
    waiter.left -= 1
    if (waiter.left === 0) waiter.settled(waiter.outcome)
  }

  const waitFor = (parcel: Parcel, waiter: Waiter): void => {
    // The events of one request come one after another, so this is all it takes to count a parcel once.
    if (parcel.waiters.at(-1) === waiter) return
    parcel.waiters.push(waiter)
    waiter.left += 1
  }

  /** Puts the event whose key is in `key` into a message, or finds the message that already carries it. */
  const enqueue = (lines: Lines, line: number, waiter: Waiter): void => {
    const partition = lines.partitionOf(line)
    const lane = lanes[partition]
    if (!lane) throw new RangeError(`no partition ${partition}`)
    const same = findSame(lane, key)
    if (same) {
      counts.sparedInFlight += 1
      waitFor(same, waiter)
      return
    }
    const [start, end] = [lines.startOf(line), lines.endOf(line)]
    const parcel = roomFor(lane, end - start)
    parcel.message.append(lines.output.bytes, start, end)
    parcel.keys.add(key)
    parcel.bytes += end - start
    counts.bytesQueued += end - start
    waitFor(parcel, waiter)
    touch(partition, lane)
  }

  const touch = (partition: number, lane: Lane): void => {
    if (lane.flying) return
    if (dirty.size === 0) options.defer(flushDirty)
    dirty.add(partition)
  }

  const flushDirty = (): void => {
    const partitions = [...dirty]
    dirty.clear()
    for (const partition of partitions) flush(partition)
  }

  const flush = (partition: number): void => {
    const lane = lanes[partition]
    const parcel = lane?.flying ? undefined : lane?.queue.shift()
    if (!lane || !parcel) return
    lane.flying = parcel
    counts.messages += 1
    counts.bytesQueued -= parcel.bytes
    counts.bytesInFlight += parcel.bytes
    options.publish(partition, parcel.message.body(), parcel.message.lines).then(
      () => settle(partition, lane, parcel, 'acked'),
      () => settle(partition, lane, parcel, 'failed'),
    )
  }

  const settle = (partition: number, lane: Lane, parcel: Parcel, outcome: PublishOutcome): void => {
    lane.flying = null
    counts.bytesInFlight -= parcel.bytes
    if (outcome === 'acked') {
      counts.linesAcked += parcel.message.lines
      parcel.keys.forEach(options.recent.remember)
    } else {
      counts.messagesFailed += 1
    }
    if (lane.queue.length > 0) touch(partition, lane)
    for (const waiter of parcel.waiters) finish(waiter, outcome)
    if (outcome === 'acked' && spare.length < SPARE_MAX) spare.push(emptied(parcel))
    if (counts.bytesQueued === 0 && counts.bytesInFlight === 0) {
      for (const resolve of whenDrained) resolve()
      whenDrained = []
    }
  }

  return {
    counts,
    offer: (lines, settled) => {
      if (counts.bytesQueued + counts.bytesInFlight + lines.length > options.bytesMax) return 'full'
      // Starts at one, so that it cannot settle while the messages it waits for are still being counted.
      const waiter: Waiter = { left: 1, outcome: 'acked', settled }
      for (let line = 0; line < lines.count; line += 1) {
        lines.readKey(line, key)
        if (options.recent.has(key)) {
          counts.sparedRecent += 1
          continue
        }
        enqueue(lines, line, waiter)
      }
      finish(waiter, 'acked')
      return 'taken'
    },
    drained: () =>
      new Promise(resolve => {
        if (counts.bytesQueued === 0 && counts.bytesInFlight === 0) resolve()
        else whenDrained.push(resolve)
      }),
  }
}

/** The message, queued or in flight, that carries this very event with this content. */
function findSame(lane: Lane, key: EventKey): Parcel | undefined {
  if (lane.flying?.keys.has(key)) return lane.flying
  for (const parcel of lane.queue) if (parcel.keys.has(key)) return parcel
  return undefined
}

/** Ready to be filled again. Only what was acked: a message that was not may still wait to be sent. */
function emptied(parcel: Parcel): Parcel {
  parcel.message.clear()
  parcel.keys.clear()
  parcel.waiters.length = 0
  parcel.bytes = 0
  return parcel
}
