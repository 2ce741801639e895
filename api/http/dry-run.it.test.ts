// X-DRY-RUN: the answer of the real call, and nothing kept of it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RESOURCES } from '../modules/modules.ts'
import { customerResource } from '../modules/parties/customers/resource.ts'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import type { Row } from '../testing/wire.ts'

const DRY = { 'x-dry-run': 'true' }
let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api?.close())

/** Everything that is stored, of everybody. */
async function everything(): Promise<string> {
  const tables = await api.sql(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
  )
  const sums = []
  for (const { name } of tables) {
    const [row] = await api.sql(
      `select md5(coalesce(string_agg(t::text, '' order by t::text), '')) as sum from "${name}" t`,
    )
    sums.push(`${name} ${row?.['sum']}`)
  }
  return sums.join('\n')
}

test('every creation, change and deletion of every resource is answered as if done, and nothing is kept', async () => {
  const { aLive } = api.tenants
  const bodies = new Map<string, { body: Row; view: Row | null }>()
  for (const resource of RESOURCES) {
    if (!resource.operations.includes('create')) continue
    const view = await aLive.seed.make(resource)
    bodies.set(resource.path, { body: await resource.fixture.create(aLive.seed), view })
  }
  const before = await everything()
  const outcomes: string[] = []
  for (const resource of RESOURCES) {
    const { body, view } = bodies.get(resource.path) ?? {}
    if (!body || !view) continue
    const made = await aLive.call('POST', `/v1/${resource.path}`, body, DRY)
    expect([resource.path, made.status, made.headers['x-dry-run']]).toEqual([resource.path, 201, 'true'])
    if (resource.operations.includes('get')) {
      expect((await aLive.call('GET', `/v1/${resource.path}/${made.body['id']}`)).status).toBe(404)
    }
    for (const [operation, method, change] of [
      ['update', 'PATCH', resource.fixture.update],
      ['delete', 'DELETE', undefined],
    ] as const) {
      if (!resource.operations.includes(operation) || change === null) continue
      const { status } = await aLive.call(method, `/v1/${resource.path}/${view['id']}`, change, DRY)
      outcomes.push(`${operation} ${status}`)
    }
  }
  expect(outcomes.filter(outcome => outcome === 'update 200').length).toBeGreaterThan(8)
  expect(outcomes.filter(outcome => outcome === 'delete 200').length).toBeGreaterThan(4)
  expect(await everything()).toBe(before)
})

test('what would be refused is refused, and the same call in earnest then acts', async () => {
  const { call, seed } = api.tenants.aLive
  const body = await customerResource.fixture.create(seed)
  const wrong = await call('POST', '/v1/customers', { ...body, timezone: 'Mars' }, DRY)
  expect([wrong.status, wrong.body['field']]).toEqual([400, 'timezone'])
  const withKey = { ...DRY, 'idempotency-key': 'one' }
  expect((await call('POST', '/v1/customers', body, withKey)).status).toBe(201)
  const made = await call('POST', '/v1/customers', body, { 'idempotency-key': 'one' })
  expect([made.status, made.headers['idempotent-replayed'], made.headers['x-dry-run']]).toEqual([
    201,
    undefined,
    undefined,
  ])
  expect((await call('POST', '/v1/customers', body, DRY)).body['code']).toBe('RESOURCE_ALREADY_EXISTS')
  const renamed = await call('PATCH', `/v1/customers/${made.body['id']}`, { email: 'new@example.com' }, DRY)
  expect(renamed.body['email']).toBe('new@example.com')
  expect((await call('GET', `/v1/customers/${made.body['id']}`)).body['email']).not.toBe('new@example.com')
})

test.each([
  ['POST', '/v1/events/x/delete', 'true', 'INVALID_OPERATION'],
  ['POST', '/v1/invoices/x/refresh', 'true', 'INVALID_OPERATION'],
  ['GET', '/v1/customers', 'true', 'INVALID_OPERATION'],
  ['GET', '/v1/nowhere', 'true', 'INVALID_OPERATION'],
  ['POST', '/v1/customers', 'false', 'BAD_REQUEST'],
  ['POST', '/v1/customers', '1', 'BAD_REQUEST'],
])('%s %s with X-DRY-RUN: %s is refused before anything is done', async (method, url, value, code) => {
  const { status, body } = await api.tenants.aLive.call(method, url, method === 'GET' ? undefined : {}, {
    'x-dry-run': value,
  })
  expect([status, body['code'], body['field']]).toEqual([400, code, 'X-DRY-RUN'])
})
