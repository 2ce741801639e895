import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { instantOf } from '../../shared/time.ts'
import { ALL_COPIED } from '../../shared/usage/meter-records.ts'
import { createPublisher } from './progress.ts'
import { createReceived } from './received.ts'
import { METERS_MAX } from './recent-meters.ts'
import type { Progress } from './statements.ts'

const NOW = Date.UTC(2026, 0, 15)
const SECOND = NOW / 1_000
const METER = 'p/LIVE/a'

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
  const store = async (seconds: readonly number[], ...meters: readonly string[]): Promise<() => void> => {
    const arrivals = { seconds: new Set(seconds), meters: new Set(meters.length === 0 ? [METER] : meters) }
    const stored = received.storing(arrivals)
    await publisher.announce(sink, arrivals)
    return stored
  }
  return { state, received, publisher, sink, store }
}

test('what is received now is announced once, what was received long ago before it is stored', async () => {
  const { state, store } = publishing()
  await store([SECOND])
  expect(state.said).toEqual([
    { owner: 'one', completeBefore: NOW - 30_000, publishedAt: NOW, version: NOW, meters: [METER] },
  ])
  await store([SECOND - 30, SECOND])
  expect(state.said).toHaveLength(1)
  await store([SECOND - 31, SECOND])
  expect(state.said.slice(1)).toEqual([
    { owner: 'one', completeBefore: NOW - 31_000, publishedAt: NOW, version: NOW + 1, meters: [METER] },
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

test('a meter is announced before its first record is stored, and named while it has some and for minutes after', async () => {
  const { state, received, publisher, sink, store } = publishing()
  const ended = await store([SECOND], 'a')
  const other = await store([SECOND], 'a', 'b')
  await store([SECOND], 'b').then(stored => stored())
  expect(state.said.map(({ meters }) => meters)).toEqual([['a'], ['a', 'b']])
  ended()
  other()
  received.take(SECOND)
  received.copied()
  await publisher.publish(sink)
  expect(state.said.at(-1)).toMatchObject({ completeBefore: NOW - 30_000, meters: ['a', 'b'] })
  state.now += 299_999
  await store([SECOND + 299], 'b').then(stored => stored())
  await publisher.publishFewer(sink)
  expect(state.said).toHaveLength(3)
  state.now += 1
  await publisher.publishFewer(sink)
  expect(state.said.slice(3)).toMatchObject([{ completeBefore: NOW + 270_000, meters: ['b'] }])
  // Not copied for so long: it stays named.
  state.now += 300_000
  await publisher.publish(sink)
  expect(state.said.at(-1)).toMatchObject({ completeBefore: NOW + 299_000, meters: ['b'] })
  received.take(SECOND)
  received.copied()
  await publisher.publishFewer(sink)
  expect(state.said.at(-1)).toMatchObject({ completeBefore: ALL_COPIED, meters: [] })
  const said = state.said.length
  await publisher.publishFewer(sink)
  expect(state.said).toHaveLength(said)
  await store([SECOND + 600], 'b')
  expect(state.said.at(-1)).toMatchObject({ completeBefore: NOW + 570_000, meters: ['b'] })
})

test('with more meters than can be named it holds of any, and new ones need no announcement; of any is also said while something was missed', async () => {
  const { state, received, publisher, sink, store } = publishing()
  const many = Array.from({ length: METERS_MAX + 1 }, (_, number) => `m${number}`)
  await store([SECOND], ...many).then(stored => stored())
  expect(state.said).toMatchObject([{ completeBefore: NOW - 30_000, meters: [] }])
  await store([SECOND], 'another').then(stored => stored())
  expect(state.said).toHaveLength(1)
  received.take(SECOND)
  received.copied()
  await publisher.publishFewer(sink)
  expect(state.said).toHaveLength(1)
  state.now += 300_000
  await store([SECOND + 300], 'm1')
  await publisher.publishFewer(sink)
  expect(state.said.slice(1)).toMatchObject([{ meters: ['m1'] }])
  received.missingFrom(SECOND)
  await publisher.publish(sink)
  expect(state.said.slice(2)).toMatchObject([{ completeBefore: NOW, meters: [] }])
})

type Step =
  | { readonly kind: 'store'; readonly meters: readonly number[] }
  | { readonly kind: 'later'; readonly ms: number }
  | { readonly kind: 'stored' | 'copied' | 'fewer' | 'fails' }

test('however meters come and go, those with records that are not copied are named, or any is', async () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('store'), meters: fc.uniqueArray(fc.nat({ max: 150 }), { minLength: 1 }) }),
    fc.record({ kind: fc.constantFrom('stored', 'copied', 'fewer', 'fails') }),
    fc.record({ kind: fc.constant('later'), ms: fc.nat({ max: 400_000 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const walk = walking()
      for (const each of steps) {
        await walk.go(each)
        walk.expectNamed()
      }
    }),
  )
})

/** What is said beside what is owed: by meter, the earliest second that is not copied. */
function walking() {
  const { state, received, publisher, sink, store } = publishing()
  const running: { meters: readonly string[]; second: number; stored: () => void }[] = []
  const owed = new Map<string, number>()
  const owe = (meters: readonly string[], second: number): void => {
    for (const meter of meters) owed.set(meter, Math.min(second, owed.get(meter) ?? second))
  }
  const go = {
    async store(second: number, numbers: readonly number[]) {
      const meters = numbers.map(number => `m${number}`)
      owe(meters, second)
      running.push({ meters, second, stored: await store([second], ...meters) })
    },
    stored: async () => running.shift()?.stored(),
    fewer: () => publisher.publishFewer(sink),
    async fails() {
      state.fails = true
      await publisher.publish(sink).catch(() => undefined)
      state.fails = false
    },
    async copied() {
      received.take(Math.floor(state.now / 1_000))
      received.copied()
      owed.clear()
      for (const each of running) owe(each.meters, each.second)
      await publisher.publish(sink)
    },
  }
  return {
    async go(step: Step) {
      if (step.kind === 'store') await go.store(Math.floor(state.now / 1_000), step.meters)
      else if (step.kind === 'later') state.now += step.ms
      else await go[step.kind]()
    },
    expectNamed() {
      const said = state.said.at(-1)
      for (const [meter, second] of owed) {
        if (said?.meters.length) expect(said.meters).toContain(meter)
        expect(said?.completeBefore).toBeLessThanOrEqual(second * 1_000)
      }
    },
  }
}
