// From accepted events to acknowledged log messages: group commit. While a partition has a message in flight the events
// behind it gather, and go together when the ack is there, so the broker's cost a message is shared by as many events as
// the load brings. No clock, no network: both are handed in, and a test drives this with a simulated broker.
import { type EventKey, KEY_WORDS } from './event-key.ts'
import { createFlushTimes, type FlushTimesOptions } from './flush-times.ts'
import type { Lines } from './lines.ts'
import { findSame, type Lane, type Parcel, Parcels, type PublishOutcome, type Settled, Waiter } from './parcel.ts'
import type { RecentEvents } from './recent.ts'

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

export type PublisherOptions = Pick<FlushTimesOptions, 'defer' | 'later' | 'nowMs'> & {
  readonly partitions: number
  readonly recent: RecentEvents
  /** Publishes one message and resolves with its ack; rejects when there is none in time. Must settle in bounded time. */
  readonly publish: (partition: number, body: Uint8Array, lines: number) => Promise<void>
  readonly messageBytesMax: number
  /** Queued and in flight together, over all partitions. */
  readonly bytesMax: number
}

export function createPublisher(options: PublisherOptions): Publisher {
  const lanes: Lane[] = Array.from({ length: options.partitions }, () => ({ flying: null, queue: [] }))
  const parcels = new Parcels(options.messageBytesMax)
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
  let linesQueued = 0
  let whenDrained: (() => void)[] = []

  /** Puts the event whose key is in `key` into a message, or finds the message that already carries it. */
  const enqueue = (lines: Lines, line: number, waiter: Waiter): void => {
    const partition = lines.partitionOf(line)
    const lane = lanes[partition]
    if (!lane) throw new RangeError(`no partition ${partition}`)
    const same = findSame(lane, key)
    if (same) {
      counts.sparedInFlight += 1
      waiter.waitFor(same)
      return
    }
    const [start, end] = [lines.startOf(line), lines.endOf(line)]
    const parcel = parcels.roomFor(lane, end - start)
    parcel.message.append(lines.output.bytes, start, end)
    linesQueued += 1
    parcel.keys.add(key)
    parcel.bytes += end - start
    counts.bytesQueued += end - start
    waiter.waitFor(parcel)
    touch(partition, lane)
  }

  const touch = (partition: number, lane: Lane): void => {
    if (lane.flying) return
    dirty.add(partition)
    times.wanted()
  }

  const flushDirty = (): number => {
    const partitions = [...dirty]
    dirty.clear()
    const before = linesQueued
    for (const partition of partitions) flush(partition)
    return before - linesQueued
  }

  const times = createFlushTimes({ ...options, waiting: () => linesQueued, flush: flushDirty })

  const flush = (partition: number): void => {
    const lane = lanes[partition]
    const parcel = lane?.flying ? undefined : lane?.queue.shift()
    if (!lane || !parcel) return
    lane.flying = parcel
    linesQueued -= parcel.message.lines
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
    for (const waiter of parcel.waiters) waiter.finish(outcome)
    if (outcome === 'acked') parcels.giveBack(parcel)
    if (counts.bytesQueued === 0 && counts.bytesInFlight === 0) {
      for (const resolve of whenDrained) resolve()
      whenDrained = []
    }
  }

  return {
    counts,
    offer: (lines, settled) => {
      if (counts.bytesQueued + counts.bytesInFlight + lines.length > options.bytesMax) return 'full'
      const waiter = new Waiter(settled)
      options.recent.fetch(lines.keys, lines.count)
      for (let line = 0; line < lines.count; line += 1) {
        lines.readKey(line, key)
        if (options.recent.has(key)) {
          counts.sparedRecent += 1
          continue
        }
        enqueue(lines, line, waiter)
      }
      waiter.finish('acked')
      return 'taken'
    },
    drained: () =>
      new Promise(resolve => {
        if (counts.bytesQueued === 0 && counts.bytesInFlight === 0) resolve()
        else whenDrained.push(resolve)
      }),
  }
}
