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

describe('a round and the one before', () => {
  test('are at most half a second apart while the one before is being stored', () => {
    let now = 1_000
    const pace = createPace(() => now)
    expect(pace.restMs()).toBeLessThanOrEqual(0)
    pace.taken()
    now += 200
    expect(pace.restMs()).toBe(300)
    now += 300
    expect(pace.restMs()).toBe(0)
  })

  test('are five times as far apart as it took to store', () => {
    let now = 1_000
    const pace = createPace(() => now)
    const stored = pace.taken()
    now += 20
    stored()
    expect(pace.restMs()).toBe(80)
  })

  test('are half a second apart when it took long, and a round that was stored late says nothing of the next', () => {
    let now = 1_000
    const pace = createPace(() => now)
    const first = pace.taken()
    now += 700
    const second = pace.taken()
    first()
    expect(pace.restMs()).toBe(500)
    now += 400
    second()
    expect(pace.restMs()).toBe(100)
  })
})

describe('a round that is not due yet', () => {
  const never: Pace = { taken: () => () => undefined, restMs: () => Number.POSITIVE_INFINITY }

  test('is taken as soon as a reader is full', async () => {
    let asked = 0
    // Full when asked for the third time.
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
