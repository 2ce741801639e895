// The relay against a real database: every committed change once, in an order that holds, whatever commits when.
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../shared/database/database.ts'
import { createFailpoints } from '../../shared/failpoint.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { systemClock } from '../../shared/time.ts'
import { verifyChains } from '../modules/accounts/audit/verify-chains.ts'
import { type RelayDeps, relayBatch } from './outbox-relay.ts'
import { on, onHeads, type Reaction } from './reaction.ts'

let testDatabase: TestDatabase
let database: Database
let owner: pg.Client
const open: pg.Client[] = []

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await openTestDatabase({
    url: testDatabase.url,
    role: 'millrace_worker',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 6,
  })
  owner = await session()
})
beforeEach(async () => {
  await owner.query('delete from outbox; delete from audit_records; delete from audit_chains')
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

const relay = (more: Partial<RelayDeps> = {}) =>
  relayBatch({ database, reactions: [], failpoints: createFailpoints(''), ...more })

const onThings = (react: Parameters<typeof on>[1]): Reaction[] => [on(['METER.UPDATED'], react)]

let counter = 0
/** Writes one change of `objectId` in the transaction `client` is in; `data.n` tells changes apart. */
async function change(client: pg.Client, objectId: string, n: number): Promise<void> {
  counter += 1
  await client.query(
    `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at)
     values ('plat_1', 'LIVE', $1, 'METER.UPDATED', 'METER', $2, $3, now())`,
    [`evnt_${counter}`, objectId, JSON.stringify({ n })],
  )
}

/** What consumers see: changes in the order of their positions. */
async function followed(): Promise<string[]> {
  const { rows } = await owner.query(
    "select object_id || (data->>'n') as change from outbox where position is not null order by position",
  )
  return rows.map(row => row.change)
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let round = 0; !(await condition()); round += 1) {
    // Transactions of other tests, in other databases of the server, hold the release up while they last.
    if (round > 3_000) throw new Error('it did not come about')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

test('a change that commits after a later one is not lost', async () => {
  const [slow, quick] = [await session(), await session()]
  await slow.query('begin')
  await change(slow, 'a', 1)
  await change(quick, 'b', 1)
  await relay()
  await slow.query('commit')
  await until(async () => (await relay()) === 0 && (await followed()).length === 2)
  expect(await followed()).toEqual(['a1', 'b1'])
})

test('a change follows the one it waited for, even while a transaction between them is open', async () => {
  const [older, between, younger] = [await session(), await session(), await session()]
  await owner.query(
    'create table if not exists locked (id text primary key); insert into locked values (1), (2) on conflict do nothing',
  )
  await older.query('begin')
  await older.query('select from locked where id = $1 for update', ['1']) // takes the lowest transaction id
  await between.query('begin')
  await between.query('select pg_current_xact_id()')
  await younger.query('begin')
  await younger.query('select from locked where id = $1 for update', ['2'])
  await change(younger, 'thing', 1)
  await younger.query('commit')
  await older.query('select from locked where id = $1 for update', ['2'])
  await change(older, 'thing', 2)
  await older.query('commit')
  await relay()
  expect(await followed()).toEqual([])
  await between.query('rollback')
  await until(async () => (await relay()) === 0 && (await followed()).length === 2)
  expect(await followed()).toEqual(['thing1', 'thing2'])
})

test('many writers and three relays at once: every change once, each object in the order of its commits', async () => {
  await owner.query('create table if not exists things (id text primary key, n int not null); truncate things')
  const ids = ['p', 'q', 'r', 's']
  for (const id of ids) await owner.query('insert into things values ($1, 0)', [id])
  const seen: string[] = []
  const reactions = onThings(async (_tx, rows) => {
    seen.push(...rows.map(row => row.id))
  })
  let writing = true
  const writers = [1, 2, 3, 4].map(async seed => {
    const client = await session()
    for (let round = 0; round < 40; round += 1) {
      const [first, second] = [ids[(seed + round) % 4], ids[(seed * 3 + round * 2 + 1) % 4]].sort()
      await client.query('begin')
      for (const id of new Set([first ?? '', second ?? ''])) {
        const { rows } = await client.query('update things set n = n + 1 where id = $1 returning n', [id])
        await change(client, id, rows[0].n)
        if ((round + seed) % 5 === 0) await new Promise(resolve => setTimeout(resolve, 3))
      }
      // A rolled-back change leaves the count of the object as it was, and no notice.
      await client.query((round + seed) % 7 === 0 ? 'rollback' : 'commit')
    }
  })
  const relays = [1, 2, 3].map(async () => {
    while (writing || (await relay({ reactions })) > 0) await relay({ reactions })
  })
  await Promise.all(writers)
  writing = false
  await Promise.all(relays)
  await until(async () => {
    await relay({ reactions })
    return (await owner.query('select 1 from outbox where position is null')).rowCount === 0
  })
  const { rows: things } = await owner.query<{ id: string; n: number }>('select id, n from things')
  const order = await followed()
  for (const { id, n } of things) {
    const own = order.filter(name => name.startsWith(id)).map(name => Number(name.slice(1)))
    expect(own).toEqual(Array.from({ length: n }, (_, index) => index + 1))
  }
  expect(new Set(seen).size).toBe(order.length)
  const { rows: audit } = await owner.query(
    'select count(*)::int as records, count(distinct position)::int as positions from audit_records',
  )
  expect(audit[0]).toEqual({ records: order.length, positions: order.length })
  expect(await verifyChains(database)).toMatchObject({ records: order.length, faults: [] })
})

test('a batch that fails leaves nothing, and the next one takes it whole', async () => {
  for (const n of [1, 2, 3]) await change(owner, 'x', n)
  const failpoints = createFailpoints('relay.before-commit:error')
  // A transaction of another test's database can hold the release up for a moment, so the relay is asked until it tries.
  await until(() =>
    relay({ failpoints }).then(
      () => false,
      (error: Error) => error.message === 'failpoint relay.before-commit',
    ),
  )
  expect(await followed()).toEqual([])
  expect((await owner.query('select 1 from audit_records')).rowCount).toBe(0)
  await until(async () => (await relay()) === 0 && (await followed()).length === 3)
  expect(await followed()).toEqual(['x1', 'x2', 'x3'])
})

test('while one relay is at work, another does nothing', async () => {
  await change(owner, 'y', 1)
  let inner: number | null = null
  const reactions = onThings(async () => {
    inner = await relay()
  })
  await until(async () => (await relay({ reactions })) === 1)
  expect(inner).toBe(0)
  expect(await followed()).toEqual(['y1'])
})

test('a reaction gets the changes of its own types, in their order, and a batch without them does not reach it', async () => {
  const seen: string[][] = []
  const reactions = (['METER.UPDATED', 'METER.CREATED'] as const).map(type =>
    on([type], async (_tx, rows) => {
      seen.push([type, ...rows.map(row => `${row.object_id}${row.data.n}`)])
    }),
  )
  // One that does not read the resources gets none.
  const heads = onHeads(['METER.UPDATED'], async (_tx, rows) => {
    seen.push(rows.map(row => `${row.object_id} ${'data' in row}`))
  })
  // In one transaction: while another test has one open, the relay may otherwise release the first of them alone.
  await owner.query('begin')
  for (const n of [1, 2]) await change(owner, 'z', n)
  await owner.query('commit')
  await until(async () => (await relay({ reactions: [...reactions, heads] })) === 2)
  expect(seen).toEqual([
    ['METER.UPDATED', 'z1', 'z2'],
    ['z false', 'z false'],
  ])
  await change(owner, 'z', 3)
  await until(async () => (await relay({ reactions: [heads] })) === 1)
  expect(seen.slice(2)).toEqual([['z false']])
})

test('an audit record says who changed which fields, also of a row that still holds the whole former resource', async () => {
  await owner.query(
    `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, previous_data, actor_id, request_id, idempotency_key, created_at)
     values ('plat_1', 'TEST', 'evnt_z', 'CUSTOMER.UPDATED', 'CUSTOMER', 'cust_z', '{"email": "b", "name": "n"}', '{"email": "a", "name": "n"}',
       'akey_1', 'reqr_1', 'key', '2026-03-11T10:00:00Z')`,
  )
  await until(async () => (await relay()) === 1)
  const { rows } = await owner.query(
    'select a.*, o.position as outbox_position from audit_records a join outbox o on o.position = a.position',
  )
  expect(rows).toMatchObject([
    {
      platform_id: 'plat_1',
      environment: 'TEST',
      user_id: 'akey_1',
      target_resource_type: 'CUSTOMER',
      target_id: 'cust_z',
      action: 'UPDATED',
      changed_fields: ['email'],
      request_id: 'reqr_1',
      idempotency_key: 'key',
      created_at: new Date('2026-03-11T10:00:00Z'),
    },
  ])
  expect(rows[0].id).toMatch(/^audr_/)
})
