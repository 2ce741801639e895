// The worker's own role may do across tenants what the listed jobs, the consumers and the relay declare, and nothing else.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { CONSUMERS, JOBS } from '../modules/modules.ts'
import { CONSUMER_RIGHTS } from '../workers/outbox-consumer.ts'
import { RELAY_RIGHTS } from '../workers/outbox-relay.ts'
import type { AnyJob, Rights } from './define-job.ts'
import { crontabOf } from './runner.ts'

let testDatabase: TestDatabase
let owner: pg.Client
const jobs: readonly AnyJob[] = JOBS

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  owner = new pg.Client({ connectionString: testDatabase.url })
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await testDatabase.drop()
})

const declared = (): string[] => {
  const all: Rights[] = [
    RELAY_RIGHTS,
    CONSUMER_RIGHTS,
    ...CONSUMERS.map(of => of.rights),
    ...jobs.map(job => job.rights),
  ]
  const rights = all.flatMap(of => Object.entries(of).flatMap(([table, may]) => may.map(each => `${table} ${each}`)))
  return [...new Set(rights)].sort()
}

test('every right of the role is declared by a job, and every declared right is there', async () => {
  const { rows } = await owner.query<{ right: string }>(
    `select distinct table_name || ' ' || lower(privilege_type) as right from information_schema.role_column_grants
       where grantee = 'millrace_worker' and table_schema = 'public'
     union
     select table_name || ' ' || lower(privilege_type) from information_schema.role_table_grants
       where grantee = 'millrace_worker' and table_schema = 'public'`,
  )
  expect(rows.map(row => row.right).sort()).toEqual(declared())
})

// Cursors are of no tenant.
const WITHOUT_TENANT = ['outbox_consumers ']

test('row-level security lets the role through where it has a right, and nowhere else', async () => {
  const { rows } = await owner.query<{ right: string }>(
    `select tablename || ' ' || lower(cmd) as right from pg_policies
     where schemaname = 'public' and 'millrace_worker' = any(roles)`,
  )
  expect(rows.map(row => row.right).sort()).toEqual(
    declared().filter(right => !WITHOUT_TENANT.some(table => right.startsWith(table))),
  )
})

test('every job has a name of its own, and runs by the crontab, at the start, or by being queued', () => {
  expect(new Set(jobs.map(job => job.name)).size).toBe(jobs.length)
  expect(crontabOf(jobs)).toContain('23 3 * * * verify-audit ?jobKey=verify-audit&max=3\n')
  for (const { name, every } of jobs) expect(every ?? '* * * * *', name).toMatch(/^\S+ \S+ \S+ \S+ \S+$/)
})
