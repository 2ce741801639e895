// The whole path of an event in one process and on a seeded clock: clients, gateways, aggregators and the roller are the
// product's own code; the broker, ClickHouse, disks, leases and time are simulated (docs/fault-tests.md).
import { expect, test } from 'vitest'
import { run, testSeeds } from './seeds.ts'

testSeeds('first')

test('a seed is the same story every time', async () => {
  const once = await run(7)
  expect(await run(7)).toEqual(once)
  expect((await run(8)).digest).not.toBe(once.digest)
})
