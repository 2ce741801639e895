// A database that goes away is a refusal that says when to come again, never a bug's 500; and it heals by itself.

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { silentLogger } from '../process/logger.ts'
import { openTestDatabase } from '../testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts'
import { type ServerProxy, startServerProxy } from '../testing/server-proxy.ts'
import { systemClock } from '../time.ts'
import { asSystem, type Database, inTenant, readTenant, SERVICE, stateInTenant } from './database.ts'
import { listen } from './listen.ts'

const TENANT = { platformId: 'plat_x', environment: 'LIVE' } as const

let testDatabase: TestDatabase
let database: Database
let proxy: ServerProxy

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  proxy = await startServerProxy(testDatabase.url)
  database = await openTestDatabase({
    url: proxy.url,
    role: 'millrace_app',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 2,
  })
})
afterAll(async () => {
  await database?.close()
  await proxy.takeAway()
  await testDatabase?.drop()
})

const read = () => readTenant(database, TENANT, async ({ tx }) => (await tx.execute(sql`select 1 as one`)).rows)
const write = () => inTenant(database, TENANT, SERVICE, async ({ tx }) => (await tx.execute(sql`select 1 as one`)).rows)
const refusal = async (work: Promise<unknown>): Promise<unknown> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return error instanceof AppError ? [error.status, error.code, error.details.retryAfterSeconds] : error
}

test('while it is away every transaction is refused with 503 and Retry-After; afterwards they work again', async () => {
  expect([await read(), await write()]).toEqual([[{ one: 1 }], [{ one: 1 }]])
  await proxy.takeAway()
  for (const work of [read, write, read]) expect(await refusal(work())).toEqual([503, 'SERVICE_UNAVAILABLE', 2])
  await proxy.bringBack()
  expect([await read(), await write()]).toEqual([[{ one: 1 }], [{ one: 1 }]])
})

test('a transaction that loses its connection half-way is refused the same way', async () => {
  const cut = inTenant(database, TENANT, SERVICE, async ({ tx }) => {
    await proxy.takeAway()
    await tx.execute(sql`select 1`)
  })
  expect(await refusal(cut)).toEqual([503, 'SERVICE_UNAVAILABLE', 2])
  await proxy.bringBack()
  expect(await read()).toEqual([{ one: 1 }])
})

// The commit can reach a server whose answer never comes: who is told that nothing was changed would do it twice.
test.each<[string, string, () => Promise<unknown>]>([
  [
    'is lost while it is asked',
    'The database is not available; send it again.',
    () =>
      inTenant(database, TENANT, SERVICE, async ({ tx }) => {
        await tx.execute(sql`select 1`)
        proxy.hang()
        await tx.execute(sql`select 1`)
      }),
  ],
  [
    'is lost while it is committed',
    'whether it takes effect is not known',
    () =>
      inTenant(database, TENANT, SERVICE, async ({ tx }) => {
        await tx.execute(sql`select 1`)
        proxy.hang()
      }),
  ],
  [
    'is one statement with its commit',
    'whether it takes effect is not known',
    async () => {
      await read()
      proxy.hang()
      await stateInTenant(database, TENANT, { text: 'select 1', values: [] })
    },
  ],
])(
  'a transaction that %s says so',
  async (_how, expected, work) => {
    const error = await work().then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining(expected) })
    await proxy.bringBack()
    await expect.poll(() => read().catch(() => null), { timeout: 20_000 }).toEqual([{ one: 1 }])
  },
  60_000,
)

const openOther = (poolMax: number): Promise<Database> =>
  openTestDatabase({
    url: proxy.url,
    role: 'millrace_gateway',
    clock: systemClock,
    logger: silentLogger,
    poolMax,
    connectMs: 2_000,
  })

test('a listener that is closed while it connects gives its connection back', async () => {
  const other = await openOther(1)
  const listener = listen(other, 'millrace_changes', {
    onMessage: () => undefined,
    onConnect: () => undefined,
    logger: silentLogger,
  })
  await listener.close()
  const { rows } = await asSystem(other, 'load-api-keys', tx => tx.execute(sql`select 1 as one`))
  expect(rows).toEqual([{ one: 1 }])
  await other.close()
})

test('while it hangs, connections are closed all the same, and what waits on them hears of it', async () => {
  const other = await openOther(3)
  const ask = () => asSystem(other, 'load-api-keys', tx => tx.execute(sql`select 1`))
  await Promise.all([ask(), ask()])
  proxy.hang()
  // One on a connection that was there, and a third that must connect.
  const asked = await Promise.allSettled([ask(), ask(), ask(), other.close()])
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled'])
  await proxy.bringBack()
})

test('closing twice, at once and one after the other, is closing once', async () => {
  const other = await openOther(2)
  await asSystem(other, 'load-api-keys', tx => tx.execute(sql`select 1`))
  await Promise.all([other.close(), other.close()])
  await other.close()
})
