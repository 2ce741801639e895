import { describe, expect, test } from 'vitest'
import type { Position } from '../outcome.ts'
import { planResume } from './resume.ts'

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
})
