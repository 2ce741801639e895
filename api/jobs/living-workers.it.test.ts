// What a worker had in hand when it was killed is taken by another within seconds, and what a slow one has stays with it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Registry } from 'prom-client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { nodeArgs } from '../../infra/services/project.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { defineJob } from './define-job.ts'
import { prepareJobSchema } from './job-schema.ts'
import { watchWorkers } from './living-workers.ts'
import { createWorkerMetrics } from './metrics.ts'
import { type Jobs, startJobs } from './runner.ts'

let testDatabase: TestDatabase
let owner: pg.Client
let url: string
const children: ChildProcess[] = []
let other: Jobs | null = null

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  await prepareJobSchema(testDatabase.url)
  url = loginOf(testDatabase.url, 'millrace_worker')
  owner = new pg.Client({ connectionString: testDatabase.url })
  await owner.connect()
})
afterEach(async () => {
  await other?.close()
  other = null
  for (const child of children.splice(0)) await kill(child)
})
afterAll(async () => {
  await owner.end()
  await testDatabase.drop()
})

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** A worker with a job in hand that it never ends. */
async function holding(key: string): Promise<ChildProcess> {
  await owner.query(`select graphile_worker.add_job('held', job_key => $1)`, [key])
  const child = spawn(process.execPath, nodeArgs('api/jobs/testing/held-job'), {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  if (child.stdout) await once(child.stdout, 'data')
  return child
}

/** Another worker, in this process; the attempts that it makes at the job. */
async function startOther(): Promise<number[]> {
  const attempts: number[] = []
  const held = defineJob<object>({
    name: 'held',
    class: 'long',
    rights: {},
    run: async (_deps, _payload, { attempt }) => void attempts.push(attempt),
  })
  other = await startJobs(url, [held], { logger: silentLogger, metrics: createWorkerMetrics(new Registry()) })
  return attempts
}

/** Longer than a worker may be without its lock. */
const LONGER_MS = 7_500
/** Who has the job in hand. */
const holder = async (): Promise<unknown> =>
  (await owner.query('select locked_by from graphile_worker.jobs')).rows.map(row => row['locked_by'])

test('a worker that comes at any moment has its lock at once, and lets go of it when it leaves', async () => {
  const held = async (names: readonly string[]): Promise<number> => {
    const { rows } = await owner.query<{ count: number }>(
      `select count(distinct w.name)::int as count from unnest($1::text[]) as w (name) join pg_locks l
         on l.locktype = 'advisory' and l.objid::bigint = (hashtext(w.name)::bigint & 4294967295)`,
      [names],
    )
    return rows[0]?.count ?? 0
  }
  // Some are added before the connection stands, some during the first check, and some after it. The second check would be an hour later.
  const comers = Array.from({ length: 24 }, (_, place) => ({
    name: `comer-${place}`,
    living: watchWorkers(url, silentLogger, { checkMs: 3_600_000 }),
  }))
  const names = comers.map(({ name }) => name)
  try {
    for (const { name, living } of comers) {
      living.add(name)
      await sleep(5)
    }
    await expect.poll(() => held(names), { timeout: 30_000 }).toBe(names.length)
    for (const { name, living } of comers) living.remove(name)
    await expect.poll(() => held(names), { timeout: 30_000 }).toBe(0)
  } finally {
    await Promise.all(comers.map(({ living }) => living.close()))
  }
})

test('a job whose worker is killed is done by another within seconds, once', async () => {
  const child = await holding('killed')
  const attempts = await startOther()
  await kill(child)
  const killedAt = performance.now()
  await expect.poll(() => attempts, { timeout: 60_000, interval: 50 }).toEqual([2])
  // Some ten seconds where the machine has nothing else to do.
  expect(performance.now() - killedAt).toBeLessThan(45_000)
  await expect.poll(async () => (await owner.query('select from graphile_worker.jobs')).rowCount).toBe(0)
  expect(attempts).toEqual([2])
})

test('a worker that starts when all others are dead takes what they left', async () => {
  await kill(await holding('left'))
  const attempts = await startOther()
  await expect.poll(() => attempts, { timeout: 60_000, interval: 50 }).toEqual([2])
})

test('a job stays with a worker that sleeps, and with one whose connections are cut', async () => {
  const child = await holding('slow')
  const attempts = await startOther()
  const held = await holder()
  expect(held).toEqual([expect.any(String)])
  child.kill('SIGSTOP')
  await sleep(LONGER_MS)
  expect(await holder()).toEqual(held)
  child.kill('SIGCONT')
  await owner.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'millrace-living-workers'`)
  await sleep(LONGER_MS)
  expect(await holder()).toEqual(held)
  expect(attempts).toEqual([])
})
