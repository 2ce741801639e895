// Faults of our own making, one of each kind that the design must exclude: the simulation is worth what it finds of these.
import type { DiskIndex } from '../../../aggregator/index/first-seen-index.ts'
import type { ResumePlan } from '../../../aggregator/index/resume.ts'
import type { BucketMark, Position } from '../../../aggregator/outcome.ts'
import type { UsageSink } from '../../../aggregator/sinks/usage-sink.ts'
import { Output } from '../../../ingest/events/fast-path/bytes.ts'
import { Message } from '../../../ingest/events/message.ts'
import type { PublisherOptions } from '../../../ingest/events/publish.ts'
import { NO_PLACE } from '../../../ingest/events/repeats/place.ts'
import type { RecentEvents } from '../../../ingest/events/repeats/recent.ts'

/** What a sabotage changes in the statements of a worker. */
export type Tampering = {
  tombstoneVersion(version: bigint): bigint
  /** Roll-ups add to what stands there. */
  readonly rollupsAdd: boolean
  /** Roll-ups read the raw rows before what they say they cover. */
  readonly rollupsCoverLate: boolean
  /** What of the records is copied to the table of meters. */
  copied<R>(records: readonly R[]): readonly R[]
}
export type Sabotage = {
  /** What the simulation says of it. */
  readonly finding: RegExp
  readonly sink?: (sink: UsageSink) => UsageSink
  readonly tampering?: Partial<Tampering>
  readonly index?: (index: DiskIndex) => DiskIndex
  readonly plan?: (plan: ResumePlan, stored: Position | null) => ResumePlan
  readonly publish?: (publish: PublisherOptions['publish']) => PublisherOptions['publish']
  readonly recent?: (recent: RecentEvents) => RecentEvents
  /** Whether a request is answered when the first of its messages is. */
  readonly answersAtFirstAck?: boolean
}

/** Nothing is wrong but the world outside. */
export const NO_SABOTAGE: Sabotage = { finding: /^$/ }

const NOT_STORED = /the position is past .* (is not (stored|marked)|do not have it)/
const NOT_KEPT = new RegExp(`${NOT_STORED.source}|usage_events .* holds .* and the log says`)
const NOT_THERE = /was acknowledged and is not there|was deleted, .* and it counts/

export const SABOTAGES: Readonly<Record<string, Sabotage>> = {
  'the position is stored before the rows': { finding: NOT_STORED, sink: positionsFirst },
  'an insert that failed counts as done': {
    finding: NOT_STORED,
    sink: sink => ({ ...sink, insertEvents: lines => sink.insertEvents(lines).catch(() => undefined) }),
  },
  'marks are stored after the position': { finding: /is not marked/, sink: marksLast },
  'the index never knows a reference': { finding: NOT_KEPT, index: index => ({ ...index, find: () => undefined }) },
  'the index loses claims behind its position': { finding: NOT_KEPT, index: losesClaims },
  'an index of an earlier lease is used without catching up': {
    finding: NOT_KEPT,
    plan: (plan, stored) => (plan.kind === 'refuse' ? plan : { kind: 'replay', after: stored?.seq ?? 0 }),
  },
  'reading goes on one message too far': {
    finding: NOT_STORED,
    plan: plan => (plan.kind === 'replay' && plan.after > 0 ? { kind: 'replay', after: plan.after + 1 } : plan),
  },
  'a tombstone has a version below amendments': {
    finding: /usage_events .* deleted/,
    tampering: { tombstoneVersion: version => version - 2n ** 62n },
  },
  'a roll-up adds to what stands there': { finding: /the roll-up .* says/, tampering: { rollupsAdd: true } },
  'a roll-up covers marks that came after the rows it read': {
    finding: /the roll-up .* says/,
    tampering: { rollupsCoverLate: true },
  },
  'lists of a meter are whole before all is copied': {
    finding: /lists of a meter miss|records not copied/,
    tampering: { copied: records => records.slice(1) },
  },
  'lists of a meter are whole while records are stored': {
    finding: /lists of a meter miss/,
    sink: sink => ({
      ...sink,
      insertProgress: rows =>
        sink.insertProgress(rows.map(row => ({ ...row, completeBefore: row.completeBefore + 30_000 }))),
    }),
  },
  'lists of a meter are not said to miss another one': {
    finding: /lists of a meter miss/,
    sink: sink => ({
      ...sink,
      insertProgress: rows => sink.insertProgress(rows.map(row => ({ ...row, meters: row.meters.slice(0, 1) }))),
    }),
  },
  'the gateway answers when it has sent': {
    finding: NOT_THERE,
    publish: publish => async (partition, message) => {
      publish(partition, copyOf(message)).catch(() => undefined)
      return 0
    },
  },
  'the gateway uses the bytes of a message that was not confirmed again': {
    finding: /usage_dead_letters .*NOT_A/,
    publish: publish => async (partition, message) => {
      try {
        return await publish(partition, message)
      } catch (error) {
        message.body().fill(0x20)
        throw error
      }
    },
  },
  'the gateway answers at the first ack of a request': { finding: NOT_THERE, answersAtFirstAck: true },
  'the gateway remembers what was never confirmed': { finding: NOT_THERE, recent: remembersAtOnce },
}

/** The publisher fills the bytes of a message anew once it believes them acknowledged. */
function copyOf(message: Message): Message {
  const output = new Output(message.bytes)
  output.bytes.set(message.body())
  const copy = new Message(message.bytes)
  // All lines as one, from behind the version: copied, they are the same bytes.
  copy.append(output, copy.bytes + 1, message.bytes, false)
  return copy
}

/** The rows of a round follow its positions. */
function positionsFirst(sink: UsageSink): UsageSink {
  let held: (() => Promise<void>)[] = []
  return {
    ...sink,
    insertEvents: async lines => void held.push(() => sink.insertEvents(lines)),
    async insertPositions(positions) {
      await sink.insertPositions(positions)
      const due = held
      held = []
      for (const write of due) await write()
    },
  }
}

function marksLast(sink: UsageSink): UsageSink {
  let held: readonly BucketMark[] = []
  return {
    ...sink,
    async insertMarks(marks) {
      held = marks
    },
    async insertPositions(positions) {
      await sink.insertPositions(positions)
      await sink.insertMarks(held)
    },
  }
}

function losesClaims(index: DiskIndex): DiskIndex {
  return { ...index, claim: claims => index.claim(claims.filter(({ seq }) => seq % 4 !== 0)) }
}

function remembersAtOnce(recent: RecentEvents): RecentEvents {
  return {
    ...recent,
    has(keys, at) {
      const known = recent.has(keys, at)
      recent.remember(keys, at, NO_PLACE)
      return known
    },
  }
}
