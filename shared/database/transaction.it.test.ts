// A transaction whose questions travel together is still one: it holds its tenant, ends as it should, and tells its first fault.
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../process/logger.ts'
import { openTestDatabase } from '../testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts'
import { systemClock } from '../time.ts'
import {
  asSystem,
  type Database,
  inTenant,
  type ReadUow,
  readTenant,
  SERVICE,
  stateAsSystem,
  stateInTenant,
} from './database.ts'
import { listen } from './listen.ts'
import { sendAhead } from './transaction.ts'

const tenant = (platformId: string) => ({ platformId, environment: 'LIVE' }) as const

let testDatabase: TestDatabase
let database: Database
let worker: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const shared = { url: testDatabase.url, clock: systemClock, logger: silentLogger }
  database = await openTestDatabase({ ...shared, role: 'millrace_app', poolMax: 3 })
  worker = await openTestDatabase({ ...shared, role: 'millrace_worker', poolMax: 3 })
})
afterAll(async () => {
  await Promise.all([database?.close(), worker?.close()])
  await testDatabase?.drop()
})

const whose = async ({ tx }: Pick<ReadUow, 'tx'>): Promise<unknown> =>
  (await tx.execute(sql`select current_platform() as platform, current_environment() as environment`)).rows[0]
const nobody = { platform: null, environment: null }

test('each holds its own tenant, whatever its name, and leaves nothing behind on the connection', async () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter(text => !text.includes('\0'))
  const names = fc.array(fc.oneof(name, fc.constantFrom("'", "\\'; reset role; --", '\\')), {
    minLength: 1,
    maxLength: 8,
  })
  await fc.assert(
    fc.asyncProperty(names, fc.boolean(), async (platforms, writing) => {
      const seen = platforms.map(platform =>
        writing ? inTenant(database, tenant(platform), SERVICE, whose) : readTenant(database, tenant(platform), whose),
      )
      expect(await Promise.all(seen)).toEqual(platforms.map(platform => ({ platform, environment: 'LIVE' })))
      expect(await asSystem(worker, 'test', tx => whose({ tx }))).toEqual(nobody)
    }),
    { numRuns: 40 },
  )
})

test('many read and write beside each other, and each sees one moment', async () => {
  const turn = async (index: number): Promise<void> => {
    const platform = `plat_${index}`
    const questions = async ({ tx }: ReadUow) => {
      const [one, two] = await Promise.all([whose({ tx }), tx.execute(sql`select pg_current_snapshot()::text as at`)])
      const three = await tx.execute(sql`select pg_current_snapshot()::text as at`)
      return { one, same: two.rows[0]?.['at'] === three.rows[0]?.['at'] }
    }
    expect(await readTenant(database, tenant(platform), questions)).toEqual({
      one: { platform, environment: 'LIVE' },
      same: true,
    })
  }
  await Promise.all(Array.from({ length: 200 }, (_, index) => turn(index)))
})

test('a read changes nothing', async () => {
  const write = readTenant(database, tenant('plat_a'), ({ tx }) => tx.execute(sql`create temporary table t (a int)`))
  await expect(write).rejects.toMatchObject({ cause: { code: '25006' } })
})

test('what fails is undone, and the fault that came first is the one that is thrown', async () => {
  const notices = () =>
    asSystem(worker, 'test', async tx => (await tx.execute(sql`select count(*)::int as n from outbox`)).rows[0]?.['n'])
  const before = await notices()
  const work = inTenant(database, tenant('plat_a'), SERVICE, async ({ tx }) => {
    await tx.execute(sql`insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at)
      values ('plat_a', 'LIVE', 'evnt_1', 'T', 'T', 't', '{}', now())`)
    await Promise.all([tx.execute(sql`select 1 / 0`), tx.execute(sql`select 2`)])
  })
  await expect(work).rejects.toMatchObject({ cause: { code: '22012' } })
  expect(await notices()).toBe(before)
  expect(await readTenant(database, tenant('plat_b'), whose)).toEqual({ platform: 'plat_b', environment: 'LIVE' })
})

test('a tenant that cannot be entered is a fault, and nothing behind it is done', async () => {
  const reached: unknown[] = []
  const work = inTenant(database, tenant('a\0b'), SERVICE, async uow => reached.push(await whose(uow)))
  await expect(work).rejects.toThrow(RangeError)
  expect(reached).toEqual([])
})

test('who listens on a connection that has just read hears at once', async () => {
  const url = testDatabase.url
  const one = await openTestDatabase({
    url,
    clock: systemClock,
    logger: silentLogger,
    role: 'millrace_app',
    poolMax: 1,
  })
  const notify = () => asSystem(worker, 'test', tx => tx.execute(sql`select pg_notify('millrace_changes', 'heard')`))
  await readTenant(one, tenant('plat_a'), whose)
  let listening: ReturnType<typeof listen> | undefined
  const heard = new Promise<string>((resolve, reject) => {
    const onConnect = (): void => void notify().catch(reject)
    listening = listen(one, 'millrace_changes', { onMessage: resolve, onConnect, logger: silentLogger })
  })
  try {
    expect(await heard).toBe('heard')
  } finally {
    await listening?.close()
    await one.close()
  }
})

test('one statement commits with its answer, or is undone and tells its fault', async () => {
  const insert = `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at)
    select 'plat_s', 'LIVE', 'evnt_s' || n, 'T', 'T', 't', '{}', now() from generate_series(1, $1::int) as n returning id`
  const ids = () =>
    asSystem(worker, 'test', async tx => {
      const { rows } = await tx.execute(sql`select id from outbox where platform_id = 'plat_s' order by id`)
      return rows.map(({ id }) => id)
    })
  const state = (text: string, values: readonly unknown[]) =>
    stateInTenant(database, tenant('plat_s'), { text, values })
  expect(await state(insert, [2])).toEqual([{ id: 'evnt_s1' }, { id: 'evnt_s2' }])
  expect(await ids()).toEqual(['evnt_s1', 'evnt_s2'])
  await expect(state('select 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' })
  // Its first row is new, and a later one is not there twice.
  const twice = insert.replace("'evnt_s' || n", "'evnt_t' || n / 3")
  await expect(state(twice, [2])).rejects.toMatchObject({ code: expect.anything() })
  expect(await ids()).toEqual(['evnt_s1', 'evnt_s2'])
  expect(await state('select current_platform() as of', [])).toEqual([{ of: 'plat_s' }])
  expect(await readTenant(database, tenant('plat_b'), whose)).toEqual({ platform: 'plat_b', environment: 'LIVE' })
})

test('a statement of a system job stands by itself: in no tenant, and at a moment of its own', async () => {
  const alone = {
    url: testDatabase.url,
    clock: systemClock,
    logger: silentLogger,
    role: 'millrace_worker',
    poolMax: 1,
  } as const
  const one = await openTestDatabase(alone)
  try {
    const count = { text: `select count(*)::int as n from outbox where platform_id = $1`, values: ['plat_w'] }
    expect(await stateAsSystem(one, 'test', count)).toEqual([{ n: 0 }])
    const reading = await readTenant(one, tenant('plat_w'), whose)
    expect(reading).toEqual({ platform: 'plat_w', environment: 'LIVE' })
    await inTenant(database, tenant('plat_w'), SERVICE, ({ tx }) =>
      tx.execute(sql`insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at)
        values ('plat_w', 'LIVE', 'evnt_w', 'T', 'T', 't', '{}', now())`),
    )
    // The read before it on this connection saw none of that, and is over.
    expect(await stateAsSystem(one, 'test', count)).toEqual([{ n: 1 }])
    const holds = { text: 'select current_platform() as platform, current_environment() as environment', values: [] }
    expect(await stateAsSystem(one, 'test', holds)).toEqual([nobody])
    await expect(stateAsSystem(one, 'test', { text: 'select 1 / $1::int', values: [0] })).rejects.toMatchObject({
      code: '22012',
    })
    await expect(stateAsSystem(database, 'test', count)).rejects.toThrow('the api role runs no system jobs')
  } finally {
    await one.close()
  }
})

test('what is sent ahead is committed with the rest, and the transaction fails with it', async () => {
  const insert = `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at)
    values ('plat_h', 'LIVE', $1, 'T', 'T', 't', '{}', now())`
  const ids = () =>
    asSystem(worker, 'test', async tx => {
      const { rows } = await tx.execute(sql`select id from outbox where platform_id = 'plat_h' order by id`)
      return rows.map(({ id }) => id)
    })
  const send = (texts: readonly string[], then: (uow: ReadUow) => Promise<unknown> = async () => 'answered') =>
    inTenant(database, tenant('plat_h'), SERVICE, async uow => {
      for (const [index, text] of texts.entries())
        sendAhead(
          uow.tx,
          text === insert ? { text, values: [`evnt_h${index}`], name: 'a notice' } : { text, values: [] },
        )
      return await then(uow)
    })
  expect(await send([insert, insert])).toBe('answered')
  expect(await ids()).toEqual(['evnt_h0', 'evnt_h1'])
  const zero = 'select 1 / (select 0)'
  await expect(send([insert.replace('$1', "'evnt_h2'"), zero])).rejects.toMatchObject({ code: '22012' })
  // The fault of what was asked behind it follows from it.
  await expect(send([zero], whose)).rejects.toMatchObject({ code: '22012' })
  await expect(send([zero], () => Promise.reject(new Error('its own')))).rejects.toMatchObject({ code: '22012' })
  const other = insert.replace('$1', "'evnt_h3'")
  await expect(send([other], () => Promise.reject(new Error('its own')))).rejects.toThrow('its own')
  expect(await ids()).toEqual(['evnt_h0', 'evnt_h1'])
  // Nothing of it is left on the connections.
  expect(await send([], whose)).toEqual({ platform: 'plat_h', environment: 'LIVE' })
})
