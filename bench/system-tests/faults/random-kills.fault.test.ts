// kill -9 of any part, at any moment, under load. The seed that is printed gives the same victims and the same pauses.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IngestSystem, startIngestSystem } from '../../system/ingest-system.ts'
import { startLoad } from '../../system/load.ts'
import { randomFrom, runSeed } from '../../system/random.ts'

const VICTIMS = ['ingest', 'aggregator', 'clickhouse', 'nats'] as const
const LOAD_MS = 25_000

const seed = runSeed()
let world: IngestSystem
beforeAll(async () => {
  world = await startIngestSystem({ ownClickHouse: true })
})
afterAll(() => world?.stop())

test('any process killed at any moment under load: nothing acknowledged is lost, nothing counts twice', async () => {
  const { system, sender, ledger } = world
  const random = randomFrom(seed)
  const load = startLoad({ sender, random: randomFrom(seed + 1), run: 'r' })
  const end = performance.now() + LOAD_MS
  const killed: string[] = []
  while (performance.now() < end || VICTIMS.some(victim => !killed.includes(victim))) {
    await sleep(random.between(100, 1_500))
    const victim = random.pick(VICTIMS)
    await system.kill(victim)
    killed.push(victim)
    await sleep(random.between(0, 800))
    await system.restart(victim)
  }
  await load.stop()
  console.log(
    `FAULT_SEED=${seed}: killed ${killed.join(' ')}; ${ledger.acked} events acknowledged in ${sender.counts.requests} requests, made again ${JSON.stringify(sender.counts.again)}`,
  )
  const beforeResend = await world.reconcile()
  expect(beforeResend.faults).toEqual([])
  expect(sender.counts.again).not.toEqual({})
  await world.resendEverything()
  expect(await world.reconcile()).toEqual({ ...beforeResend, duplicates: expect.any(Number) })
}, 300_000)
