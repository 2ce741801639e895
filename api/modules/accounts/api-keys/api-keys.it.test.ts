// API keys through the api: made, shown once, listed, changed, ended, and never more powerful than who made them
// (contract: Authentication 1; security section 4 and section 8, row 14).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashApiKey } from '../../../../shared/access/api-key.ts'
import { createPlatform, createUser } from '../../../../shared/access/create-platform.ts'
import { createIngestKey } from '../../../../shared/access/ingest-key.ts'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, callerWith, startApi, type TestTenant } from '../../../testing/harness.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

const create = (body: object = {}, headers: Record<string, string> = {}) =>
  tenant.call('POST', '/v1/api-keys', body, headers)
const as = (key: string) => callerWith(api.app, { 'x-api-key': key })
const patch = (id: string, body: object) => tenant.call('PATCH', `/v1/api-keys/${id}`, body)

/** A platform of its own, with one key in LIVE. */
async function platform() {
  const made = await createPlatform(api.databaseUrl, 'Platform of its own')
  const call = as(made.environments.LIVE.api_key)
  const [key] = (await call('GET', '/v1/api-keys')).body['data']
  return { id: made.id, call, keyId: key.id as string }
}

describe('a new key', () => {
  test('is shown once, works at once, and its text is kept nowhere', async () => {
    const made = await create({ description: 'for the exporter', role_type: 'ADMINISTRATOR' })
    expect(made.status).toBe(201)
    expect(made.headers['cache-control']).toBe('no-store')
    const { api_key: text, id } = made.body
    expect(text).toMatch(/^millrace_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/)
    expect(made.body).toMatchObject({
      object_type: 'API_KEY',
      type: 'STANDARD',
      role_type: 'ADMINISTRATOR',
      description: 'for the exporter',
      active: true,
      status: 'ACTIVE',
      display_prefix: text.slice(0, 26),
      last_four: text.slice(-4),
      original_user_ids: [],
      last_used_at: null,
      revoked_at: null,
    })
    expect((await as(text)('POST', '/v1/customers', { type: 'INDIVIDUAL' })).status).toBe(201)
    const read = (await tenant.call('GET', `/v1/api-keys/${id}`)).body
    expect(read['api_key'] ?? null).toBeNull()
    expect(JSON.stringify(read)).not.toContain(hashApiKey(text))
    expect(await rowsWith(text)).toEqual([])
  })

  test('is not shown to a repeat of the call either', async () => {
    const headers = { 'idempotency-key': tenant.seed.unique('once') }
    const made = await create({ description: 'once' }, headers)
    const again = await create({ description: 'once' }, headers)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toEqual({ ...made.body, api_key: null })
    expect(await rowsWith(made.body['api_key'])).toEqual([])
  })

  test('may read and no more when nothing else is asked for', async () => {
    const { api_key: text, role_type: role } = (await create()).body
    expect(role).toBe('READ_ONLY')
    expect((await as(text)('GET', '/v1/customers')).status).toBe(200)
    expect(refusal(await as(text)('POST', '/v1/api-keys', {}))).toEqual([403, 'USER_NOT_ALLOWED', undefined])
  })

  test.each([
    ['a text of its own', { api_key: 'x' }, 'api_key'],
    ['a role there is not', { role_type: 'OWNER' }, 'role_type'],
    ['the role of the service itself', { role_type: 'INGEST' }, 'role_type'],
    ['the type of the service itself', { type: 'INTERNAL' }, 'type'],
    ['users, though it is no PROXY', { original_user_ids: ['user_x'] }, 'original_user_ids'],
  ])('is refused with %s', async (_name, body, field) => {
    expect(refusal(await create(body))).toEqual([400, 'INVALID_FIELD', field])
  })
})

/** The tables that hold the text anywhere in a row. */
async function rowsWith(text: string): Promise<string[]> {
  const tables = await api.sql(
    `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  )
  const found: string[] = []
  for (const { relname } of tables as { relname: string }[]) {
    const [row] = await api.sql(`select count(*)::int as n from "${relname}" t where t::text like '%' || $1 || '%'`, [
      text,
    ])
    if (row?.['n'] > 0) found.push(relname)
  }
  return found
}

test('a key is never shown again, and says so', async () => {
  const { id } = (await create()).body
  const answer = await tenant.call('GET', `/v1/api-keys/${id}/decrypt`)
  expect([answer.status, answer.body['code']]).toEqual([400, 'INVALID_OPERATION'])
  expect((await tenant.call('GET', '/v1/api-keys/akey_0000000000000000000000/decrypt')).status).toBe(404)
})

test('keys are listed, those of the service itself never', async () => {
  const { id, call } = await platform()
  const tenantOf = { platformId: id, environment: 'LIVE' } as const
  const internal = await inTenant(api.database, tenantOf, SERVICE, uow => createIngestKey(uow, 'a file'))
  const one = (await call('POST', '/v1/api-keys', { description: 'one' })).body['id']
  await call('POST', `/v1/api-keys/${one}/revoke`)
  const idsOf = async (query: string) =>
    (await call('GET', `/v1/api-keys${query}`)).body['data'].map((each: { description: string }) => each.description)
  expect((await idsOf('')).toSorted()).toEqual(['First key', 'one'])
  expect(await idsOf('?active=true')).toEqual(['First key'])
  expect(await idsOf('?active=false')).toEqual(['one'])
  expect((await call('GET', `/v1/api-keys/${internal.id}`)).status).toBe(404)
  expect((await call('PATCH', `/v1/api-keys/${internal.id}`, { description: 'x' })).status).toBe(404)
  expect((await call('POST', `/v1/api-keys/${internal.id}/revoke`)).status).toBe(404)
  expect((await call('POST', '/v1/api-keys/search', { resource_id: internal.id, include_inactive: true })).status).toBe(
    404,
  )
})

test('one key is found by what is known of it', async () => {
  const { id, display_prefix: prefix } = (await create({ type: 'PROXY' })).body
  const search = async (body: object) => (await tenant.call('POST', '/v1/api-keys/search', body)).body
  expect(await search({ resource_id: id })).toMatchObject({ object_type: 'API_KEY', id })
  expect(await search({ resource_id: prefix })).toMatchObject({ id })
  expect(await search({ user_type: 'PROXY' })).toMatchObject({ id })
  expect(await search({ resource_id: id, user_type: 'STANDARD' })).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  await tenant.call('POST', `/v1/api-keys/${id}/revoke`)
  expect(await search({ resource_id: id })).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  expect(await search({ resource_id: id, include_inactive: true })).toMatchObject({ id, active: false })
  const { email } = await createUser(api.databaseUrl, 'maker@example.com', [tenant.tenant.platformId])
  const mine = (await create()).body['id']
  await api.sql(`update api_keys set created_by = (select id from users where username = $1) where id = $2`, [
    email,
    mine,
  ])
  expect(await search({ username: 'Maker@example.com' })).toMatchObject({ id: mine })
  expect((await api.tenants.bLive.call('POST', '/v1/api-keys/search', { username: email })).status).toBe(404)
})

describe('a change', () => {
  test('is merged, is in the audit trail to be, and changes nothing of what the key may do', async () => {
    const { id } = (await create({ description: 'old' })).body
    const changed = await patch(id, { description: 'new' })
    expect(changed.body).toMatchObject({ description: 'new', role_type: 'READ_ONLY', active: true })
    expect((await patch(id, { description: 'new' })).body).toEqual(changed.body)
    expect((await patch(id, { description: null })).body['description']).toBeNull()
    for (const body of [{ role_type: 'ADMINISTRATOR' }, { type: 'PROXY' }, { api_key: 'x' }, { revoked_at: null }])
      expect(refusal(await patch(id, body))).toEqual([400, 'INVALID_FIELD', Object.keys(body)[0]])
    const notices = await api.sql(`select type, actor_id from outbox where object_id = $1 order by seq`, [id])
    expect(notices.map(row => row['type'])).toEqual(['API_KEY.CREATED', 'API_KEY.UPDATED', 'API_KEY.UPDATED'])
    expect(notices.every(row => /^akey_/.test(row['actor_id']))).toBe(true)
  })

  test.each([
    ['a PATCH', (id: string) => patch(id, { active: false })],
    ['the call of its own', (id: string) => tenant.call('POST', `/v1/api-keys/${id}/revoke`)],
  ])('ends a key by %s: within five seconds it is refused, and it never comes back', async (_name, end) => {
    const { id, api_key: text } = (await create()).body
    const call = as(text)
    expect((await call('GET', '/v1/customers')).status).toBe(200)
    const ended = await end(id)
    expect(ended.body).toMatchObject({ active: false, status: 'INACTIVE', revoked_at: expect.any(String) })
    await expect.poll(async () => (await call('GET', '/v1/customers')).status, { timeout: 60_000 }).toBe(401)
    expect(refusal(await patch(id, { active: true }))).toEqual([400, 'INVALID_OPERATION', 'active'])
    expect((await end(id)).body).toEqual(ended.body)
  })
})

describe('the last way in', () => {
  const end = (from: Awaited<ReturnType<typeof platform>>, id = from.keyId) =>
    from.call('POST', `/v1/api-keys/${id}/revoke`)

  test('is not ended while it is the last, whatever read-only and ended keys there are', async () => {
    const from = await platform()
    await from.call('POST', '/v1/api-keys', { role_type: 'READ_ONLY' })
    const second = (await from.call('POST', '/v1/api-keys', { role_type: 'ADMINISTRATOR' })).body['id']
    expect((await end(from, second)).status).toBe(200)
    expect(refusal(await end(from))).toEqual([400, 'INVALID_OPERATION', 'active'])
    await from.call('POST', '/v1/api-keys', { role_type: 'ADMINISTRATOR' })
    expect((await end(from)).status).toBe(200)
  })

  test('may be a user who may make keys, and no other user', async () => {
    const from = await platform()
    const { email } = await createUser(api.databaseUrl, `${from.id}@example.com`.toLowerCase(), [from.id])
    const roles = (role: string) =>
      api.sql(
        `update user_memberships set role_ids = array[$1] where user_id = (select id from users where username = $2)`,
        [role, email],
      )
    await roles('role_contributor')
    expect((await end(from)).status).toBe(400)
    await roles('role_administrator')
    await api.sql(`update users set status = 'INACTIVE' where username = $1`, [email])
    expect((await end(from)).status).toBe(400)
    await api.sql(`update users set status = 'ACTIVE' where username = $1`, [email])
    expect((await end(from)).status).toBe(200)
  })

  test('stays when the last two are ended at once', async () => {
    const from = await platform()
    const second = (await from.call('POST', '/v1/api-keys', { role_type: 'ADMINISTRATOR' })).body['id']
    const answers = await Promise.all([end(from), end(from, second)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
  })
})

test('a key that is another by one character, wherever it stands, is refused', async () => {
  const { api_key: text } = (await create()).body
  for (const at of [0, 9, 14, 20, 30, 60, text.length - 1]) {
    const wrong = text.slice(0, at) + (text[at] === 'x' ? 'y' : 'x') + text.slice(at + 1)
    expect((await as(wrong)('GET', '/v1/customers')).status).toBe(401)
  }
})

test('a key of TEST sees nothing of LIVE', async () => {
  const { id } = (await create()).body
  expect((await api.tenants.aTest.call('GET', `/v1/api-keys/${id}`)).status).toBe(404)
})
