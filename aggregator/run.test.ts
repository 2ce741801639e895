import { expect, test } from 'vitest'
import { encodeMessage } from '../shared/contracts/usage-event.ts'
import { silentLogger } from '../shared/process/logger.ts'
import type { FirstSeenIndex } from './index/first-seen-index.ts'
import type { PartitionReader } from './log/reader.ts'
import { createSignal } from './log/rounds.ts'
import type { Claim, LogMessage, Position } from './outcome.ts'
import { createReferenceCount } from './reference-count.ts'
import { type RoundWork, type RunDeps, runRounds } from './run.ts'
import type { UsageSink } from './sinks/usage-sink.ts'
import { eventLineOf } from './testing.ts'

const message = (seq: number): LogMessage => ({
  seq,
  timeMs: 0,
  bytes: 1,
  body: encodeMessage([eventLineOf({ reference: `r${seq}` }).line]),
})

/** One message a round, so that several rounds are on their way at once. */
function readerOf(messages: LogMessage[]): PartitionReader {
  return {
    waiting: () => messages.length,
    full: () => true,
    take: () => messages.splice(0, 1),
    close: async () => undefined,
  }
}

function memoryIndex(): FirstSeenIndex {
  const claims = new Map<string, Claim>()
  let position: Position | null = null
  return {
    find: idHash => claims.get(idHash),
    claim: async list => {
      for (const claim of list) claims.set(claim.idHash, claim)
    },
    position: () => position,
    commitPosition: async next => {
      position = next
    },
    entries: () => claims.size,
    close: async () => undefined,
  }
}

const okSink: UsageSink = {
  insertEvents: async () => undefined,
  insertDuplicates: async () => undefined,
  insertDeadLetters: async () => undefined,
  deleteEvents: async () => new Map(),
  findEvents: async () => new Map(),
  insertAmendments: async () => undefined,
  insertMarks: async () => undefined,
  insertPositions: async () => undefined,
  copyChanged: async () => undefined,
  insertProgress: async () => undefined,
}

const workOf = (index: FirstSeenIndex): RoundWork => ({
  partition: 0,
  index,
  reader: readerOf([]),
  streamCreated: 'monday',
  storedSeq: 0,
  references: createReferenceCount(),
  after: 0,
  position: null,
  lost: false,
})

function depsFor(
  messages: LogMessage[],
  sink: UsageSink,
  index: FirstSeenIndex,
  over: Partial<RoundWork> = {},
): RunDeps & { retries: number; work: RoundWork } {
  const work = { ...workOf(index), reader: readerOf(messages), ...over }
  const deps = {
    retries: 0,
    work,
    working: () => [work],
    sink,
    meterLists: { storing: async () => () => undefined },
    failpoints: () => undefined,
    signal: createSignal(),
    logger: silentLogger,
    partitions: 1,
    onStored: () => undefined,
    onRetry: () => {
      deps.retries += 1
    },
  }
  return deps
}

test('a round that was given up while stopping is never passed by the position of a later one', async () => {
  const index = memoryIndex()
  const stop = new AbortController()
  const stored: string[] = []
  const positions: number[] = []
  const sink: UsageSink = {
    ...okSink,
    async insertEvents(lines) {
      // The second round fails until the stop; afterwards everything would work again.
      if (lines.some(line => line.includes('"r2"')) && !stop.signal.aborted) {
        throw new Error('ClickHouse is away')
      }
      stored.push(...lines)
    },
    insertPositions: async list => void positions.push(...list.map(({ seq }) => seq)),
  }
  const deps = depsFor([message(1), message(2), message(3), message(4)], sink, index)
  const running = runRounds(deps, stop.signal)
  await expect.poll(() => positions.includes(1) && deps.retries > 0).toBe(true)
  stop.abort()
  await running
  expect(index.position()?.seq).toBe(1)
  // Rows of the third may be there already: they are written again, the same, when it is read again.
  expect(positions).toEqual([1])
  expect(deps.retries).toBeGreaterThan(0)
})

test('rows of the next round are inserted while the one before is being stored, and its position only after that one', async () => {
  const index = memoryIndex()
  const stop = new AbortController()
  const steps: string[] = []
  let release: () => void = () => undefined
  const held = new Promise<void>(resolve => (release = resolve))
  const sink: UsageSink = {
    ...okSink,
    async insertEvents(lines) {
      if (lines.length > 0) steps.push(`rows ${/"(r[0-9]+)"/.exec(lines[0] ?? '')?.[1]}`)
      if (lines.some(line => line.includes('"r2"'))) release()
    },
    // The first round stands here until the rows of the second are in.
    insertMarks: () => held,
    insertPositions: async list => void steps.push(...list.map(({ seq }) => `position ${seq}`)),
  }
  const running = runRounds(depsFor([message(1), message(2)], sink, index), stop.signal)
  await expect.poll(() => index.position()?.seq).toBe(2)
  stop.abort()
  await running
  expect(steps).toEqual(['rows r1', 'rows r2', 'position 1', 'position 2'])
})

test('a failing store is tried again with the same rows until it works', async () => {
  const index = memoryIndex()
  const stop = new AbortController()
  const tries: string[] = []
  const sink: UsageSink = {
    ...okSink,
    async insertEvents(lines) {
      tries.push(lines.join())
      if (tries.length < 3) throw new Error('ClickHouse is away')
    },
  }
  const running = runRounds(depsFor([message(1)], sink, index), stop.signal)
  await expect.poll(() => index.position()).not.toBeNull()
  stop.abort()
  await running
  expect(index.position()?.seq).toBe(1)
  expect(tries).toHaveLength(3)
  expect(new Set(tries).size).toBe(1)
})

test('a message of a newer format stops the loop and leaves the position before it', async () => {
  const index = memoryIndex()
  const newer: LogMessage = { seq: 2, timeMs: 0, bytes: 1, body: '2\nwho knows' }
  const running = runRounds(depsFor([message(1), newer], okSink, index), new AbortController().signal)
  await expect(running).rejects.toThrow(/format 2/)
  expect(index.position()?.seq ?? 0).toBeLessThan(2)
})

test('what ClickHouse had when the partition was taken up is claimed and not stored again', async () => {
  const index = memoryIndex()
  const stop = new AbortController()
  const stored: string[] = []
  const sink: UsageSink = { ...okSink, insertEvents: async lines => void stored.push(...lines) }
  const running = runRounds(depsFor([message(1), message(2), message(3)], sink, index, { storedSeq: 2 }), stop.signal)
  await expect.poll(() => index.position()?.seq).toBe(3)
  stop.abort()
  await running
  expect(index.entries()).toBe(3)
  expect(stored.map(line => JSON.parse(line)[4])).toEqual(['r3'])
})

test('a partition that is lost while its rows are refused is left to whoever has it now', async () => {
  const index = memoryIndex()
  const stop = new AbortController()
  const sink: UsageSink = { ...okSink, insertEvents: () => Promise.reject(new Error('ClickHouse is away')) }
  const deps = depsFor([message(1)], sink, index)
  const running = runRounds(deps, stop.signal)
  await expect.poll(() => deps.retries).toBeGreaterThan(0)
  deps.work.lost = true
  // Its index may be closed once no round holds it, although ClickHouse never answers.
  await deps.work.references.idle()
  expect(index.position()).toBeNull()
  stop.abort()
  await running
})
