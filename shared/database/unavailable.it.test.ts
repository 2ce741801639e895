// A database that goes away is a refusal that says when to come again, never a bug's 500; and it heals by itself.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { silentLogger } from '../logger.ts'
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts'
import { systemClock } from '../time.ts'
import { type Database, inTenant, openDatabase, readTenant } from './database.ts'

const TENANT = { platformId: 'plat_x', environment: 'LIVE' } as const
const ACTOR = { id: null, requestId: null }

let testDatabase: TestDatabase
let database: Database
let proxy: Server
let port: number
const sockets = new Set<Socket>()

/** Passes connections on to the real server until it is taken away. */
async function openProxy(at: number): Promise<void> {
  const target = new URL(testDatabase.url)
  proxy = createServer(client => {
    const server = connect(Number(target.port), target.hostname)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    client.pipe(server).pipe(client)
  })
  await new Promise<void>(resolve => proxy.listen(at, '127.0.0.1', resolve))
  const address = proxy.address()
  port = typeof address === 'object' && address ? address.port : 0
}

async function takeAway(): Promise<void> {
  const closed = new Promise(resolve => proxy.close(resolve))
  for (const socket of sockets) socket.destroy()
  await closed
}

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  await openProxy(0)
  const url = new URL(testDatabase.url)
  url.host = `127.0.0.1:${port}`
  database = await openDatabase({
    url: url.href,
    role: 'millrace_app',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 2,
  })
})
afterAll(async () => {
  await database?.close()
  await takeAway()
  await testDatabase?.drop()
})

const read = () => readTenant(database, TENANT, async ({ tx }) => (await tx.execute(sql`select 1 as one`)).rows)
const write = () => inTenant(database, TENANT, ACTOR, async ({ tx }) => (await tx.execute(sql`select 1 as one`)).rows)
const refusal = async (work: Promise<unknown>): Promise<unknown> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return error instanceof AppError ? [error.status, error.code, error.details.retryAfterSeconds] : error
}

test('while it is away every transaction is refused with 503 and Retry-After; afterwards they work again', async () => {
  expect([await read(), await write()]).toEqual([[{ one: 1 }], [{ one: 1 }]])
  await takeAway()
  for (const work of [read, write, read]) expect(await refusal(work())).toEqual([503, 'SERVICE_UNAVAILABLE', 2])
  await openProxy(port)
  expect([await read(), await write()]).toEqual([[{ one: 1 }], [{ one: 1 }]])
})

test('a transaction that loses its connection half-way is refused the same way', async () => {
  const cut = inTenant(database, TENANT, ACTOR, async ({ tx }) => {
    await takeAway()
    await tx.execute(sql`select 1`)
  })
  expect(await refusal(cut)).toEqual([503, 'SERVICE_UNAVAILABLE', 2])
  await openProxy(port)
  expect(await read()).toEqual([{ one: 1 }])
})
