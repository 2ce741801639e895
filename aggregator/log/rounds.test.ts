import { describe, expect, test } from 'vitest'
import type { LogMessage } from '../outcome.ts'
import type { PartitionReader } from './reader.ts'
import { createPace, createSignal, nextRound, type Pace } from './rounds.ts'

const MESSAGE: LogMessage = { seq: 1, timeMs: 0, bytes: 1, body: '' }

function readerOf(messages: LogMessage[], full: () => boolean): PartitionReader {
  return {
    waiting: () => messages.length,
    full,
    take: () => messages.splice(0),
    close: async () => undefined,
  }
}

describe('rounds', () => {
  /** A pace whose credit is used up: the next round would be due now. */
  function usedUp(nowMs: () => number) {
    const pace = createPace(nowMs)
    for (let round = 0; round < 4; round += 1) pace.taken()
    return pace
  }

  test('are half a second apart while those before are being stored, once a few were as quick as the first', () => {
    let now = 1_000
    const pace = createPace(() => now)
    for (let round = 0; round < 4; round += 1) {
      expect(pace.restMs()).toBeLessThanOrEqual(0)
      pace.taken()
    }
    expect(pace.restMs()).toBe(0)
    pace.taken()
    expect(pace.restMs()).toBe(500)
    now += 500
    expect(pace.restMs()).toBe(0)
  })

  test('are five times as far apart as one takes to store', () => {
    let now = 1_000
    const pace = usedUp(() => now)
    const stored = pace.taken()
    now += 20
    stored()
    expect(pace.restMs()).toBe(80)
  })

  test('are half a second apart when one takes long, and one that is stored late says nothing of the next', () => {
    let now = 1_000
    const pace = usedUp(() => now)
    const first = pace.taken()
    now += 500
    const second = pace.taken()
    first()
    expect(pace.restMs()).toBe(500)
    now += 50
    second()
    expect(pace.restMs()).toBe(200)
  })

  test('are quick again after a pause', () => {
    let now = 1_000
    const pace = usedUp(() => now)
    pace.taken()
    now += 10_000
    expect(pace.restMs()).toBeLessThanOrEqual(-2_000)
  })
})

describe('a round that is not due yet', () => {
  const never: Pace = { taken: () => () => undefined, restMs: () => Number.POSITIVE_INFINITY }

  test('is taken as soon as a reader is full', async () => {
    let asked = 0
    // The third call finds it full.
    const source = { reader: readerOf([MESSAGE], () => ++asked > 2) }
    const round = await nextRound(() => [source], createSignal(), { stopping: () => false, pace: never })
    expect(round?.get(source)).toEqual([MESSAGE])
    expect(asked).toBe(3)
  })

  test('is given up by a stop, and what waits stays', async () => {
    let asked = 0
    const reader = readerOf([MESSAGE], () => false)
    const stopping = (): boolean => ++asked > 2
    expect(await nextRound(() => [{ reader }], createSignal(), { stopping, pace: never })).toBeNull()
    expect(reader.waiting()).toBe(1)
  })
})
