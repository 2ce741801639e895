// The audit trail as it is read: what a tenant's own calls did, page by page, and nobody else's.

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../../../shared/database/database.ts'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../testing/harness.ts'
import { openWorkerDatabase } from '../../../testing/worker.ts'
import { relayBatch } from '../../../workers/outbox-relay.ts'
import { customerResource } from '../../parties/customers/resource.ts'

let api: ApiHarness
let tenant: TestTenant
let worker: Database
let customer: string

beforeAll(async () => {
  api = await startOwnApi()
  tenant = api.tenants.aLive
  worker = await openWorkerDatabase(api)
  customer = (await tenant.seed.make(customerResource))['id']
  for (const timezone of ['Europe/Rome', 'Europe/Oslo', 'Europe/Oslo'])
    await tenant.call('PATCH', `/v1/customers/${customer}`, { timezone })
  await api.tenants.bLive.seed.make(customerResource)
  const pending = async () => (await api.sql('select 1 from outbox where position is null')).length > 0
  while (await pending()) await relayBatch({ database: worker, reactions: [], failpoints: createFailpoints('') })
})
afterAll(async () => {
  await worker.close()
  await api.close()
})

const list = async (query: string) => (await tenant.call('GET', `/v1/audit-records?${query}`)).body

test('every change of a resource is there once, newest first, with who made it and what changed', async () => {
  const { data } = await list(`target_id=${customer}`)
  expect(data).toMatchObject([
    { object_type: 'AUDIT_RECORD', action: 'UPDATED', changed_fields: ['timezone'] },
    { action: 'UPDATED', changed_fields: ['timezone'] },
    { action: 'CREATED', changed_fields: [], target_resource_type: 'CUSTOMER', target_environment: 'LIVE' },
  ])
  expect(data[0].user_id).toMatch(/^akey_/)
  expect(data[0].request_id).toMatch(/^reqr_/)
  expect(data[0]).not.toHaveProperty('position')
  expect(await list(`user_id=${data[0].user_id}&target_type=CUSTOMER`)).toMatchObject({ data })
  expect((await list('target_type=METER'))['data']).toEqual([])
  expect((await list('created_at=[2020-01-01T00:00:00Z,2020-02-01T00:00:00Z]'))['data']).toEqual([])
})

test('pages are followed by their links and never repeat', async () => {
  const first = await list(`target_id=${customer}&limit=2&order_direction=asc`)
  expect(first).toMatchObject({ page: 1, limit: 2, total_number_of_pages: 2 })
  const second = (await tenant.call('GET', first['links'].next)).body
  const actions = [...first['data'], ...second['data']].map(record => record.action)
  expect(actions).toEqual(['CREATED', 'UPDATED', 'UPDATED'])
  const [oldest, middle] = first['data']
  const following = await list(`target_id=${customer}&order_direction=asc&starting_after=${oldest.id}`)
  expect(following['data']).toEqual([middle, ...second['data']])
  const newest = await list(`target_id=${customer}&ending_before=${middle.id}`)
  expect(newest['data']).toEqual(second['data'])
})

test('one record is read by its id, and by no other tenant', async () => {
  const [record] = (await list(`target_id=${customer}`))['data']
  expect((await tenant.call('GET', `/v1/audit-records/${record.id}`)).body).toEqual(record)
  for (const other of [api.tenants.aTest, api.tenants.bLive]) {
    expect((await other.call('GET', `/v1/audit-records/${record.id}`)).status).toBe(404)
    expect((await other.call('GET', `/v1/audit-records?target_id=${customer}`)).body['data']).toEqual([])
  }
})

test.each(['POST', 'PATCH', 'DELETE'])(
  'there is no %s: the trail is written with the changes themselves',
  async method => {
    expect((await tenant.call(method, '/v1/audit-records', {})).status).toBe(405)
    await expect(
      api.sql('set role millrace_app; insert into audit_records select * from audit_records limit 1'),
    ).rejects.toMatchObject({ code: '42501' })
    await api.sql('reset role')
  },
)

test('an unknown filter is refused by name', async () => {
  expect(await list('target_entity_id=x')).toMatchObject({ code: 'INVALID_FIELD', field: 'target_entity_id' })
})
