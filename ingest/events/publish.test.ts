import { hash } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { decodeMessage } from '../../shared/contracts/usage-event.ts'
import { Lines } from './lines.ts'
import { createPublisher } from './publish.ts'
import type { PublishOutcome } from './queued-message.ts'
import { placeOf } from './repeats/place.ts'
import { createRecentEvents } from './repeats/recent.ts'

const PARTITIONS = 3

/** A generator of numbers that a seed fixes (mulberry32). */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) % below
  }
}

type TestEvent = { partition: number; idHash: string; contentHash: string; line: string; bytes: number }

const linesOf = (events: readonly TestEvent[]): Lines => {
  const lines = new Lines(PARTITIONS)
  for (const { line, idHash, contentHash } of events) lines.add(line, idHash, contentHash)
  return lines
}

const eventOf = (reference: number, content: number): TestEvent => {
  const idHash = hash('sha256', `r${reference}`, 'hex').slice(0, 32)
  const contentHash = hash('sha256', `c${reference}/${content}`, 'hex').slice(0, 16)
  const line = `["${idHash}","${contentHash}","${'é'.repeat(reference % 20)}"]`
  const partition = Number.parseInt(idHash.slice(0, 8), 16) % PARTITIONS
  return { partition, idHash, contentHash, line, bytes: Buffer.byteLength(line) }
}

type Pending = { partition: number; lines: string[]; resolve: (seq: number) => void; reject: (error: Error) => void }

/** What the publisher may never do to its broker. Thrown there, it would only be a message without an ack. */
const misuses: string[] = []
afterEach(() => expect(misuses.splice(0)).toEqual([]))

/** A broker driven by hand: messages wait in `pending` until the test settles them. */
function rig(options: { messageBytesMax?: number; bytesMax?: number; recentMax?: number } = {}) {
  const messageBytesMax = options.messageBytesMax ?? 100_000
  const pending: Pending[] = []
  const tasks: (() => void)[] = []
  const publisher = createPublisher({
    partitions: PARTITIONS,
    recent: createRecentEvents(options.recentMax ?? 1_024),
    publish: (partition, message) =>
      new Promise((resolve, reject) => {
        const decoded = decodeMessage(Buffer.from(message.body()).toString('utf8'))
        if (decoded.length !== message.lines) misuses.push(`${decoded.length} lines in a message of ${message.lines}`)
        if (message.lines > 1 && message.bytes > messageBytesMax) misuses.push(`a message of ${message.bytes} bytes`)
        if (pending.some(each => each.partition === partition)) misuses.push(`two in flight in partition ${partition}`)
        pending.push({ partition, lines: decoded, resolve, reject })
      }),
    defer: task => tasks.push(task),
    later: task => {
      tasks.push(task)
      return () => tasks.splice(tasks.indexOf(task), 1)
    },
    nowMs: () => 0,
    messageBytesMax,
    bytesMax: options.bytesMax ?? 1_000_000,
  })
  let seq = 0
  const settle = async (index: number, acked: boolean) => {
    const [message] = pending.splice(index, 1)
    seq += 1
    if (acked) message?.resolve(seq)
    else message?.reject(new Error('no ack'))
    await Promise.resolve()
    await Promise.resolve()
  }
  const runTasks = () => {
    for (const task of tasks.splice(0)) task()
  }
  return { publisher, pending, tasks, settle, runTasks }
}

describe('the publisher', () => {
  test('answers only after the ack, and puts requests that come together into one message', async () => {
    const { publisher, pending, settle, runTasks } = rig()
    const outcomes: PublishOutcome[] = []
    const partition = eventOf(1, 0).partition
    const together = Array.from({ length: 200 }, (_, reference) => eventOf(reference, 0)).filter(
      each => each.partition === partition,
    )
    for (const event of together) publisher.offer(linesOf([event]), outcome => outcomes.push(outcome))
    expect(pending.length).toBe(0)
    runTasks()
    expect(pending.map(each => each.lines)).toEqual([together.map(each => each.line)])
    expect(outcomes).toEqual([])
    await settle(0, true)
    expect(outcomes).toEqual(together.map(() => 'acked'))
  })

  test('the sender of a repeat learns where the event that counts lies; one with other content is published', async () => {
    const { publisher, pending, settle, runTasks } = rig()
    const { partition } = eventOf(1, 0)
    publisher.offer(linesOf([eventOf(1, 0)]), () => undefined)
    runTasks()
    await settle(0, true)
    const seen: unknown[] = []
    const offer = (content: number) =>
      publisher.offer(
        linesOf([eventOf(2, 0), eventOf(1, content)]),
        outcome => seen.push(outcome),
        ({ line, ...repeat }, isSame) => line === 1 && seen.push(repeat, isSame),
      )
    for (const content of [1, 0, 1]) {
      offer(content)
      runTasks()
      while (pending.length > 0) await settle(0, true)
    }
    const repeat = { partition, place: placeOf(1, 0) }
    expect(seen).toEqual([repeat, false, 'acked', repeat, true, 'acked', repeat, false, 'acked'])
  })

  test('a repeat in flight waits for the same ack and is not published; after the ack it is answered at once', async () => {
    const { publisher, pending, settle, runTasks } = rig()
    const outcomes: string[] = []
    publisher.offer(linesOf([eventOf(1, 0)]), outcome => outcomes.push(`first ${outcome}`))
    runTasks()
    publisher.offer(linesOf([eventOf(1, 0)]), outcome => outcomes.push(`repeat ${outcome}`))
    runTasks()
    expect(outcomes).toEqual([])
    await settle(0, true)
    expect(outcomes).toEqual(['first acked', 'repeat acked'])
    publisher.offer(linesOf([eventOf(1, 0), eventOf(1, 0)]), outcome => outcomes.push(`later ${outcome}`))
    expect(outcomes.at(-1)).toBe('later acked')
    expect(pending.length).toBe(0)
    expect(publisher.counts).toMatchObject({ sparedInFlight: 1, sparedRecent: 2, linesAcked: 1, messages: 1 })
  })

  test('a repeat of an event whose message failed is published again', async () => {
    const { publisher, pending, settle, runTasks } = rig()
    const outcomes: string[] = []
    publisher.offer(linesOf([eventOf(1, 0)]), outcome => outcomes.push(outcome))
    runTasks()
    await settle(0, false)
    publisher.offer(linesOf([eventOf(1, 0)]), outcome => outcomes.push(outcome))
    runTasks()
    expect(pending.length).toBe(1)
    await settle(0, true)
    expect(outcomes).toEqual(['failed', 'acked'])
  })

  test('other content of a reference goes to the log, in flight or later', async () => {
    const { publisher, pending, settle, runTasks } = rig()
    publisher.offer(linesOf([eventOf(1, 0), eventOf(1, 1), eventOf(1, 0)]), () => {})
    runTasks()
    expect(pending[0]?.lines).toEqual([eventOf(1, 0).line, eventOf(1, 1).line])
    await settle(0, true)
    publisher.offer(linesOf([eventOf(1, 2)]), () => {})
    runTasks()
    expect(pending[0]?.lines).toEqual([eventOf(1, 2).line])
  })

  test('refuses a request whole when the queue is full, and takes it again when there is room', async () => {
    const size = eventOf(20, 0).bytes // as that of every multiple of 20
    const { publisher, pending, settle, runTasks } = rig({ bytesMax: size * 3 })
    const take = (...references: number[]) =>
      publisher.offer(linesOf(references.map(each => eventOf(each, 0))), () => {})
    expect(take(20, 40)).toBe('taken')
    expect(take(60, 80)).toBe('full')
    expect(publisher.counts.bytesQueued).toBe(size * 2)
    expect(take(60)).toBe('taken')
    runTasks()
    while (pending.length > 0) await settle(0, true)
    expect(take(80, 100)).toBe('taken')
  })

  test('drained resolves when the last ack is there', async () => {
    const { publisher, settle, runTasks } = rig()
    let drained = false
    await publisher.drained()
    publisher.offer(linesOf([eventOf(1, 0)]), () => {})
    void publisher.drained().then(() => {
      drained = true
    })
    runTasks()
    await Promise.resolve()
    expect(drained).toBe(false)
    await settle(0, true)
    await Promise.resolve()
    expect(drained).toBe(true)
  })

  for (let block = 0; block < 10; block += 1) {
    test(`whatever order acks, failures and repeats come in: 201 only when every event is in an acked message (seeds ${block}00 to ${block}99)`, async () => {
      for (let seed = block * 100; seed < block * 100 + 100; seed += 1) await simulate(seed)
    })
  }
})

/** Random requests against a broker that acks, refuses, and stores without acking, in random order. */
async function simulate(seed: number): Promise<void> {
  const random = seeded(seed)
  const bytesMax = 2_000 + random(8_000)
  const { publisher, pending, settle, runTasks, tasks } = rig({
    messageBytesMax: 200 + random(2_000),
    bytesMax,
    recentMax: 16 + random(64),
  })
  const acked = new Set<string>()
  const open = new Set<number>()
  const faults: string[] = []
  let answered = 0
  const offer = (request: number): void => {
    const events = Array.from({ length: 1 + random(8) }, () => eventOf(random(40), random(10) === 0 ? 1 : 0))
    open.add(request)
    const taken = publisher.offer(linesOf(events), outcome => {
      if (!open.delete(request)) faults.push(`request ${request} was answered twice`)
      answered += 1
      const complete = events.every(({ line }) => acked.has(line))
      if (outcome === 'acked' && !complete) faults.push(`request ${request} was answered before its acks`)
    })
    if (taken === 'full') {
      open.delete(request)
      answered += 1
    }
  }
  const deliver = async (): Promise<void> => {
    if (pending.length === 0) return
    const index = random(pending.length)
    const fails = random(4) === 0
    if (!fails) for (const line of pending[index]?.lines ?? []) acked.add(line)
    await settle(index, !fails)
  }
  const requests = 60
  for (let request = 0; request < requests; ) {
    const step = random(3)
    if (step === 0) offer(request++)
    else if (step === 1) runTasks()
    else await deliver()
    const { bytesQueued, bytesInFlight } = publisher.counts
    if (bytesQueued + bytesInFlight > bytesMax) faults.push(`${bytesQueued} + ${bytesInFlight} bytes are held`)
  }
  while (pending.length > 0 || tasks.length > 0) {
    runTasks()
    await deliver()
  }
  expect(faults, `seed ${seed}`).toEqual([])
  expect(answered, `seed ${seed}: every request is answered`).toBe(requests)
  expect(publisher.counts).toMatchObject({ bytesQueued: 0, bytesInFlight: 0 })
  await publisher.drained()
}
