import type { JetStreamManager } from '@nats-io/jetstream'
import { describe, expect, test } from 'vitest'
import type { Position } from '../outcome.ts'
import { planResume, recogniseRestored } from './resume.ts'

const at = (seq: number, streamCreated = 'monday'): Position => ({ seq, timeMs: 0, streamCreated })
const stream = (firstSeq: number, lastSeq: number, created = 'monday') => ({ partition: 0, created, firstSeq, lastSeq })

describe('where a partition starts', () => {
  test('a new partition starts at the beginning', () => {
    expect(planResume(null, null, stream(1, 50))).toEqual({ kind: 'replay', after: 0 })
  })
  test('the earlier of the two positions is replayed, whichever lost its tail', () => {
    expect(planResume(at(10), at(10), stream(1, 50))).toEqual({ kind: 'replay', after: 10 })
    expect(planResume(at(10), at(20), stream(1, 50))).toEqual({ kind: 'replay', after: 10 })
    expect(planResume(at(20), at(10), stream(1, 50))).toEqual({ kind: 'replay', after: 10 })
  })
  test('a missing index is rebuilt, and so is one older than the log reaches back', () => {
    expect(planResume(null, at(20), stream(15, 50))).toEqual({ kind: 'rebuild', after: 20, from: at(20) })
    expect(planResume(at(10), at(20), stream(11, 50))).toEqual({ kind: 'replay', after: 10 })
    expect(planResume(at(10), at(20), stream(12, 50))).toEqual({ kind: 'rebuild', after: 20, from: at(20) })
  })
  test('an emptied ClickHouse gets all that the log still holds', () => {
    expect(planResume(at(10), null, stream(1, 50))).toEqual({ kind: 'replay', after: 0 })
  })
  test.each([
    ['ends before what was processed', stream(1, 9)],
    ['was replaced and hands out the same sequences again', stream(1, 50, 'tuesday')],
    ['was replaced and starts at the position', stream(10, 50, 'tuesday')],
  ])('a stream that %s is refused', (_, state) => {
    expect(planResume(at(10), at(10), state).kind).toBe('refuse')
    expect(planResume(null, at(10), state).kind).toBe('refuse')
    expect(planResume(at(10), null, state).kind).toBe('refuse')
  })
  test('a stream made again to go on above the position is accepted', () => {
    expect(planResume(at(10), at(10), stream(11, 50, 'tuesday'))).toEqual({ kind: 'replay', after: 10 })
  })
  test.each([
    ['that was stored then', 5_000, 'monday'],
    ['of another time', 7_000, 'tuesday'],
    ['that it does not have', null, 'tuesday'],
  ])(
    'a stream made again is the same if it holds the message of the latest position: one %s',
    async (_, timeMs, is) => {
      const getMessage = async (name: string, { seq }: { seq: number }) =>
        timeMs === null || name !== 'USAGE_0' || seq !== 10 ? null : { time: new Date(timeMs) }
      const jsm = { streams: { getMessage } } as unknown as JetStreamManager
      const stored = { ...at(10), timeMs: 5_000 }
      const found = await recogniseRestored(jsm, { index: at(4), stored }, stream(1, 50, 'tuesday'))
      expect(found).toEqual(stream(1, 50, is))
    },
  )
})
