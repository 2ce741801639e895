// Which repeats are found for an answer; that the answer shows them, with an aggregator: older-repeats.it.test.ts of the system tests.
import { expect, test } from 'vitest'
import type { FirstPlaces } from '../../../shared/contracts/first-seen.ts'
import { Lines } from '../lines.ts'
import { createFindRepeats } from './find-repeats.ts'
import { placeOf } from './place.ts'
import { createRecentEvents } from './recent.ts'

/** Events by the number of their reference and of their content, all of one partition. */
function linesOf(events: readonly (readonly [reference: number, content: number])[]): Lines {
  const lines = new Lines(1)
  for (const [reference, content] of events) lines.add('line', hex(reference, 32), hex(content, 16))
  return lines
}
const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0')

/** A gateway whose aggregator knows these references, and whose memory is what `acked` puts into it. */
function gateway(known: Readonly<Record<number, readonly [seq: number, line: number]>>, looks = 100) {
  const recent = createRecentEvents(1_024)
  const state = { now: 0, answers: true, left: looks, asked: 0 }
  const find = createFindRepeats({
    recent,
    places: async (_partition, idHashes): Promise<FirstPlaces> => {
      state.asked += 1
      if (!state.answers) throw new Error('no answer in time')
      return idHashes.map(idHash => known[Number.parseInt(idHash, 16)] ?? null)
    },
    allowance: {
      take: amount => {
        const has = state.left >= amount
        if (has) state.left -= amount
        return has
      },
    },
    nowMs: () => state.now,
  })
  const acked = (lines: Lines, seq: number): void => {
    for (let line = 0; line < lines.count; line += 1) recent.remember(lines.keys, lines.keyOf(line), placeOf(seq, line))
  }
  /** Looks for the lines, has them acked as the message `seq`, and resolves with what was found. */
  const send = async (lines: Lines, seq: number) => {
    const look = find.begin(lines)
    acked(lines, seq)
    return look === null ? null : look()
  }
  return { state, acked, send, find }
}

test('a reference of which only the aggregator knows is a repeat; a new one, and one that was just stored, are not', async () => {
  const { send } = gateway({ 1: [5, 3], 3: [9, 2] })
  expect(
    await send(
      linesOf([
        [1, 0],
        [2, 0],
        [3, 0],
      ]),
      9,
    ),
  ).toEqual([{ line: 0, partition: 0, place: placeOf(5, 3) }])
})

test('of one reference with two contents in a request the second is a repeat of the first', async () => {
  const { send } = gateway({})
  expect(
    await send(
      linesOf([
        [1, 0],
        [2, 0],
        [1, 7],
      ]),
      4,
    ),
  ).toEqual([{ line: 2, partition: 0, place: placeOf(4, 0) }])
})

test('one that another request brought meanwhile is a repeat of it', async () => {
  const { find, acked } = gateway({})
  const look = find.begin(linesOf([[1, 7]]))
  acked(linesOf([[1, 0]]), 6)
  expect(await look?.()).toEqual([{ line: 0, partition: 0, place: placeOf(6, 0) }])
})

test('the older of two places counts', async () => {
  const { send, acked } = gateway({ 1: [2, 0] })
  acked(linesOf([[1, 0]]), 6)
  expect(await send(linesOf([[1, 7]]), 8)).toEqual([{ line: 0, partition: 0, place: placeOf(2, 0) }])
})

test('after an answer that does not come nothing is asked for a while', async () => {
  const { state, send } = gateway({ 1: [5, 3] })
  state.answers = false
  expect(await send(linesOf([[1, 0]]), 9)).toEqual([])
  state.answers = true
  expect([await send(linesOf([[1, 0]]), 10), state.asked]).toEqual([[], 1])
  state.now += 60_000
  expect([await send(linesOf([[1, 1]]), 11), state.asked]).toEqual([
    [{ line: 0, partition: 0, place: placeOf(5, 3) }],
    2,
  ])
})

test('looks at no more than the allowance gives, in requests of fifty events', async () => {
  const { state, find } = gateway({}, 2)
  expect(find.begin(linesOf(Array.from({ length: 101 }, (_, reference) => [reference, 0] as const)))).toBeNull()
  expect(find.begin(linesOf(Array.from({ length: 51 }, (_, reference) => [reference, 0] as const)))).not.toBeNull()
  expect([find.begin(linesOf([[1, 0]])), state.left]).toEqual([null, 0])
})
