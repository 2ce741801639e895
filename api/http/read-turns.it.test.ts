// A tenant's slow reads delay its own further reads, and no other tenant's.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startOwnApi } from '../testing/harness.ts'
import { createReadTurns } from './read-turns.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startOwnApi({ readTurns: createReadTurns(1) })
})
afterAll(() => api?.close())

test('reads of a tenant wait for its slow one, while changes and the reads of others are answered', async () => {
  const { aLive, aTest, bLive } = api.tenants
  await api.sql('begin')
  await api.sql('lock table customers in access exclusive mode')
  const answered: string[] = []
  const ask = async (name: string, work: Promise<{ readonly status: number }>) => {
    const { status } = await work
    answered.push(name)
    return status
  }
  const slow = ask('slow', aLive.call('GET', '/v1/customers'))
  // The slow read has begun once it waits for the lock.
  await expect
    .poll(
      async () => (await api.sql(`select from pg_locks where not granted and relation = 'customers'::regclass`)).length,
    )
    .toBeGreaterThan(0)
  const waiting = ask('waiting', aLive.call('GET', '/v1/meters'))
  const change = aLive.call('POST', '/v1/credit-types', { reference: 'credit', name: 'Credit', status: 'ACTIVE' })
  expect((await change).status).toBe(201)
  for (const other of [aTest, bLive]) expect((await other.call('GET', '/v1/meters')).status).toBe(200)
  expect(answered).toEqual([])
  await api.sql('rollback')
  expect(await Promise.all([slow, waiting])).toEqual([200, 200])
  expect(answered).toEqual(['slow', 'waiting'])
})
