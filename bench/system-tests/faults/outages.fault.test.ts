// The broker gone: no acknowledgement without it, none lost. ClickHouse gone: events are accepted all the same.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IngestSystem, startIngestSystem } from '../../system/ingest-system.ts'
import { randomEvent, startLoad } from '../../system/load.ts'
import { randomFrom, runSeed } from '../../system/random.ts'
import { settle } from '../../system/reconcile.ts'
import { BROKER_AWAY_MS, CLICKHOUSE_AWAY_MS } from '../../system/scale.ts'

const seed = runSeed()
let world: IngestSystem
beforeAll(async () => {
  console.log(`FAULT_SEED=${seed}`)
  world = await startIngestSystem({ ownClickHouse: true })
})
afterAll(() => world?.stop())

const readiness = async (): Promise<number> => (await fetch(`${world.system.ingestUrl}/health/ready`)).status

test('NATS killed and restarted under load: 503 with Retry-After meanwhile, ready again by itself, no acknowledgement lost', {
  timeout: 60_000 + 8 * BROKER_AWAY_MS,
}, async () => {
  const { system, sender } = world
  const random = randomFrom(seed)
  const load = startLoad({ sender, random, run: 'nats' })
  for (let round = 0; round < 4; round += 1) {
    await load.accepted(20)
    await system.kill('nats')
    const refused = await sender.attempt([randomEvent(random, `while-away-${round}`)])
    expect(refused).toMatchObject({ kind: 'answer', status: 503, retryAfter: expect.stringMatching(/^[1-9][0-9]*$/) })
    await expect.poll(readiness).toBe(503)
    await sleep(random.between(0, BROKER_AWAY_MS))
    await system.restart('nats')
    await expect.poll(readiness).toBe(200)
  }
  await load.stop()
  // The aggregator reads on by itself; how soon it asks again: aggregator/log/reader.test.ts.
  await settle(system)
  const beforeResend = await world.reconcile()
  expect(beforeResend.faults).toEqual([])
  await world.resendEverything()
  const afterResend = await world.reconcile()
  expect(afterResend.faults).toEqual([])
  // The four that were refused are accepted now; nothing else is new.
  expect(afterResend.acked).toBe(beforeResend.acked + 4)
  expect(afterResend.counted).toBe(afterResend.acked)
})

test('ClickHouse away: events go on being accepted, and are stored once it is back', {
  timeout: 120_000 + 4 * CLICKHOUSE_AWAY_MS,
}, async () => {
  const { system, sender } = world
  const load = startLoad({ sender, random: randomFrom(seed + 1), run: 'clickhouse' })
  await load.accepted(10)
  await system.kill('clickhouse')
  const again = { ...sender.counts.again }
  await sleep(CLICKHOUSE_AWAY_MS)
  await load.accepted(40)
  expect(sender.counts.again).toEqual(again)
  await system.restart('clickhouse')
  await load.accepted(10)
  await load.stop()
  const beforeResend = await world.reconcile()
  expect(beforeResend.faults).toEqual([])
  await world.resendEverything()
  expect(await world.reconcile()).toEqual({ ...beforeResend, duplicates: expect.any(Number) })
})
