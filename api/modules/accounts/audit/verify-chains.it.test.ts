// The audit chain in a real database: what the relay writes holds, and whatever is done to the rows afterwards is found.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { verifyInstallation } from '../../../../infra/audit/verify-installation.ts'
import { nodeArgs } from '../../../../infra/services/project.ts'
import type { Database } from '../../../../shared/database/database.ts'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { silentLogger } from '../../../../shared/process/logger.ts'
import { loginOf, openTestDatabase } from '../../../../shared/testing/database-logins.ts'
import { uniqueName } from '../../../../shared/testing/names.ts'
import { systemClock } from '../../../../shared/time.ts'
import { createWorkerMetrics } from '../../../jobs/metrics.ts'
import { type ApiHarness, startOwnApi } from '../../../testing/harness.ts'
import { relayBatch } from '../../../workers/outbox-relay.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { verifyAudit } from './verify-audit.ts'
import { verifyChains } from './verify-chains.ts'

let api: ApiHarness
let worker: Database
/** A copy of what was written, to put back before each test. */
const COPY =
  'create table audit_records_copy as table audit_records; create table audit_chains_copy as table audit_chains'
const RESTORE = `truncate audit_records, audit_chains; insert into audit_records table audit_records_copy;
  insert into audit_chains table audit_chains_copy`

const openWorker = (url: string) =>
  openTestDatabase({ url, role: 'millrace_worker', clock: systemClock, logger: silentLogger, poolMax: 2 })

async function relayAll(): Promise<void> {
  const failpoints = createFailpoints('')
  while ((await api.sql('select 1 from outbox where position is null')).length > 0)
    await relayBatch({ database: worker, reactions: [], failpoints })
}

beforeAll(async () => {
  api = await startOwnApi()
  worker = await openWorker(api.databaseUrl)
  for (const tenant of [api.tenants.aLive, api.tenants.bLive]) {
    const { id } = await tenant.seed.make(customerResource)
    for (const timezone of ['Europe/Rome', 'Europe/Oslo', 'Europe/Rome', 'Europe/Oslo'])
      await tenant.call('PATCH', `/v1/customers/${id}`, { timezone })
    // Several batches make one chain.
    await relayAll()
  }
  await api.sql(COPY)
})
beforeEach(() => api.sql(RESTORE))
afterAll(async () => {
  await worker.close()
  await api.close()
})

const a = () => api.tenants.aLive.tenant.platformId
const kinds = async () => (await verifyChains(worker)).faults.map(({ platform_id, kind }) => [platform_id, kind])

test('what the relay wrote holds, and each tenant has a chain of its own from 1', async () => {
  const { records, heads, faults } = await verifyChains(worker)
  expect(faults).toEqual([])
  expect(records).toBe(10)
  expect(heads.map(head => head.sequence)).toEqual(['5', '5'])
})

test.each([
  ['a word of a message', `update audit_records set message = message || '.' where sequence = 3`, 'CHANGED'],
  ['who it was', `update audit_records set user_id = 'user_else' where sequence = 2`, 'CHANGED'],
  [
    'when it was, by a microsecond',
    `update audit_records set created_at = created_at + interval '1 microsecond' where sequence = 2`,
    'CHANGED',
  ],
  ['an address', `update audit_records set ip = null where sequence = 4`, 'CHANGED'],
  ['a record is deleted', `delete from audit_records where sequence = 3`, 'MISSING'],
  ['the last record is deleted', `delete from audit_records where sequence = 5`, 'MISSING'],
  ['all records are deleted', `delete from audit_records`, 'MISSING'],
  ['the kept head is deleted', `delete from audit_chains`, 'HEAD'],
  [
    'two records change places',
    `update audit_records set sequence = case sequence when 2 then 30 else sequence end; 
    update audit_records set sequence = 2 where sequence = 3; update audit_records set sequence = 3 where sequence = 30`,
    'UNLINKED',
  ],
  [
    'a record is put in at the end',
    `insert into audit_records select (jsonb_populate_record(r, '{"id": "audr_x", "sequence": 6, "position": 999999}')).*
    from audit_records r where sequence = 5`,
    'UNLINKED',
  ],
  [
    'a record is put in before the first',
    `insert into audit_records select (jsonb_populate_record(r, '{"id": "audr_x", "sequence": 0, "position": 0}')).*
    from audit_records r where sequence = 1`,
    'MISSING',
  ],
])('%s: it is found, and in that tenant alone', async (_what, statement, kind) => {
  const where = ` and platform_id = '${a()}'`
  for (const part of statement.split(';'))
    await api.sql(/ where /.test(part) ? part + where : `${part} where true${where}`)
  const found = await kinds()
  expect(found).toContainEqual([a(), kind])
  expect(new Set(found.map(([platform]) => platform))).toEqual(new Set([a()]))
})

test('a chain written anew, head and all, holds in itself and not against heads kept elsewhere', async () => {
  const { heads } = await verifyChains(worker)
  await api.sql(`delete from audit_records where sequence = 5; update audit_chains c set sequence = 4, hash = r.hash
    from audit_records r where r.platform_id = c.platform_id and r.sequence = 4`)
  expect(await kinds()).toEqual([])
  expect((await verifyChains(worker, heads)).faults).toMatchObject([{ kind: 'MISSING' }, { kind: 'MISSING' }])
  await api.sql('truncate audit_records, audit_chains')
  expect((await verifyChains(worker, heads)).faults).toHaveLength(2)
})

test('heads of an earlier verification still hold when the chain has grown', async () => {
  const { heads } = await verifyChains(worker)
  await api.tenants.aLive.seed.make(customerResource)
  await relayAll()
  const later = await verifyChains(worker, heads)
  expect(later).toMatchObject({ records: 11, faults: [] })
})

test.each(['millrace_app', 'millrace_worker', 'millrace_gateway', 'millrace_identity'])(
  '%s can neither change nor remove a record',
  async role => {
    for (const statement of [
      'update audit_records set message = message',
      'delete from audit_records',
      'truncate audit_records',
    ])
      await expect(api.sql(`set role ${role}; ${statement}`)).rejects.toMatchObject({ code: '42501' })
    await api.sql('reset role')
  },
)

test('a record says who, by which credential, from where, and what they are called', async () => {
  const [first] = (await api.tenants.aLive.call('GET', '/v1/audit-records?order_direction=asc')).body['data']
  expect(first).toMatchObject({ user_name: 'First key', credential_id: first.user_id, ip: '127.0.0.1', sequence: 1 })
  expect(first.hash).toMatch(/^[0-9a-f]{64}$/)
})

test('the nightly look sets the metric, and the command ends by what it found', async () => {
  const metrics = createWorkerMetrics(new Registry())
  const nightly = async () => {
    await verifyAudit({ system: worker, metrics, logger: silentLogger })
    return (await metrics.auditFaults.get()).values[0]?.value
  }
  const command = () => verifyInstallation({ DATABASE_URL: loginOf(api.databaseUrl, 'millrace_worker') }, [])
  expect(await nightly()).toBe(0)
  expect((await command()).faults).toEqual([])
  await api.sql('delete from audit_records where sequence = 2')
  expect(await nightly()).toBeGreaterThan(0)
  expect((await command()).faults).not.toEqual([])
})

test('npm run audit:verify ends with 0 when the chains hold, 1 when not, 2 when nobody can tell', async () => {
  const run = (url: string) =>
    new Promise<number | string | undefined>(resolve => {
      const child = execFile('node', nodeArgs('infra/audit/main'), {
        env: { PATH: process.env['PATH'], DATABASE_URL: url },
      })
      child.once('exit', code => resolve(code ?? undefined))
    })
  const url = loginOf(api.databaseUrl, 'millrace_worker')
  expect(await run(url)).toBe(0)
  await api.sql('delete from audit_records where sequence = 2')
  expect(await run(url)).toBe(1)
  // A server that is away would be waited for.
  const absent = new URL(url)
  absent.pathname = '/nothing'
  expect(await run(absent.href)).toBe(2)
})

test('records from before the chain are chained by the migration, and hold', async () => {
  const name = uniqueName()
  await api.sql(`create database ${name}`)
  const url = new URL(inject('databaseUrl'))
  url.pathname = `/${name}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  const folder = 'shared/database/migrations'
  const files = readdirSync(folder).sort()
  const chained = files.findIndex(file => file.startsWith('0023'))
  const apply = async (some: string[]) => {
    for (const file of some) await client.query(readFileSync(join(folder, file), 'utf8'))
  }
  try {
    await apply(files.slice(0, chained))
    await client.query(`insert into audit_records (platform_id, environment, id, position, user_id, target_resource_type, target_id, action,
        message, changed_fields, request_id, created_at)
      select 'plat_' || n % 2, 'LIVE', 'audr_' || n, n, nullif('akey', 'akey'), 'CUSTOMER', 'cust_é', 'UPDATED', 'a: b', '{"x","ÿ"}', 'r', now()
      from generate_series(1, 6) n`)
    await apply(files.slice(chained))
    const database = await openWorker(url.href)
    expect(await verifyChains(database)).toMatchObject({ records: 6, faults: [] })
    await database.close()
  } finally {
    await client.end()
    await api.sql(`drop database ${name} with (force)`)
  }
})
