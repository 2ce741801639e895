// What the outbox keeps, against a real database: rows on both sides of each condition.
import pg from 'pg'
import { type Counter, Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../shared/database/database.ts'
import { createFailpoints } from '../../shared/failpoint.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { systemClock } from '../../shared/time.ts'
import { createWorkerMetrics } from '../jobs/metrics.ts'
import { runJob } from '../jobs/testing/run-job.ts'
import { verifyChains } from '../modules/accounts/audit/verify-chains.ts'
import { consumeBatch, type OutboxConsumer, registerConsumer } from './outbox-consumer.ts'
import { relayBatch } from './outbox-relay.ts'
import { expireOutbox } from './outbox-retention.ts'

let testDatabase: TestDatabase
let database: Database
let owner: pg.Client

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await openTestDatabase({
    url: testDatabase.url,
    role: 'millrace_worker',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 3,
  })
  owner = new pg.Client({ connectionString: testDatabase.url })
  await owner.connect()
})
beforeEach(async () => {
  await owner.query('delete from outbox; delete from outbox_consumers')
})
afterAll(async () => {
  await database.close()
  await owner.end()
  await testDatabase.drop()
})

/** Writes `count` changes of one object, this old, and not relayed yet; alternating between two tenants. */
const write = (objectId: string, age: string, count = 1) =>
  owner.query(
    `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at)
     select 'plat_' || n % 2, 'LIVE', 'evnt_' || $1::text || n, 'THING.UPDATED', 'THING', $1, '{}', now() - $2::interval
     from generate_series(1, $3::int) n`,
    [objectId, age, count],
  )
/** A transaction of another database on the same server holds the order up while it is open, so a batch may be empty too early. */
async function relayAll(): Promise<void> {
  const deps = { database, reactions: [], failpoints }
  await expect
    .poll(
      async () => {
        await relayBatch(deps)
        return (await owner.query('select from outbox where position is null limit 1')).rowCount
      },
      { interval: 5 },
    )
    .toBe(0)
}
/** Of what is deleted: all, and what a consumer had not read. */
async function expire(outboxRetentionDays = 30): Promise<{ deleted: number; unread: number }> {
  const metrics = createWorkerMetrics(new Registry())
  const deps = { system: database, outboxRetentionDays, metrics, logger: silentLogger }
  await runJob([expireOutbox([reader])], 'expire-outbox', deps)
  const countOf = async (counter: Counter): Promise<number> => (await counter.get()).values[0]?.value ?? 0
  return { deleted: await countOf(metrics.expiredChanges), unread: await countOf(metrics.unreadChanges) }
}
const reader: OutboxConsumer = {
  name: 'reader',
  types: 'ALL',
  startsAt: 'OLDEST',
  reads: 'CHANGES',
  rights: {},
  handle: async () => undefined,
}
const failpoints = createFailpoints('')
async function readAll(): Promise<void> {
  await registerConsumer(database, reader)
  while (await consumeBatch({ database, failpoints }, reader));
}
const kept = async (): Promise<string[]> =>
  (await owner.query('select distinct object_id from outbox order by object_id')).rows.map(row => row.object_id)

test('only what is both relayed and older than the days of the setting is deleted', async () => {
  await write('old_relayed', '30 days 1 minute')
  await write('young_relayed', '29 days 23 hours 59 minutes')
  await relayAll()
  await write('old_waiting', '300 days')
  await write('young_waiting', '1 minute')
  expect(await expire()).toEqual({ deleted: 1, unread: 0 })
  expect(await kept()).toEqual(['old_waiting', 'young_relayed', 'young_waiting'])
  expect(await expire(7)).toEqual({ deleted: 1, unread: 0 })
  expect(await kept()).toEqual(['old_waiting', 'young_waiting'])
  await relayAll()
  expect(await expire()).toEqual({ deleted: 1, unread: 0 })
  expect(await kept()).toEqual(['young_waiting'])
})

test('more than one transaction deletes are all deleted in one run, and the younger ones stay', async () => {
  await write('old', '31 days', 2_300)
  await write('young', '1 day', 3)
  await relayAll()
  expect(await expire()).toEqual({ deleted: 2_300, unread: 0 })
  expect(await kept()).toEqual(['young'])
})

test('audit records stay, their chains hold, and new changes continue them', async () => {
  const recorded = async () =>
    (await owner.query('select id, hash from audit_records order by platform_id, sequence')).rows
  await write('audited', '40 days', 4)
  await relayAll()
  const before = await recorded()
  expect(await expire()).toEqual({ deleted: 4, unread: 0 })
  expect(await recorded()).toEqual(before)
  await write('after', '1 minute', 2)
  await relayAll()
  expect(await recorded()).toHaveLength(before.length + 2)
  expect((await verifyChains(database)).faults).toEqual([])
})

test('what a consumer has not read is kept three times as long, and then deleted and counted', async () => {
  await write('read', '31 days')
  await relayAll()
  await readAll()
  await write('unread', '31 days')
  await write('long_unread', '91 days')
  await relayAll()
  expect(await expire()).toEqual({ deleted: 2, unread: 1 })
  expect(await kept()).toEqual(['unread'])
  await readAll()
  expect(await expire()).toEqual({ deleted: 1, unread: 0 })
})

test('the cursor of a consumer that is no longer there holds nothing back', async () => {
  await owner.query(`insert into outbox_consumers (name, position) values ('gone', 0)`)
  await write('old', '31 days')
  await relayAll()
  await readAll()
  expect(await expire()).toEqual({ deleted: 1, unread: 0 })
})
