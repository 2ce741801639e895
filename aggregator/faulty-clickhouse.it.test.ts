// A ClickHouse that refuses half of what it is sent, answers late, or takes an insert and loses the answer (security 6.3,
// rows 15 and 16): events go on being accepted, what is behind is said, and in the end every sum is exact.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { randomFrom, runSeed } from '../bench/system/random.ts'
import { CLICKHOUSE_SLOW_MS } from '../bench/system/scale.ts'
import { createTestClickHouse } from '../shared/testing/clickhouse.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../shared/testing/fault-proxy.ts'
import { startTestNats } from '../shared/testing/nats.ts'
import { createClickHouse } from '../shared/usage/clickhouse.ts'
import { createTestAggregator, deleteLineOf, eventLineOf, type TestAggregator } from './testing.ts'

type World = { aggregator: TestAggregator; proxy: FaultProxy; start: () => ReturnType<TestAggregator['start']> }

async function behindProxy(faultOf: (path: string) => Fault, work: (world: World) => Promise<void>): Promise<void> {
  const clickhouse = await createTestClickHouse()
  const server = await startTestNats()
  const proxy = await startFaultProxy(clickhouse.url, faultOf)
  const aggregator = await createTestAggregator({ natsUrl: server.url, clickhouse })
  const client = createClickHouse(proxy.url, clickhouse.database)
  try {
    await work({ aggregator, proxy, start: () => aggregator.start({ client }) })
  } finally {
    await client.close()
    await aggregator.close()
    await proxy.close()
    await server.stop()
    await clickhouse.drop()
  }
}

const SLOW_TEST_MS = 60_000 + 40 * CLICKHOUSE_SLOW_MS
const COUNTED =
  'SELECT count(), uniqExact(reference), toString(sum(value_quantities[1])) FROM usage_events FINAL WHERE deleted = 0'
const DUPLICATES = 'SELECT count() FROM usage_duplicates FINAL'
const events = (from: number, to: number, quantity = '1') =>
  Array.from({ length: to - from }, (_, at) => eventLineOf({ reference: `e-${from + at}`, quantity }))

/** Ten calls: 400 new events, each call's repeated once with another quantity, and one of each call deleted. */
async function publishAll(aggregator: TestAggregator): Promise<void> {
  for (let call = 0; call < 10; call += 1) {
    await aggregator.publish(events(call * 40, call * 40 + 40))
    await aggregator.publish(events(call * 40, call * 40 + 40, '5'))
    await aggregator.publish([deleteLineOf({ reference: `e-${call * 40 + 7}` })])
    await sleep(50)
  }
}
async function expectExact(aggregator: TestAggregator): Promise<void> {
  expect(await aggregator.rows(COUNTED)).toEqual([['390', '390', '390']])
  expect(await aggregator.rows(DUPLICATES)).toEqual([['400']])
  expect(await aggregator.rows('SELECT count() FROM usage_dead_letters FINAL')).toEqual([['0']])
}

test(
  'refuses half of the inserts, loses every fifth answer of those it took: all of it is counted once',
  async () => {
    const seed = runSeed()
    const random = randomFrom(seed)
    let [inserts, taken, firstOfTwo] = [0, 0, false]
    // Which of two is refused is chance, and that one is refused is not: a machine that makes few inserts has its faults too.
    const faultOf = (path: string): Fault => {
      if (!/INSERT/.test(path)) return 'none'
      const isFirst = inserts % 2 === 0
      inserts += 1
      if (isFirst) firstOfTwo = random.below(2) === 0
      if (isFirst === firstOfTwo) return 'refuse'
      taken += 1
      return taken % 5 === 0 ? 'cut' : 'none'
    }
    await behindProxy(faultOf, async ({ aggregator, proxy, start }) => {
      const running = await start()
      await publishAll(aggregator)
      await aggregator.settle()
      await expectExact(aggregator)
      // The test would prove nothing of a proxy that let everything through.
      expect([proxy.counts.refused > 3, proxy.counts.cut > 0], `FAULT_SEED=${seed}`).toEqual([true, true])
      await running.stop()
    })
  },
  SLOW_TEST_MS,
)

test('answers late, each time: accepting waits for nothing, and all of it is counted', {
  timeout: SLOW_TEST_MS,
}, async () => {
  let isAccepted = false
  let accept = (): void => undefined
  const accepted = new Promise<void>(resolve => {
    accept = resolve
  })
  const faultOf = (path: string): Fault => {
    if (!/INSERT/.test(path)) return 'none'
    return isAccepted ? { delayMs: CLICKHOUSE_SLOW_MS } : { until: accepted }
  }
  await behindProxy(faultOf, async ({ aggregator, start }) => {
    const running = await start()
    await publishAll(aggregator)
    // All of it was accepted; ClickHouse has yet to answer for any of it.
    expect(await aggregator.rows(DUPLICATES)).toEqual([['0']])
    isAccepted = true
    accept()
    await aggregator.settle(SLOW_TEST_MS)
    await expectExact(aggregator)
    await running.stop()
  })
})

test('away for a while: readiness says so, and the same rows are stored when it is back', async () => {
  let away = false
  await behindProxy(
    () => (away ? 'refuse' : 'none'),
    async ({ aggregator, start }) => {
      const running = await start()
      await aggregator.publish(events(0, 10))
      await aggregator.settle()
      away = true
      await publishAll(aggregator)
      await expect.poll(() => running.ready()).toMatch(/ClickHouse/)
      expect(await aggregator.rows('SELECT count() FROM usage_events')).toEqual([['10']])
      away = false
      await aggregator.settle()
      await expect.poll(() => running.ready()).toBeNull()
      expect(await aggregator.rows(COUNTED)).toEqual([['390', '390', '390']])
      expect(await aggregator.rows(DUPLICATES)).toEqual([['410']])
      await running.stop()
    },
  )
})

test('stops in order although it never answers again, and the next process stores the rest', async () => {
  let away = false
  await behindProxy(
    () => (away ? 'refuse' : 'none'),
    async ({ aggregator, start }) => {
      const first = await start()
      await aggregator.publish(events(0, 20))
      await aggregator.settle()
      away = true
      await aggregator.publish(events(0, 60, '3'))
      await sleep(500)
      await first.stop()
      away = false
      const second = await start()
      await aggregator.settle()
      expect(await aggregator.rows(COUNTED)).toEqual([['60', '60', '140']])
      expect(await aggregator.rows(DUPLICATES)).toEqual([['20']])
      await second.stop()
    },
  )
})
