// From accepted events to acknowledged log messages: group commit. While a partition has a message in flight the events
// behind it gather, and go together when the ack is there, so the broker's cost a message is shared by as many events as
// the load brings. No clock, no network: both are handed in, and a test drives this with a simulated broker.

import { createFlushTimes, type FlushTimesOptions } from './flush-times.ts'
import type { Lines } from './lines.ts'
import type { Message } from './message.ts'
import {
  MessagePool,
  type PartitionQueue,
  type PublishOutcome,
  type QueuedMessage,
  type Settled,
  Waiter,
} from './queued-message.ts'
import { KEY_WORDS } from './repeats/event-key.ts'
import { NO_PLACE, type Place, placeOf } from './repeats/place.ts'
import type { RecentEvents } from './repeats/recent.ts'

export type Publisher = {
  /**
   * Takes a copy of all lines of one request, or none of them when the queue is full. `settled` is called exactly once, at
   * once when every event was accepted before. `repeated` is called before, for each line whose reference was accepted lately.
   */
  offer(lines: Lines, settled: Settled, repeated?: OnRepeat): 'taken' | 'full'
  /** Resolves when nothing is queued or in flight any more. */
  drained(): Promise<void>
  readonly counts: PublishCounts
}

/** A line of a request, and where the event of the same reference lies that was accepted before. */
export type Repeat = { readonly line: number; readonly partition: number; readonly place: Place }
/** `isSame`: with the same content, so that the log is spared it. */
export type OnRepeat = (repeat: Repeat, isSame: boolean) => void

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
  /** Publishes one message and resolves with its sequence in the log; rejects without an ack in time. Must settle in bounded time. */
  readonly publish: (partition: number, message: Message) => Promise<number>
  readonly messageBytesMax: number
  /** Queued and in flight together, over all partitions. */
  readonly bytesMax: number
}

export function createPublisher(options: PublisherOptions): Publisher {
  const partitions: PartitionQueue[] = Array.from({ length: options.partitions }, () => ({
    inFlight: null,
    waiting: [],
  }))
  const pool = new MessagePool(options.messageBytesMax)
  const counts: PublishCounts = {
    sparedRecent: 0,
    sparedInFlight: 0,
    messages: 0,
    messagesFailed: 0,
    linesAcked: 0,
    bytesQueued: 0,
    bytesInFlight: 0,
  }
  let linesQueued = 0
  /** Whether a line was queued in a partition that has nothing in flight. */
  let canFlush = false
  let whenDrained: (() => void)[] = []

  /** Puts the event of a line into a message, or finds the message that already carries it. */
  const enqueue = (lines: Lines, line: number, waiter: Waiter): void => {
    const partition = lines.partitionOf(line)
    const queue = partitions[partition]
    if (!queue) throw new RangeError(`no partition ${partition}`)
    const [start, end, at] = [lines.startOf(line), lines.endOf(line), lines.keyOf(line)]
    const queued = pool.messageFor(queue, lines.keys, at, end - start)
    waiter.waitFor(queued)
    if (!queued.keys.add(lines.keys, at)) {
      counts.sparedInFlight += 1
      return
    }
    queued.message.append(lines.output, start, end, lines.isAscii)
    linesQueued += 1
    queued.bytes += end - start
    counts.bytesQueued += end - start
    if (queue.inFlight === null) canFlush = true
  }

  const flushAll = (): number => {
    const before = linesQueued
    for (let partition = 0; partition < partitions.length; partition += 1) flush(partition)
    return before - linesQueued
  }

  const times = createFlushTimes({ ...options, waiting: () => linesQueued, flush: flushAll })

  const flush = (partition: number): void => {
    const queue = partitions[partition]
    const queued = queue?.inFlight ? undefined : queue?.waiting.shift()
    if (!queue || !queued) return
    queue.inFlight = queued
    linesQueued -= queued.message.lines
    counts.messages += 1
    counts.bytesQueued -= queued.bytes
    counts.bytesInFlight += queued.bytes
    options.publish(partition, queued.message).then(
      seq => settle(queue, queued, 'acked', seq),
      () => settle(queue, queued, 'failed', 0),
    )
  }

  const settle = (queue: PartitionQueue, queued: QueuedMessage, outcome: PublishOutcome, seq: number): void => {
    queue.inFlight = null
    counts.bytesInFlight -= queued.bytes
    if (outcome === 'acked') {
      counts.linesAcked += queued.message.lines
      const { keys, size } = queued.keys
      options.recent.fetch(keys, size)
      // The keys of a message are in the order of its lines.
      for (let each = 0; each < size; each += 1) options.recent.remember(keys, each * KEY_WORDS, placeOf(seq, each))
    } else {
      counts.messagesFailed += 1
    }
    if (queue.waiting.length > 0) times.wanted()
    for (const waiter of queued.waiters) waiter.finish(outcome)
    if (outcome === 'acked') pool.recycle(queued)
    if (counts.bytesQueued === 0 && counts.bytesInFlight === 0) {
      for (const resolve of whenDrained) resolve()
      whenDrained = []
    }
  }

  return {
    counts,
    offer: (lines, settled, repeated) => {
      if (counts.bytesQueued + counts.bytesInFlight + lines.length > options.bytesMax) return 'full'
      const waiter = new Waiter(settled)
      options.recent.fetch(lines.keys, lines.count)
      for (let line = 0; line < lines.count; line += 1) {
        const at = lines.keyOf(line)
        const isSame = options.recent.has(lines.keys, at)
        const place = options.recent.placeOf(lines.keys, at)
        if (place !== NO_PLACE) repeated?.({ line, partition: lines.partitionOf(line), place }, isSame)
        if (isSame) counts.sparedRecent += 1
        else enqueue(lines, line, waiter)
      }
      if (canFlush) times.wanted()
      canFlush = false
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
