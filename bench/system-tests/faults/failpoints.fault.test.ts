// Every named point of the path from the front door to ClickHouse, killed there with -9 under load. After each what was
// acknowledged is looked for, before anything is sent again; last everything is sent again and must change nothing.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IngestSystem, startIngestSystem } from '../../system/ingest-system.ts'
import { startLoad } from '../../system/load.ts'
import { randomFrom, runSeed } from '../../system/random.ts'

const POINTS = [
  ['ingest', 'gateway.before-publish'],
  ['ingest', 'gateway.after-publish'],
  ['ingest', 'gateway.after-ack'],
  ['aggregator', 'aggregator.after-fetch'],
  ['aggregator', 'aggregator.after-index'],
  ['aggregator', 'aggregator.before-insert'],
  ['aggregator', 'aggregator.after-insert'],
  ['aggregator', 'aggregator.after-marks'],
  ['aggregator', 'aggregator.after-positions'],
] as const

const seed = runSeed()
let world: IngestSystem
beforeAll(async () => {
  console.log(`FAULT_SEED=${seed}`)
  world = await startIngestSystem()
})
afterAll(() => world?.stop())

const eventsOf = (run: string): number =>
  [...world.ledger.entries.keys()].filter(reference => reference.startsWith(run)).length

test.each(POINTS)(
  '%s killed at %s under load: nothing acknowledged is lost, nothing counts twice',
  async (name, point) => {
    const { system, sender } = world
    const load = startLoad({ sender, random: randomFrom(seed), run: point })
    await load.accepted(10)
    await system.dieAt(name, point)
    // What it left half done is met again at the same point by its successor.
    await system.dieAt(name, point)
    await system.restart(name)
    await load.accepted(10)
    await load.stop()
    expect((await world.reconcile()).faults).toEqual([])
    expect(eventsOf(point)).toBeGreaterThan(100)
  },
)

test('all that was sent at these points is sent again, to a gateway that remembers none of it: every one is told apart', async () => {
  const beforeResend = await world.reconcile()
  const resent = await world.resendEverything()
  const afterResend = await world.reconcile()
  // Every one of them reached the log once more, and was told apart there.
  expect(afterResend).toEqual({ ...beforeResend, duplicates: expect.any(Number) })
  expect(afterResend.duplicates).toBeGreaterThanOrEqual(beforeResend.duplicates + resent)
})
