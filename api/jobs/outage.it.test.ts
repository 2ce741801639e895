// The worker outlives PostgreSQL: when the server goes away while the end of a job is being recorded, the process continues, says
// what is wrong, and works again once the server is back.

import pg from 'pg'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type Logger, silentLogger } from '../../shared/process/logger.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { type ServerProxy, startServerProxy } from '../../shared/testing/server-proxy.ts'
import { defineJob } from './define-job.ts'
import { prepareJobSchema } from './job-schema.ts'
import { createWorkerMetrics } from './metrics.ts'
import { QueuePool } from './queue-pool.ts'
import { startJobs } from './runner.ts'

let testDatabase: TestDatabase
let proxy: ServerProxy
let owner: pg.Client
const unhandled = vi.fn()

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  await prepareJobSchema(testDatabase.url)
  proxy = await startServerProxy(testDatabase.url)
  owner = new pg.Client({ connectionString: testDatabase.url })
  await owner.connect()
  process.on('unhandledRejection', unhandled)
})
afterAll(async () => {
  process.off('unhandledRejection', unhandled)
  await owner.end()
  await proxy.takeAway()
  await testDatabase.drop()
})

// A test that failed half-way is tried again with a server that is there.
beforeEach(() => proxy.bringBack())

const queue = (name: string, how: string) =>
  owner.query(`select graphile_worker.add_job($1, json_build_object('how', $2::text), job_key => $3)`, [
    name,
    how,
    `${name}:${how}`,
  ])
const within = { timeout: 60_000, interval: 50 }

/** Starts a queue with one job of this name, which runs so. */
const startQueue = (name: string, run: (how: string) => Promise<void>, logger: Logger = silentLogger) => {
  const job = defineJob<object, { readonly how: string }>({
    name,
    class: 'short',
    rights: {},
    run: async (_deps, { how }) => await run(how),
  })
  const deps = { logger, metrics: createWorkerMetrics(new Registry()) }
  return startJobs(loginOf(proxy.url, 'millrace_worker'), [job], deps)
}

test.each(['fails', 'succeeds'])(
  'while a job that %s is recorded PostgreSQL dies: the next jobs run when it is back',
  async end => {
    const done: string[] = []
    const name = `job-that-${end}`
    const run = async (how: string): Promise<void> => {
      done.push(how)
      if (how !== 'last') return
      await proxy.takeAway()
      if (end === 'fails') throw new Error('the job fails as its database goes away')
    }
    const jobs = await startQueue(name, run)
    await queue(name, 'first')
    await vi.waitFor(() => expect(done).toEqual(['first']), within)
    await queue(name, 'last')
    await vi.waitFor(() => expect(jobs.fault()).toMatch(/^the job queue/), within)
    await proxy.bringBack()
    await vi.waitFor(() => expect(jobs.fault()).toBeNull(), within)
    await queue(name, 'after')
    await vi.waitFor(() => expect(done).toContain('after'), within)
    await jobs.close()
    expect(unhandled).not.toHaveBeenCalled()
  },
)

test('jobs that end one after the other while PostgreSQL is away: the queue says so at once, and starts again after the last', async () => {
  const done: string[] = []
  const name = 'job-among-others'
  const ends = new Map<string, () => void>()
  const run = async (how: string): Promise<void> => {
    done.push(how)
    if (how !== 'after') await new Promise<void>(resolve => ends.set(how, resolve))
  }
  const unrecorded = vi.fn()
  const note = (_of: unknown, message?: string) => {
    if (message?.startsWith('Failed to complete jobs')) unrecorded()
  }
  const logger: Logger = Object.assign(Object.create(silentLogger), { warn: note })
  const jobs = await startQueue(name, run, logger)
  // As many as run at a time: from the fourth on, the library's count never comes back to zero.
  const names = ['one', 'two', 'three', 'four']
  for (const how of names) await queue(name, how)
  await vi.waitFor(() => expect(ends.size).toBe(names.length), within)
  await proxy.takeAway()
  for (const [index, how] of names.entries()) {
    ends.get(how)?.()
    await vi.waitFor(() => expect(unrecorded).toHaveBeenCalledTimes(index + 1), within)
    expect(jobs.fault()).toMatch(/^the job queue/)
  }
  await proxy.bringBack()
  await vi.waitFor(() => expect(jobs.fault()).toBeNull(), within)
  await queue(name, 'after')
  await vi.waitFor(() => expect(done).toContain('after'), within)
  await jobs.close()
  expect(unhandled).not.toHaveBeenCalled()
})

test('a queue that starts again while its worker closes is closed with it, and closing twice is closing once', async () => {
  const done: string[] = []
  const name = 'job-during-a-stop'
  const run = async (how: string): Promise<void> => {
    done.push(how)
    await proxy.takeAway()
    throw new Error('the job fails as its database goes away')
  }
  const jobs = await startQueue(name, run)
  await queue(name, 'first')
  await vi.waitFor(() => expect(jobs.fault()).toMatch(/^the job queue/), within)
  // The library reads this table while it starts, and now waits for it.
  await owner.query('begin; lock table graphile_worker.migrations in access exclusive mode')
  const count = async (of: string) => (await owner.query(`select 1 from ${of}`)).rows.length
  await proxy.bringBack()
  await vi.waitFor(async () => expect(await count('pg_locks where not granted')).toBeGreaterThan(0), within)
  const closed = Promise.all([jobs.close(), jobs.close()])
  await owner.query('commit')
  await closed
  await jobs.close()
  expect(jobs.fault()).toBe('the job queue was left')
  const others = 'pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  await vi.waitFor(async () => expect(await count(others)).toBe(0), within)
  expect(done).toEqual(['first'])
  expect(unhandled).not.toHaveBeenCalled()
})

test('a connection given back twice, as the library does when its LISTEN fails while it stops, is given back once', async () => {
  const pool = new QueuePool({ connectionString: testDatabase.url, max: 1 })
  const take = () =>
    new Promise<() => void>((resolve, reject) => {
      pool.connect((error, _client, release) => (error ? reject(error) : resolve(() => release())))
    })
  const giveBack = await take()
  giveBack()
  const next = await take()
  // It is another's now.
  giveBack()
  expect(pool.idleCount).toBe(0)
  next()
  expect(pool.idleCount).toBe(1)
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})
