// Those who follow the outbox, against a real database: every change once in its order, whatever commits or dies when.
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../shared/database/database.ts'
import { writeNotices } from '../../shared/database/outbox.ts'
import { createFailpoints } from '../../shared/failpoint.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { systemClock } from '../../shared/time.ts'
import { createWorkerMetrics } from '../jobs/metrics.ts'
import '../modules/invoices/events.ts'
import {
  type ConsumerOfChanges,
  consumeBatch,
  type OutboxConsumer,
  registerConsumer,
  startOutboxConsumers,
} from './outbox-consumer.ts'
import { relayBatch } from './outbox-relay.ts'
import { createRounds } from './rounds.ts'

let testDatabase: TestDatabase
let database: Database
let owner: pg.Client
const open: pg.Client[] = []
const failpoints = createFailpoints('')

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await openTestDatabase({
    url: testDatabase.url,
    role: 'millrace_worker',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 8,
  })
  owner = await session()
  await owner.query('create table effects (consumer text, change text, position bigint, nth bigserial)')
  await owner.query('grant all on effects, effects_nth_seq to millrace_worker')
})
beforeEach(async () => {
  await owner.query('delete from outbox; delete from outbox_consumers; delete from effects')
})
afterAll(async () => {
  await database.close()
  for (const client of open) await client.end()
  await testDatabase.drop()
})

async function session(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: testDatabase.url })
  await client.connect()
  open.push(client)
  return client
}

let counter = 0
async function change(client: pg.Client, objectId: string, n: number, type = 'THING.UPDATED'): Promise<void> {
  counter += 1
  await client.query(
    `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, former_values, created_at)
     values ('plat_1', 'LIVE', $1, $2, 'THING', $3, $4, '[{"path":["n"],"value":"before"}]', now() - interval '1 minute')`,
    [`evnt_${counter}`, type, objectId, JSON.stringify({ n })],
  )
}
const waiting = async () => (await owner.query('select from outbox where position is null limit 1')).rowCount !== 0
const relay = () => relayBatch({ database, reactions: [], failpoints })
async function relayAll(): Promise<void> {
  await expect.poll(() => relay().then(waiting), { interval: 5 }).toBe(false)
}

/** Writes down what it is given, in the transaction it is given. */
const recorder = (name: string, more: Partial<ConsumerOfChanges> = {}): ConsumerOfChanges => ({
  name,
  types: 'ALL',
  startsAt: 'OLDEST',
  reads: 'CHANGES',
  rights: {},
  handle: async (tx, changes) => {
    for (const { object_id, data, position } of changes) {
      await tx.execute(
        `insert into effects (consumer, change, position) values ('${name}', '${object_id}${data.n}', ${position})`,
      )
    }
  },
  ...more,
})
const effects = async (name: string): Promise<string[]> =>
  (await owner.query('select change from effects where consumer = $1 order by nth', [name])).rows.map(row => row.change)
const consume = (consumer: OutboxConsumer, at = failpoints) => consumeBatch({ database, failpoints: at }, consumer)
async function consumeAll(consumer: OutboxConsumer): Promise<void> {
  await registerConsumer(database, consumer)
  while (await consume(consumer));
}

test('gets the changes of its types in their order, once, with the whole resource of before', async () => {
  const seen: unknown[] = []
  const consumer = recorder('some', {
    types: ['THING.CREATED', 'THING.DELETED'],
    handle: async (_tx, changes) => {
      seen.push(...changes.map(({ type, data, previous_data }) => [type, data, previous_data]))
    },
  })
  await change(owner, 'a', 1, 'THING.CREATED')
  await change(owner, 'a', 2)
  await change(owner, 'a', 3, 'THING.DELETED')
  await relayAll()
  await consumeAll(consumer)
  await consumeAll(consumer)
  expect(seen).toEqual([
    ['THING.CREATED', { n: 1 }, { n: 'before' }],
    ['THING.DELETED', { n: 3 }, { n: 'before' }],
  ])
})

test('a change that commits after a later one is read, in its place', async () => {
  const [slow, quick] = [await session(), await session()]
  const consumer = recorder('late')
  await slow.query('begin')
  await change(slow, 'a', 1)
  await change(quick, 'b', 1)
  await relay()
  await consumeAll(consumer)
  expect(await effects('late')).toEqual([])
  await slow.query('commit')
  await relayAll()
  await consumeAll(consumer)
  expect(await effects('late')).toEqual(['a1', 'b1'])
})

test('many writers, two relays and three workers at once: every change once, each object in the order of its commits', async () => {
  await owner.query('create table things (id text primary key, n int not null)')
  const ids = ['p', 'q', 'r']
  for (const id of ids) await owner.query('insert into things values ($1, 0)', [id])
  const consumer = recorder('busy')
  await registerConsumer(database, consumer)
  let writing = true
  const writers = [1, 2, 3].map(async seed => {
    const client = await session()
    for (let round = 0; round < 40; round += 1) {
      await client.query('begin')
      for (const id of new Set([ids[(seed + round) % 3], ids[(seed + 2 * round) % 3]].sort())) {
        const { rows } = await client.query('update things set n = n + 1 where id = $1 returning n', [id])
        await change(client, String(id), rows[0].n)
      }
      await client.query((round + seed) % 7 === 0 ? 'rollback' : 'commit')
    }
  })
  const relays = [1, 2].map(async () => {
    while (writing) await relay()
  })
  const workers = [1, 2, 3].map(async () => {
    while (writing) await consume(consumer)
  })
  await Promise.all(writers)
  writing = false
  await Promise.all([...relays, ...workers])
  await relayAll()
  await consumeAll(consumer)
  const read = await effects('busy')
  for (const { id, n } of (await owner.query<{ id: string; n: number }>('select id, n from things')).rows) {
    expect(read.filter(name => name.startsWith(id))).toEqual(
      Array.from({ length: n }, (_, index) => `${id}${index + 1}`),
    )
  }
})

test('several notices of one change keep the resource once, and each is read with the resource as it was then', async () => {
  const draft = { id: 'i', status: 'DRAFT', lines: ['a', 'b', 'c'].map(text => ({ text: text.repeat(50) })) }
  const final = { ...draft, status: 'FINAL', number: '1' }
  const other = { id: 'other', status: 'FINAL' }
  const of = { tenant: { platformId: 'plat_1', environment: 'LIVE' }, actor: { id: null, requestId: null } } as const
  await writeNotices(drizzle(owner), { ...of, at: sql`now()` }, [
    { type: 'INVOICE.CREATED', objectId: 'i', data: draft, previous: null },
    { type: 'INVOICE.UPDATED', objectId: 'i', data: final, previous: draft },
    // So unlike the resource it becomes that saying what differs would take more.
    { type: 'INVOICE.CREATED', objectId: 'other', data: { gone: 'x' }, previous: null },
    { type: 'INVOICE.STATUS_TO_FINAL', objectId: 'i', data: final, previous: null },
    { type: 'INVOICE.STATUS_TO_FINAL', objectId: 'other', data: other, previous: null },
  ])
  const { rows } = await owner.query('select data is not null as holds from outbox order by seq')
  expect(rows.map(({ holds }) => holds)).toEqual([false, false, true, true, true])
  await relayAll()
  const seen: unknown[] = []
  const consumer = recorder('bodies', {
    handle: async (_tx, changes) => {
      seen.push(...changes.map(({ type, data, previous_data }) => [type, data, previous_data]))
    },
  })
  await consumeAll(consumer)
  expect(seen).toEqual([
    ['INVOICE.CREATED', draft, null],
    ['INVOICE.UPDATED', final, draft],
    ['INVOICE.CREATED', { gone: 'x' }, null],
    ['INVOICE.STATUS_TO_FINAL', final, null],
    ['INVOICE.STATUS_TO_FINAL', other, null],
  ])
  const audit = await owner.query(
    'select action, changed_fields from audit_records where target_id = $1 order by position',
    ['i'],
  )
  expect(audit.rows).toEqual([
    { action: 'CREATED', changed_fields: [] },
    { action: 'UPDATED', changed_fields: ['number', 'status'] },
    { action: 'STATUS_TO_FINAL', changed_fields: [] },
  ])
})

test.each(['the worker fails before it commits', 'the connection is killed in the middle of a batch'])(
  'when %s, effects and cursor are undone together, and the batch comes again whole',
  async how => {
    const consumer = recorder('killed')
    await registerConsumer(database, consumer)
    for (const n of [1, 2, 3]) await change(owner, 'x', n)
    await relayAll()
    const dying: ConsumerOfChanges = {
      ...consumer,
      handle: async (tx, changes) => {
        await consumer.handle(tx, changes.slice(0, 2))
        const { rows } = await tx.execute<{ pid: number }>('select pg_backend_pid() as pid')
        await owner.query('select pg_terminate_backend($1)', [rows[0]?.pid])
        await consumer.handle(tx, changes.slice(2))
      },
    }
    const attempt = how.startsWith('the worker')
      ? consume(consumer, createFailpoints('consumer.before-commit:error'))
      : consume(dying)
    await expect(attempt).rejects.toThrow()
    expect(await effects('killed')).toEqual([])
    await consumeAll(consumer)
    expect(await effects('killed')).toEqual(['x1', 'x2', 'x3'])
  },
)

test('one that is added later begins with the oldest change that is kept, or with the next one, as it says', async () => {
  await change(owner, 'x', 1)
  await relayAll()
  const [oldest, next] = [recorder('oldest'), recorder('next', { startsAt: 'NEXT' })]
  for (const consumer of [oldest, next]) await consumeAll(consumer)
  await change(owner, 'x', 2)
  await relayAll()
  for (const consumer of [oldest, next]) await consumeAll(consumer)
  expect([await effects('oldest'), await effects('next')]).toEqual([['x1', 'x2'], ['x2']])
})

test('one that fails holds up no other, says how far it is behind, and goes on where it stood', async () => {
  let isBroken = true
  const broken = recorder('broken', {
    handle: async (tx, changes) => {
      if (isBroken) throw new Error('it cannot be written')
      await recorder('broken').handle(tx, changes)
    },
  })
  for (const n of [1, 2]) await change(owner, 'x', n)
  await relayAll()
  const { consumerLag } = createWorkerMetrics(new Registry())
  const running = startOutboxConsumers([broken, recorder('sound')], {
    database,
    rounds: createRounds(database),
    failpoints,
    logger: silentLogger,
    metrics: { consumerLag },
  })
  const lagOf = async (consumer: string) =>
    (await consumerLag.get()).values.find(({ labels }) => labels.consumer === consumer)?.value
  await expect.poll(() => effects('sound')).toEqual(['x1', 'x2'])
  await expect.poll(() => lagOf('sound')).toBe(0)
  await expect.poll(() => lagOf('broken')).toBeGreaterThanOrEqual(60)
  isBroken = false
  await expect.poll(() => effects('broken')).toEqual(['x1', 'x2'])
  await expect.poll(() => lagOf('broken')).toBe(0)
  await running.close()
})
