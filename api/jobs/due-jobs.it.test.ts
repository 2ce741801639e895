// Jobs that become due while every worker is idle, which no notification says: they begin soon, and side by side.
import pg from 'pg'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../shared/process/logger.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { CONCURRENCY, defineJob } from './define-job.ts'
import { NET_MS } from './due-jobs.ts'
import { prepareJobSchema } from './job-schema.ts'
import { createWorkerMetrics } from './metrics.ts'
import { startJobs } from './runner.ts'

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

/** Sooner than a worker looks by itself, and time enough for any machine. */
const within = { timeout: NET_MS / 2, interval: 50 }

/** Without the notification that comes with a job. */
async function queueLater(name: string, key: string): Promise<void> {
  await owner.query(`select graphile_worker.add_job($1, job_key => $2, run_at => now() + interval '1 hour')`, [
    name,
    key,
  ])
}
const makeDue = () => owner.query('update graphile_worker._private_jobs set run_at = now() where locked_at is null')

test('jobs whose time comes begin within seconds, as many at once as there are workers, and so does one that failed', async () => {
  let begun = 0
  const attempts: number[] = []
  let letGo = (): void => undefined
  const held = new Promise<void>(resolve => {
    letGo = resolve
  })
  const jobs = await startJobs(
    loginOf(testDatabase.url, 'millrace_worker'),
    [
      defineJob<object>({
        name: 'held',
        class: 'short',
        rights: {},
        run: async () => {
          begun += 1
          await held
        },
      }),
      defineJob<object>({
        name: 'failing',
        class: 'long',
        rights: {},
        run: async (_deps, _payload, { attempt }) => {
          attempts.push(attempt)
          if (attempt === 1) throw new Error('not yet')
        },
      }),
    ],
    { logger: silentLogger, metrics: createWorkerMetrics(new Registry()) },
  )
  try {
    for (let each = 0; each <= CONCURRENCY.short; each += 1) await queueLater('held', `held-${each}`)
    await queueLater('failing', 'failing')
    await makeDue()
    await expect.poll(() => begun, within).toBe(CONCURRENCY.short)
    await expect.poll(() => attempts, within).toEqual([1])
    await expect
      .poll(
        async () => (await owner.query(`select from graphile_worker.jobs where locked_at is not null`)).rowCount,
        within,
      )
      .toBe(CONCURRENCY.short)
    await makeDue()
    await expect.poll(() => attempts, within).toEqual([1, 2])
    letGo()
    await expect.poll(() => begun, within).toBe(CONCURRENCY.short + 1)
    await expect.poll(async () => (await owner.query('select from graphile_worker.jobs')).rowCount, within).toBe(0)
  } finally {
    letGo()
    await jobs.close()
  }
})
