// ClickHouse in the memory of a test, and a sink to it that crashes.
import { expect } from 'vitest'
import { hashesOf } from '../../shared/contracts/usage-event.ts'
import { type Bucket, bucketKey, type Place, type Position } from '../outcome.ts'
import type { UsageSink } from '../sinks/usage-sink.ts'
import type { StoredRow } from '../steps/amend.ts'
import { tombstoneVersion } from '../steps/rows.ts'
import { bucketOf, type Tables } from './plain-reading.ts'

type EventRow = { key: string; place: string; text: string; version: bigint; deleted: boolean }

/** ClickHouse as far as it matters: rows replaced by key and version, any part of an insert kept when it fails. */
export function fakeClickHouse() {
  const events = new Map<string, EventRow>()
  const duplicates = new Set<string>()
  const dead = new Set<string>()
  const marks = new Map<string, number>()
  const amendments = new Map<string, string>()
  const positions = new Map<number, Position>()
  const put = (row: EventRow) => {
    const known = events.get(row.key)
    if (known === undefined || row.version >= known.version) events.set(row.key, row)
  }
  const eventRow = (line: string): EventRow => {
    const fields = JSON.parse(line)
    const text = `${JSON.stringify(fields.slice(0, 14))}`
    const [partition, seq, at, version, deleted] = fields.slice(14)
    // The sorting key, timestamp and customer included: a second row of one reference would be seen.
    const key = JSON.stringify([fields[5], fields[6], fields[7], fields[0]])
    return { key, place: `${partition}/${seq}/${at}`, text, version: BigInt(version), deleted: deleted === 1 }
  }
  return {
    events,
    duplicates,
    dead,
    marks,
    positions,
    eventLine: (line: string) => put(eventRow(line)),
    tombstone(idHash: string, place: Place): Bucket | undefined {
      const row = [...events.values()].find(each => hashesOf(each.text).idHash === idHash)
      if (row === undefined) return undefined
      if (!row.deleted) put({ ...row, version: tombstoneVersion(place), deleted: true })
      return bucketOf(row.text)
    },
    find(idHash: string): StoredRow | undefined {
      const row = [...events.values()].find(each => hashesOf(each.text).idHash === idHash)
      if (row === undefined) return undefined
      const [partition = 0, seq = 0, line = 0] = row.place.split('/').map(Number)
      return { ...row, fields: JSON.parse(row.text), place: { partition, seq, line } }
    },
    amendment(text: string) {
      const fields = JSON.parse(text)
      const [partition, seq, line] = fields.slice(3)
      const [after, before] = [fields.slice(10, 14), fields.slice(14, 18)].map(part => JSON.stringify(part))
      const place = `${partition}/${seq}/${line}`
      const written = `${after} ${before} ${fields[18]}`
      // Written again it must say the same: nobody may read another history meanwhile.
      expect(amendments.get(place) ?? written).toBe(written)
      amendments.set(place, written)
    },
    placed(set: Set<string>, partition: number, seq: number, line: number) {
      set.add(`${partition}/${seq}/${line}`)
    },
    mark(key: string, seq: number) {
      marks.set(key, Math.max(seq, marks.get(key) ?? 0))
    },
    position(partition: number, position: Position) {
      if ((positions.get(partition)?.seq ?? 0) <= position.seq) positions.set(partition, position)
    },
    tables: (): Tables => ({
      events: new Map(
        [...events.values()].map(row => [
          hashesOf(row.text).idHash,
          `${row.place} ${row.text}${row.deleted ? ' deleted' : ''}`,
        ]),
      ),
      duplicates,
      dead,
      marks,
      amendments,
    }),
  }
}
export type FakeClickHouse = ReturnType<typeof fakeClickHouse>

/** A sink that may crash before a write, after it, or part of the way through it. */
export function crashingSink(store: FakeClickHouse, maybeCrash: () => void): UsageSink {
  const each = async <T>(items: readonly T[], write: (item: T) => void): Promise<void> => {
    for (const item of items) {
      maybeCrash()
      write(item)
    }
    maybeCrash()
  }
  const placed = (set: Set<string>, at: number) => (line: string) => {
    const [partition, seq, index] = JSON.parse(line).slice(at)
    store.placed(set, partition, seq, index)
  }
  return {
    insertEvents: lines => each(lines, store.eventLine),
    insertDuplicates: lines => each(lines, placed(store.duplicates, 14)),
    insertDeadLetters: lines => each(lines, placed(store.dead, 0)),
    insertMarks: marks =>
      each(marks, ({ bucket, partition, seq }) => store.mark(`${partition}/${bucketKey(bucket)}`, seq)),
    insertPositions: positions => each(positions, ({ partition, ...position }) => store.position(partition, position)),
    async deleteEvents(deletions) {
      const found = new Map<string, Bucket>()
      await each(deletions, ({ idHash, seq, line }) => {
        const bucket = store.tombstone(idHash, { seq, line })
        if (bucket) found.set(idHash, bucket)
      })
      return found
    },
    async findEvents(names) {
      const found = new Map<string, StoredRow>()
      await each(names, ({ idHash }) => {
        const row = store.find(idHash)
        if (row) found.set(idHash, row)
      })
      return found
    },
    insertAmendments: lines => each(lines, store.amendment),
    copyChanged: async () => undefined,
    insertProgress: async () => undefined,
  }
}
