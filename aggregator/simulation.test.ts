// Crashes, lost disks, replays and second workers at every step, over a fake index and a fake ClickHouse; whatever
// happens, the tables must end as the plain reading of the log says. A failing seed is named in the failure.
import { describe, expect, test } from 'vitest'
import { encodeMessage, hashesOf, partitionOf } from '../shared/contracts/usage-event.ts'
import { insertRows, prepareBatch, rowsOf, storeRound } from './consume.ts'
import type { FirstSeenIndex } from './index/first-seen-index.ts'
import { planResume } from './index/resume.ts'
import type { Claim, LogMessage, Position } from './outcome.ts'
import { crashingSink, type FakeClickHouse, fakeClickHouse } from './testing/fake-clickhouse.ts'
import { readPlainly } from './testing/plain-reading.ts'
import { amendLineOf, deleteLineOf, eventLineOf, TEST_TIME_MS, type TestEvent } from './testing.ts'

const PARTITIONS = 2
const SEEDS = 100
/** About a second on a quiet machine. */
const TIMEOUT_MS = 30_000
const CREATED = 'monday'

class Crash extends Error {}
type Random = (below: number) => number

function randomFrom(seed: number): Random {
  let state = seed + 0x9e3779b9
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T

/** A log in which references come again with other content, in other buckets, before and after corrections and deletions. */
function randomLog(random: Random): Map<number, LogMessage[]> {
  const log = new Map<number, LogMessage[]>(Array.from({ length: PARTITIONS }, (_, partition) => [partition, []]))
  for (let count = 0; count < 30; count += 1) {
    const lines = new Map<number, string[]>()
    for (let line = random(4); line >= 0; line -= 1) {
      const { partition, text } = randomLine(random)
      lines.set(partition, [...(lines.get(partition) ?? []), text])
    }
    for (const [partition, list] of lines) {
      const messages = log.get(partition) ?? []
      messages.push({ seq: messages.length + 1, timeMs: TEST_TIME_MS + count, bytes: 1, body: encodeMessage(list) })
    }
  }
  return log
}

function randomLine(random: Random): { partition: number; text: string } {
  const event: TestEvent = {
    reference: `r${random(12)}`,
    quantity: String(random(3)),
    customerKey: `c${random(2)}`,
    timestampMs: TEST_TIME_MS + random(3) * 3_600_000,
  }
  const kind = random(12)
  const properties = random(2) === 0 ? null : { p: String(random(3)) }
  const { line, idHash } =
    kind === 0
      ? deleteLineOf(event)
      : kind > 8
        ? amendLineOf({ reference: event.reference, quantity: String(10 + random(9)), properties })
        : eventLineOf(event)
  const partition = partitionOf(idHash, PARTITIONS)
  return { partition, text: kind === 1 ? `broken ${random(3)}` : line }
}

type Disk = { claims: Map<string, Claim>; position: Position | null }
const emptyDisk = (): Disk => ({ claims: new Map(), position: null })

function indexOn(disk: Disk, maybeCrash: () => void, onCommit: (position: Position) => void): FirstSeenIndex {
  return {
    find: idHash => disk.claims.get(idHash),
    async claim(claims) {
      maybeCrash()
      for (const claim of claims) disk.claims.set(claim.idHash, claim)
      maybeCrash()
    },
    position: () => disk.position,
    async commitPosition(position) {
      maybeCrash()
      disk.position = position
      onCommit(position)
      maybeCrash()
    },
    entries: () => disk.claims.size,
    close: async () => undefined,
  }
}

/** One life of one worker: resumes as the process does, and works until it is done or crashes. */
async function live(random: Random, log: Map<number, LogMessage[]>, store: FakeClickHouse, disks: Map<number, Disk>) {
  // Most lives end early; `() => 0` never lights the fuse.
  let fuse = random(40) === 0 ? Number.POSITIVE_INFINITY : random(50)
  const maybeCrash = () => {
    fuse -= 1
    if (fuse < 0) throw new Crash()
  }
  const after = new Map<number, number>()
  const indexes = new Map<number, FirstSeenIndex>()
  for (const [partition, messages] of log) {
    const disk = disks.get(partition) ?? emptyDisk()
    disks.set(partition, disk)
    const plan = planResume(disk.position, store.positions.get(partition) ?? null, {
      partition,
      created: CREATED,
      firstSeq: 1,
      lastSeq: messages.length,
    })
    if (plan.kind === 'refuse') throw new Error(plan.reason)
    if (plan.kind === 'rebuild') {
      for (const { text, place } of store.events.values()) {
        const [inPartition, seq, line] = place.split('/').map(Number)
        if (inPartition !== partition) continue
        disk.claims.set(hashesOf(text).idHash, { ...hashesOf(text), seq: seq ?? 0, line: line ?? 0 })
      }
    }
    after.set(partition, plan.after)
    const onCommit = ({ seq }: Position) => expectStored(log, store, partition, seq)
    indexes.set(partition, indexOn(disk, maybeCrash, onCommit))
  }
  const meterLists = { storing: async () => () => undefined }
  const deps = { indexes, sink: crashingSink(store, maybeCrash), meterLists, failpoints: () => undefined }
  for (;;) {
    const reads = [...log].flatMap(([partition, all]) => {
      const from = after.get(partition) ?? 0
      const messages = all.slice(from, from + 1 + random(5))
      const read = { partition, partitions: PARTITIONS, messages, streamCreated: CREATED, after: from }
      return messages.length === 0 ? [] : [read]
    })
    if (reads.length === 0) return
    const batches = []
    for (const read of reads) batches.push(await prepareBatch(deps, read))
    const rows = rowsOf(batches)
    await insertRows(deps, rows)
    await storeRound(deps, batches, rows)
    for (const { partition, position } of batches) after.set(partition, position.seq)
  }
}

/** A committed position promises that everything up to it is in ClickHouse. */
function expectStored(log: Map<number, LogMessage[]>, store: FakeClickHouse, partition: number, seq: number) {
  const due = readPlainly(log, of => (of === partition ? seq : 0))
  const held = store.tables()
  const absent = (wanted: Iterable<string>, present: { has(name: string): boolean }): string[] =>
    [...wanted].filter(name => !present.has(name))
  // One comparison for all: to expect each place by itself takes a third of the time.
  expect({
    events: absent(due.events.keys(), held.events),
    duplicates: absent(due.duplicates, held.duplicates),
    dead: absent(due.dead, held.dead),
    amendments: absent(due.amendments.keys(), held.amendments),
    marks: [...due.marks].filter(([bucket, at]) => !((held.marks.get(bucket) ?? -1) >= at)),
  }).toEqual({ events: [], duplicates: [], dead: [], amendments: [], marks: [] })
}

async function simulate(seed: number): Promise<number> {
  const random = randomFrom(seed)
  const log = randomLog(random)
  const store = fakeClickHouse()
  // Two workers that know nothing of each other, as in a hand-over; each has its own disks.
  const workers = [new Map<number, Disk>(), new Map<number, Disk>()]
  const snapshots = new Map<Map<number, Disk>, Map<number, Disk>>()
  let crashes = 0
  for (let life = 0; life < 40; life += 1) {
    const disks = pick(random, workers)
    loseSomething(random, disks, snapshots)
    try {
      await live(random, log, store, disks)
    } catch (error) {
      if (!(error instanceof Crash)) throw error
      crashes += 1
    }
  }
  for (const disks of workers) await live(() => 0, log, store, disks)
  expect(store.tables()).toEqual(readPlainly(log, () => Number.POSITIVE_INFINITY))
  return crashes
}

/** Between lives: an index is lost, falls back to an earlier state as after a power cut, or is remembered for that. */
function loseSomething(random: Random, disks: Map<number, Disk>, snapshots: Map<Map<number, Disk>, Map<number, Disk>>) {
  const copy = (from: Map<number, Disk>): Map<number, Disk> =>
    new Map([...from].map(([partition, { claims, position }]) => [partition, { claims: new Map(claims), position }]))
  switch (random(10)) {
    case 0:
      disks.delete(random(PARTITIONS))
      return
    case 1:
    case 2:
      snapshots.set(disks, copy(disks))
      return
    case 3: {
      const earlier = copy(snapshots.get(disks) ?? new Map())
      disks.clear()
      for (const [partition, disk] of earlier) disks.set(partition, disk)
      return
    }
  }
}

describe('the order of effects', () => {
  test(
    `ends as the plain reading of the log, over ${SEEDS} seeds of crashes, lost indexes and second workers`,
    async () => {
      let crashes = 0
      for (let seed = 0; seed < SEEDS; seed += 1) {
        try {
          crashes += await simulate(seed)
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error })
        }
      }
      // The test would prove nothing if the lives did not end badly.
      expect(crashes).toBeGreaterThan(SEEDS * 10)
    },
    TIMEOUT_MS,
  )
})
