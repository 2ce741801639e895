// Groups are shared among workers: each takes two at a time, and leaves the others to workers that have none.
import pg from 'pg'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { silentLogger } from '../../shared/process/logger.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { CONCURRENCY, defineJob, type JobClass } from './define-job.ts'
import { prepareJobSchema } from './job-schema.ts'
import { createWorkerMetrics } from './metrics.ts'
import { type Jobs, startJobs } from './runner.ts'

let testDatabase: TestDatabase
let owner: pg.Client
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  await prepareJobSchema(testDatabase.url)
  owner = new pg.Client({ connectionString: testDatabase.url })
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await testDatabase.drop()
})

const within = { timeout: 60_000, interval: 20 }

type TestWorker = { readonly jobs: Jobs; readonly groups: string[]; readonly shorts: string[] }

/** A worker whose groups run until they are let go. */
async function startWorker(held: Promise<void>): Promise<TestWorker> {
  const groups: string[] = []
  const shorts: string[] = []
  const job = (name: string, of: JobClass, run: (how: string) => Promise<void>) =>
    defineJob<object, { readonly how: string }>({
      name,
      class: of,
      rights: {},
      run: async (_deps, { how }) => await run(how),
    })
  const all = [
    job('a-group', 'group', async how => {
      groups.push(how)
      await held
    }),
    job('a-short-job', 'short', async how => {
      shorts.push(how)
    }),
  ]
  const deps = { logger: silentLogger, metrics: createWorkerMetrics(new Registry()) }
  return { jobs: await startJobs(loginOf(testDatabase.url, 'millrace_worker'), all, deps), groups, shorts }
}

const queue = (name: string, how: string) =>
  owner.query(`select graphile_worker.add_job($1, json_build_object('how', $2::text), job_key => $3)`, [
    name,
    how,
    `${name}:${how}`,
  ])

test('a worker with two groups takes no third, does its other jobs, and a second worker takes the rest', async () => {
  let letGo = (): void => undefined
  const held = new Promise<void>(resolve => {
    letGo = resolve
  })
  const first = await startWorker(held)
  const names = ['one', 'two', 'three', 'four']
  for (const how of names) await queue('a-group', how)
  await vi.waitFor(() => expect(first.groups).toHaveLength(CONCURRENCY.group), within)
  // It looks for jobs before it takes this one, and found no room for a group.
  await queue('a-short-job', 'beside')
  await vi.waitFor(() => expect(first.shorts).toEqual(['beside']), within)
  expect(first.groups).toHaveLength(CONCURRENCY.group)
  const second = await startWorker(held)
  await vi.waitFor(() => expect(second.groups).toHaveLength(names.length - CONCURRENCY.group), within)
  expect([...first.groups, ...second.groups].toSorted()).toEqual(names.toSorted())
  letGo()
  await first.jobs.close()
  await second.jobs.close()
})
