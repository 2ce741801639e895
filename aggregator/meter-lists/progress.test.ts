import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { instantOf } from '../../shared/time.ts'
import { createPublisher } from './progress.ts'
import { createReceived } from './received.ts'
import type { Progress } from './statements.ts'

const NOW = Date.UTC(2026, 0, 15)
const SECOND = NOW / 1_000

function publishing() {
  const state = { now: NOW, said: [] as Progress[], fails: false }
  const received = createReceived()
  const publisher = createPublisher('one', { now: () => instantOf(state.now) }, received)
  const sink = {
    insertProgress: async (rows: readonly Progress[]) => {
      state.said.push(...rows)
      if (state.fails) throw new Error('ClickHouse is away')
    },
  }
  const store = async (seconds: readonly number[]): Promise<() => void> => {
    const stored = received.storing(new Set(seconds))
    await publisher.announce(sink, new Set(seconds))
    return stored
  }
  return { state, received, publisher, sink, store }
}

test('what is received now is announced once, what was received long ago before it is stored', async () => {
  const { state, store } = publishing()
  await store([SECOND])
  expect(state.said).toEqual([{ owner: 'one', completeBefore: NOW - 30_000, publishedAt: NOW, version: NOW }])
  await store([SECOND - 30, SECOND])
  expect(state.said).toHaveLength(1)
  await store([SECOND - 31, SECOND])
  expect(state.said.slice(1)).toEqual([
    { owner: 'one', completeBefore: NOW - 31_000, publishedAt: NOW, version: NOW + 1 },
  ])
})

test('what was said minutes ago is said again before anything is stored; so it is where the clock went back', async () => {
  const { state, store } = publishing()
  await store([SECOND])
  state.now += 300_000
  await store([SECOND + 300])
  expect(state.said).toHaveLength(1)
  state.now += 1
  await store([SECOND + 300])
  expect(state.said.slice(1)).toMatchObject([{ completeBefore: NOW, version: NOW + 300_001 }])
  state.now = NOW
  await store([SECOND])
  expect(state.said.slice(2)).toMatchObject([{ completeBefore: NOW - 30_000, version: NOW + 300_002 }])
})

test('what may have arrived is said again, since nothing is known of it', async () => {
  const { state, publisher, sink, store } = publishing()
  const stored = await store([SECOND - 600])
  stored()
  state.fails = true
  await expect(publisher.publish(sink)).rejects.toThrow('ClickHouse is away')
  state.fails = false
  await store([SECOND])
  expect(state.said.map(({ version }) => version)).toEqual([NOW, NOW + 1, NOW + 2])
  expect(state.said.at(-1)).toMatchObject({ completeBefore: NOW - 600_000 })
})

test('what is announced while something is being said waits for it', async () => {
  const { state, received, publisher, store } = publishing()
  await store([SECOND - 100]).then(stored => stored())
  received.take(SECOND)
  received.copied()
  let arrive: () => void = () => undefined
  const slow = { insertProgress: () => new Promise<void>(resolve => (arrive = resolve)) }
  const saying = publisher.publish(slow)
  await setImmediate()
  const storing = store([SECOND - 60])
  await setImmediate()
  expect(state.said).toHaveLength(1)
  arrive()
  await saying
  await storing
  expect(state.said.slice(1)).toMatchObject([{ completeBefore: NOW - 60_000 }])
})
