// X-ORIGINAL-USER: honoured for a PROXY key and the users on its list, and for nobody else (contract: Authentication 2;
// security section 4 and section 8, row 15).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createUser } from '../../shared/access/create-platform.ts'
import { type Database, inTenant } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import { createFailpoints } from '../../shared/failpoint.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { systemClock } from '../../shared/time.ts'
import { isAboutAccess } from '../http/permissions.ts'
import { createKey } from '../modules/accounts/api-keys/create-key.ts'
import { type ApiHarness, callerWith } from '../testing/harness.ts'
import { type Person, startTokenApi, type TokenRig } from '../testing/token-rig.ts'
import type { Row } from '../testing/wire.ts'
import { relayBatch } from '../workers/outbox-relay.ts'

let rig: TokenRig
let api: ApiHarness
let person: Person
let key: { id: string; text: string }
beforeAll(async () => {
  rig = await startTokenApi()
  api = rig.api
})
afterAll(() => rig?.close())
beforeEach(async () => {
  person = await rig.person()
  key = await makeKey({ type: 'PROXY', role_type: 'ADMINISTRATOR', original_user_ids: [person.userId] })
})

async function makeKey(body: object): Promise<{ id: string; text: string }> {
  const made = await api.tenants.aLive.call('POST', '/v1/api-keys', body)
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  return { id: made.body['id'], text: made.body['api_key'] }
}
/** Calls with this key for this user. */
const acting = (text: string, user: string) => callerWith(api.app, { 'x-api-key': text, 'x-original-user': user })
const setRoles = (role: string) =>
  api.sql(`update user_memberships set role_ids = array[$1] where user_id = $2`, [role, person.userId])
const customer = () => ({ type: 'INDIVIDUAL', reference: api.tenants.aLive.seed.unique('c') })
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /v1/roles': { name: 'mine', permissions: ['*'] },
  'POST /v1/teams': { name: 'ours' },
  'POST /v1/users/invite': { username: 'friend@example.com' },
}

describe('a PROXY key', () => {
  test('does for a user on its list what that user may, as soon as that changes', async () => {
    const call = acting(key.text, person.userId)
    const made = await call('POST', '/v1/customers', customer())
    expect(made.status).toBe(201)
    await setRoles('role_viewer')
    await expect
      .poll(async () => (await call('POST', '/v1/customers', customer())).body['code'], { timeout: 60_000 })
      .toBe('USER_NOT_ALLOWED')
    expect((await call('GET', '/v1/customers')).status).toBe(200)
  })

  test('acts for itself without the header', async () => {
    await setRoles('role_viewer')
    expect((await callerWith(api.app, { 'x-api-key': key.text })('POST', '/v1/customers', customer())).status).toBe(201)
  })

  test('never does more than the key itself may', async () => {
    const readOnly = await makeKey({ type: 'PROXY', role_type: 'READ_ONLY', original_user_ids: [person.userId] })
    const call = acting(readOnly.text, person.userId)
    expect((await call('GET', '/v1/customers')).status).toBe(200)
    expect((await call('POST', '/v1/customers', customer())).status).toBe(403)
  })

  test('is refused in one and the same way for every user it does not reach', async () => {
    const [listed, stranger] = [await rig.person(), await rig.person()]
    const { email } = await createUser(api.databaseUrl, 'elsewhere@example.com', [api.tenants.bLive.tenant.platformId])
    const elsewhere: string = (await api.sql('select id from users where username = $1', [email]))[0]?.['id']
    const gone = await makeKey({ type: 'PROXY', role_type: 'ADMINISTRATOR', original_user_ids: [listed.userId] })
    await api.sql('delete from user_memberships where user_id = $1', [listed.userId])
    await expect
      .poll(async () => (await acting(gone.text, listed.userId)('GET', '/v1/customers')).status, { timeout: 60_000 })
      .toBe(403)
    const answers = [
      await acting(gone.text, listed.userId)('GET', '/v1/customers'), // on the list, no member any more
      await acting(key.text, stranger.userId)('GET', '/v1/customers'), // a member, not on the list
      await acting(key.text, elsewhere)('GET', '/v1/customers'), // a user of another platform
      await acting(key.text, 'user_0000000000000000000000')('GET', '/v1/customers'), // nobody
      await acting(key.text, "' or 1=1 --")('GET', '/v1/customers'),
    ]
    const shapes = answers.map(({ status, headers, body }) => {
      const { 'x-request-id': _id, date: _date, 'x-ratelimit-remaining': _left, ...same } = headers
      return { status, headers: same, body }
    })
    expect(shapes[0]).toMatchObject({ status: 403, body: { code: 'USER_NOT_ALLOWED' } })
    for (const shape of shapes) expect(shape).toEqual(shapes[0])
  })

  test('is refused for a user who is switched off', async () => {
    const call = acting(key.text, person.userId)
    expect((await call('GET', '/v1/customers')).status).toBe(200)
    await api.sql(`update users set status = 'INACTIVE' where id = $1`, [person.userId])
    await expect.poll(async () => (await call('GET', '/v1/customers')).status, { timeout: 60_000 }).toBe(403)
  })

  test('loses a user who is taken off its list, within five seconds', async () => {
    const call = acting(key.text, person.userId)
    expect((await call('GET', '/v1/customers')).status).toBe(200)
    await api.tenants.aLive.call('PATCH', `/v1/api-keys/${key.id}`, { original_user_ids: [] })
    await expect.poll(async () => (await call('GET', '/v1/customers')).status, { timeout: 60_000 }).toBe(403)
  })

  test('changes no keys, users, roles or teams for a user, though both might', async () => {
    const call = acting(key.text, person.userId)
    const refused = new Set<string>()
    for (const { method, url, permission } of api.routes.filter(each => isAboutAccess(each.permission))) {
      const body = method === 'DELETE' ? undefined : (BODIES[`${method} ${url}`] ?? {})
      const answer = await call(method, url.replace(/:\w+/g, 'any'), body)
      // A body that is no valid one is refused before anybody asks who sent it.
      expect({ method, url, ok: [400, 403].includes(answer.status) }).toEqual({ method, url, ok: true })
      if (answer.body['code'] === 'USER_NOT_ALLOWED') refused.add(permission)
    }
    const expected = ['API_KEY.CREATE', 'API_KEY.UPDATE', 'ROLE.CREATE', 'ROLE.DELETE', 'TEAM.CREATE', 'USER.CREATE']
    expect([...refused]).toEqual(expect.arrayContaining(expected))
    expect((await call('GET', `/v1/api-keys/${key.id}`)).status).toBe(200)
  })

  test('is made only for members, who are named by their place when they are none', async () => {
    const { email } = await createUser(api.databaseUrl, 'theirs@example.com', [api.tenants.bLive.tenant.platformId])
    const theirs: string = (await api.sql('select id from users where username = $1', [email]))[0]?.['id']
    const refusals = await Promise.all(
      [theirs, 'user_0000000000000000000000'].map(id =>
        api.tenants.aLive.call('POST', '/v1/api-keys', { type: 'PROXY', original_user_ids: [person.userId, id] }),
      ),
    )
    for (const { status, body } of refusals)
      expect([status, body['code'], body['field']]).toEqual([404, 'RESOURCE_NOT_FOUND', 'original_user_ids.1'])
  })
})

describe('the audit trail', () => {
  let worker: Database
  beforeAll(async () => {
    const options = { url: api.databaseUrl, clock: systemClock, logger: silentLogger, poolMax: 2 }
    worker = await openTestDatabase({ ...options, role: 'millrace_worker' })
  })
  afterAll(() => worker?.close())
  // An open transaction of any test on the server holds back the changes that came after it.
  const relay = () =>
    expect
      .poll(
        async () => {
          await relayBatch({ database: worker, reactions: [], failpoints: createFailpoints('') })
          return await api.sql('select 1 from outbox where position is null')
        },
        { timeout: 60_000 },
      )
      .toEqual([])
  const recordsOf = async (query: string): Promise<Row[]> => {
    await relay()
    return (await api.tenants.aLive.call('GET', `/v1/audit-records?${query}`)).body['data']
  }

  test('names both: the key that acted and the user it acted for', async () => {
    await api.tenants.aLive.call('PATCH', `/v1/api-keys/${key.id}`, { description: 'the portal' })
    const made = await acting(key.text, person.userId)('POST', '/v1/customers', customer())
    const [username] = await api.sql('select username from users where id = $1', [person.userId])
    expect(await recordsOf(`target_id=${made.body['id']}`)).toMatchObject([
      {
        action: 'CREATED',
        user_id: key.id,
        user_name: 'the portal',
        impersonated_user_id: person.userId,
        impersonated_user_name: username?.['username'],
        credential_id: key.id,
        request_id: made.headers['x-request-id'],
      },
    ])
  })

  test('has who made, changed and ended a key, and never its text', async () => {
    const made = await makeKey({ description: 'short-lived' })
    await api.tenants.aLive.call('PATCH', `/v1/api-keys/${made.id}`, { description: 'other' })
    await api.tenants.aLive.call('POST', `/v1/api-keys/${made.id}/revoke`)
    const records = await recordsOf(`target_id=${made.id}&order_direction=asc`)
    expect(records).toMatchObject([
      { action: 'CREATED', target_resource_type: 'API_KEY' },
      { action: 'UPDATED', changed_fields: ['description'] },
      { action: 'UPDATED', changed_fields: ['active', 'revoked_at', 'status'] },
    ])
    expect(JSON.stringify(records)).not.toContain(made.text)
  })
})

describe('the header', () => {
  test.each([
    ['empty', { 'x-original-user': '' }],
    ['twice', { 'x-original-user': ['user_1', 'user_1'] }],
  ])('is refused when it is %s, whoever sends it', async (_name, header) => {
    for (const credential of [
      { 'x-api-key': key.text },
      { 'x-api-key': api.tenants.aLive.key },
      { authorization: `Bearer ${await person.token()}` },
    ]) {
      const answer = await api.app.inject({
        method: 'GET',
        url: '/v1/customers',
        headers: { ...credential, ...header },
      })
      expect([answer.statusCode, answer.json().code]).toEqual([400, 'BAD_REQUEST'])
    }
  })

  test('is refused by name on a key of another type and on a bearer token, and nothing is done', async () => {
    const plain = await makeKey({ role_type: 'ADMINISTRATOR' })
    for (const credential of [{ 'x-api-key': plain.text }, { authorization: `Bearer ${await person.token()}` }]) {
      const call = callerWith(api.app, { ...credential, 'x-original-user': person.userId })
      const body = customer()
      const refused = await call('POST', '/v1/customers', body)
      expect([refused.status, refused.body['code'], refused.body['field']]).toEqual([
        403,
        'USER_NOT_ALLOWED',
        'X-ORIGINAL-USER',
      ])
      expect(await api.sql('select 1 from customers where reference = $1', [body.reference])).toEqual([])
    }
  })
})

describe('X-ENVIRONMENT and X-PLATFORM-ID beside a key', () => {
  test('are refused when they name another one than the key does', async () => {
    const { aLive, aTest, bLive } = api.tenants
    const ask = (of: { readonly key: string }, headers: Record<string, string>) =>
      callerWith(api.app, { 'x-api-key': of.key, ...headers })('GET', '/v1/customers')
    const own = { 'x-platform-id': aLive.tenant.platformId }
    expect((await ask(aLive, { ...own, 'x-environment': 'LIVE' })).status).toBe(200)
    expect((await ask(aTest, { ...own, 'x-environment': 'TEST' })).status).toBe(200)
    for (const [of, headers] of [
      [aLive, { 'x-environment': 'TEST' }],
      [aTest, { 'x-environment': 'LIVE' }],
      [aLive, { 'x-environment': 'live' }],
      [bLive, own],
    ] as const) {
      const { status, body } = await ask(of, headers)
      expect([status, body['code']]).toEqual([401, 'UNAUTHORISED'])
    }
  })
})

describe('a user who makes keys', () => {
  // No token does it over HTTP, so the rules are asked directly.
  const make = async (role_type: 'READ_ONLY' | 'ADMINISTRATOR') => {
    const { tenant } = api.tenants.aLive
    const declared = new Set(api.routes.map(({ permission }) => permission))
    const may = (await api.permissionCache.permissionsOf(person.userId, tenant))?.allows ?? (() => false)
    const actor = { id: person.userId, requestId: null, may }
    return await inTenant(api.database, tenant, actor, uow => createKey(uow, { role_type }, declared))
  }

  test('makes none that may do more than they', async () => {
    const { platformId } = api.tenants.aLive.tenant
    await api.sql(
      `insert into roles (platform_id, environment, id, name, permissions) values ($1, 'LIVE', 'role_k', 'k', '{API_KEY.*,CUSTOMER.*}'),
        ($1, 'LIVE', 'role_r', 'r', '{*.VIEW,API_KEY.*}'), ($1, 'LIVE', 'role_almost', 'almost', '{*,-INVOICE.UPDATE}')`,
      [platformId],
    )
    const outcome = (made: Promise<Row>) =>
      made.then(
        () => 'made',
        (error: unknown) => (error instanceof AppError ? error.code : error),
      )
    const both = async () => [await outcome(make('READ_ONLY')), await outcome(make('ADMINISTRATOR'))]
    expect(await both()).toEqual(['made', 'made'])
    for (const [role, expected] of [
      ['role_k', ['USER_NOT_ALLOWED', 'USER_NOT_ALLOWED']],
      ['role_r', ['made', 'USER_NOT_ALLOWED']],
      ['role_almost', ['made', 'USER_NOT_ALLOWED']],
      ['role_contributor', ['made', 'USER_NOT_ALLOWED']],
    ] as const) {
      await setRoles(role)
      await expect.poll(both, { timeout: 60_000 }).toEqual(expected)
    }
  })

  test('is named as who made them', async () => {
    expect((await make('READ_ONLY'))['created_by']).toBe(person.userId)
  })

  test('reads keys with a token of scope read, and makes none', async () => {
    const call = callerWith(api.app, {
      authorization: `Bearer ${await person.token({ claims: { scope: 'service:read' } })}`,
    })
    expect((await call('GET', '/v1/api-keys')).status).toBe(200)
    expect((await call('POST', '/v1/api-keys', {})).body['code']).toBe('INSUFFICIENT_SCOPE')
  })
})
