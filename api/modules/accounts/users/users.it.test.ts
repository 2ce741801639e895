// Users of a tenant through the api: invited, given roles, switched off; and what of it reaches another tenant, which is nothing.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'
import { addRoles, removeMember, replaceRoles, setActive } from './change-member.ts'
import { inviteUser } from './invite-user.ts'

let api: UserHarness
let counter = 0
beforeAll(async () => {
  api = await startApiWithUsers()
})
afterAll(() => api?.close())

type Call = UserHarness['tenants']['aLive']['call']
const a: Call = (...input) => api.tenants.aLive.call(...input)
const b: Call = (...input) => api.tenants.bLive.call(...input)
const email = () => {
  counter += 1
  return `person.${counter}@example.com`
}
const roles = (...role_ids: string[]) => ({ account_memberships: [{ role_ids }] })
const invite = (username: string, body: object = {}, call = a) =>
  call('POST', '/v1/users/invite', { username, ...body })
/** As the identity host does when the person follows the mail. */
async function accept(userId: string, platformId = api.tenants.aLive.tenant.platformId): Promise<void> {
  await api.sql(`update users set status = 'ACTIVE', password_hash = coalesce(password_hash, 'x') where id = $1`, [
    userId,
  ])
  const accepted = await api.sql(
    `update user_invitations set accepted_at = identity_now()
     where user_id = $1 and platform_id = $2 and revoked_at is null and accepted_at is null returning id`,
    [userId, platformId],
  )
  expect(accepted).toHaveLength(1)
}
async function member(...role_ids: string[]): Promise<string> {
  const { id } = (await invite(email(), roles(...role_ids))).body as { id: string }
  await accept(id)
  return id
}
async function membershipOf(id: string, call = a): Promise<string> {
  return ((await call('GET', `/v1/users/${id}/memberships`)).body as unknown as { id: string }[])[0]?.id ?? ''
}

test('an invitation makes a member who may do nothing until they accept it', async () => {
  const username = email()
  const answer = await invite(username.toUpperCase(), roles('role_viewer'))
  expect(answer).toMatchObject({ status: 200, body: { username, status: 'INVITED' } })
  const id: string = answer.body['id']
  expect(answer.body['account_memberships']).toMatchObject([
    { account_id: api.tenants.aLive.tenant.platformId, environment: 'LIVE', type: 'USER', roles: [{ name: 'Viewer' }] },
  ])
  const [invitation] = await api.sql('select * from user_invitations where user_id = $1', [id])
  expect(invitation).toMatchObject({ revoked_at: null, accepted_at: null, invited_by: expect.stringMatching(/^akey_/) })
  const asUser = api.as(id, api.tenants.aLive.tenant)
  expect((await asUser('GET', '/v1/customers')).status).toBe(401)
  await accept(id)
  await vi.waitFor(async () => expect((await asUser('GET', '/v1/customers')).status).toBe(200), 5_000)
  expect((await a('GET', `/v1/users/${id}`)).body).toMatchObject({ active: true, status: 'ACTIVE', username })
  expect(refusal(await invite(username))).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'username'])
})

test('a repeated invitation takes the place of the first, and POST /v1/users is one too', async () => {
  const username = email()
  const { id } = (await invite(username, roles('role_viewer'))).body as { id: string }
  const again = await a('POST', '/v1/users', { username, ...roles('role_contributor') })
  expect(again).toMatchObject({ status: 201, body: { object_type: 'USER', id, status: 'INVITED', active: false } })
  expect(again.body['account_memberships'][0].role_ids).toEqual(['role_contributor'])
  const pending = await api.sql('select 1 from user_invitations where user_id = $1 and revoked_at is null', [id])
  expect(pending).toHaveLength(1)
})

test('an invitation whose link works no more says so, until there is a new one', async () => {
  const username = email()
  const { id } = (await invite(username)).body as { id: string }
  const expired = async () => (await a('GET', `/v1/users/${id}`)).body['invite_expired']
  expect(await expired()).toBe(false)
  await api.sql(`update user_invitations set created_at = created_at - interval '7 days' where user_id = $1`, [id])
  expect(await expired()).toBe(true)
  await invite(username)
  expect(await expired()).toBe(false)
  await accept(id)
  expect(await expired()).toBe(false)
})

test('nobody fills a mailbox with invitations', async () => {
  const username = email()
  for (let mail = 1; mail <= 10; mail += 1) expect((await invite(username)).status).toBe(200)
  const refused = await invite(username)
  expect(refusal(refused)).toEqual([429, 'RATE_LIMIT_EXCEEDED', 'username'])
  expect(refused.headers['retry-after']).toBe('86400')
  expect((await invite(username, {}, b)).status).toBe(200)
  await api.sql(`update user_invitations set created_at = created_at - interval '1 day'`)
  expect((await invite(username)).status).toBe(200)
})

test('an invitation is taken back until it is accepted, and given again', async () => {
  const username = email()
  const { id } = (await invite(username)).body as { id: string }
  expect(await a('POST', '/v1/users/revoke-invite', { username })).toMatchObject({
    body: { id, status: 'INVITE_REVOKED' },
  })
  expect(await api.sql('select 1 from user_invitations where user_id = $1 and revoked_at is null', [id])).toEqual([])
  expect(refusal(await a('PATCH', `/v1/users/${id}`, { active: true }))).toEqual([400, 'INVALID_OPERATION', 'active'])
  expect((await invite(username)).body['status']).toBe('INVITED')
  await accept(id)
  expect(refusal(await a('POST', '/v1/users/revoke-invite', { id }))).toEqual([400, 'INVALID_OPERATION', undefined])
  expect(refusal(await a('POST', '/v1/users/revoke-invite', {}))).toEqual([400, 'MISSING_FIELD', 'id'])
})

test('accepting and taking back at once: one of the two holds, and membership and invitation agree', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id } = (await invite(email())).body as { id: string }
    await api.sql(`update users set status = 'ACTIVE', password_hash = 'x' where id = $1`, [id])
    const accepting = api.sql(
      'update user_invitations set accepted_at = identity_now() where user_id = $1 and revoked_at is null and accepted_at is null',
      [id],
    )
    const [revoked] = await Promise.all([a('POST', '/v1/users/revoke-invite', { id }), accepting])
    const [row] = await api.sql(
      `select m.status, i.accepted_at is not null as accepted from user_memberships m
       join user_invitations i on i.user_id = m.user_id where m.user_id = $1`,
      [id],
    )
    expect(row).toEqual(
      revoked.status === 200 ? { status: 'INVITE_REVOKED', accepted: false } : { status: 'ACTIVE', accepted: true },
    )
  }
})

test.each([
  'nobody',
  'a@b',
  'a b@example.com',
  'a@example.com\r\nBcc: b@example.com',
  'a@exam ple.com',
  '"a"@example.com',
  'a,b@example.com',
  'é@example.com',
  `${'a'.repeat(65)}@example.com`,
  'a@-example.com',
])('%j is no address', async username => {
  expect(refusal(await invite(username))).toEqual([400, 'INVALID_FIELD', 'username'])
})

test.each<[string, object, unknown[]]>([
  ['a password', { password: 'correct horse battery' }, [400, 'INVALID_FIELD', 'password']],
  ['a status', { status: 'ACTIVE' }, [400, 'INVALID_FIELD', 'status']],
  ['a role nobody knows', roles('role_nobody'), [404, 'RESOURCE_NOT_FOUND', 'account_memberships.0.role_ids.0']],
  [
    'another account',
    { account_memberships: [{ account_id: 'plat_other' }] },
    [404, 'RESOURCE_NOT_FOUND', 'account_memberships.0.account_id'],
  ],
  [
    'the other environment',
    { account_memberships: [{ environment: 'TEST' }] },
    [404, 'RESOURCE_NOT_FOUND', 'account_memberships.0.environment'],
  ],
  [
    'a team nobody knows',
    { team_memberships: [{ team_id: 'team_nobody' }] },
    [404, 'RESOURCE_NOT_FOUND', 'team_memberships.0.team_id'],
  ],
])('an invitation with %s is refused, and leaves nobody behind', async (_what, body, expected) => {
  const username = email()
  expect(refusal(await invite(username, body))).toEqual(expected)
  expect(await api.sql('select 1 from users where username = $1', [username])).toEqual([])
})

test('what one tenant answers of a person does not tell whether another knows them', async () => {
  const username = email()
  const { id } = (await invite(username, {}, b)).body as { id: string }
  await accept(id, api.tenants.bLive.tenant.platformId)
  const known = await invite(username)
  const unknown = await invite(email())
  const shape = (body: object) => JSON.stringify(body).replaceAll(/"(id|username)":"[^"]*"/g, '"$1":""')
  expect(shape(known.body)).toBe(shape(unknown.body))
  const [own, other] = [known, unknown].map(answer => answer.body['id'] as string)
  // No part of an id is a time: those of one moment share nothing.
  expect(own?.slice(5, 9)).not.toBe(other?.slice(5, 9))
  const [seen] = (await a('GET', `/v1/users?username=${username}`)).body['data']
  expect(seen.status).toBe('INVITED')
  expect(Date.parse(seen.created_at)).toBeGreaterThan(Date.now() - 60_000)
})

test('switching a user off, or ending their membership, is felt in one tenant within seconds and in no other', async () => {
  const username = email()
  const { id } = (await invite(username, roles('role_viewer'))).body as { id: string }
  await invite(username, roles('role_viewer'), b)
  await accept(id)
  await accept(id, api.tenants.bLive.tenant.platformId)
  const [asA, asB] = [api.as(id, api.tenants.aLive.tenant), api.as(id, api.tenants.bLive.tenant)]
  const stands = async (call: Call, status: number) =>
    await vi.waitFor(async () => expect((await call('GET', '/v1/customers')).status).toBe(status), 5_000)
  await stands(asA, 200)
  await stands(asB, 200)
  expect((await a('PATCH', `/v1/users/${id}`, { active: false })).body).toMatchObject({
    active: false,
    status: 'INACTIVE',
  })
  await stands(asA, 401)
  await stands(asB, 200)
  expect((await b('GET', `/v1/users/${id}`)).body['status']).toBe('ACTIVE')
  await a('PATCH', `/v1/users/${id}`, { active: true })
  await stands(asA, 200)
  expect((await b('DELETE', `/v1/users/${id}/memberships/${await membershipOf(id, b)}`)).status).toBe(200)
  await stands(asB, 401)
  await stands(asA, 200)
  expect((await b('GET', `/v1/users/${id}`)).status).toBe(404)
  expect(await api.sql('select count(*)::int as n from user_memberships where user_id = $1', [id])).toEqual([{ n: 1 }])
})

test('roles are added and replaced, and act within seconds', async () => {
  const id = await member('role_viewer')
  const asUser = api.as(id, api.tenants.aLive.tenant)
  const path = `/v1/users/${id}/memberships`
  const added = await a('POST', path, { role_ids: ['role_contributor', 'role_viewer'] })
  expect(added).toMatchObject({ status: 201, body: [{ role_ids: ['role_viewer', 'role_contributor'] }] })
  const body = { account_id: api.tenants.aLive.tenant.platformId, environment: 'LIVE', role_ids: [] }
  expect(await a('PATCH', `${path}/${await membershipOf(id)}`, body)).toMatchObject({
    status: 200,
    body: [{ role_ids: [] }],
  })
  await vi.waitFor(async () => expect((await asUser('GET', '/v1/customers')).status).toBe(403), 5_000)
  expect(refusal(await a('PATCH', `${path}/memb_other`, { role_ids: [] }))).toEqual([
    404,
    'RESOURCE_NOT_FOUND',
    undefined,
  ])
  expect(refusal(await a('PATCH', `${path}/${await membershipOf(id)}`, {}))).toEqual([400, 'MISSING_FIELD', 'role_ids'])
})

test('nobody gives or takes roles that may more than they do, and so nobody makes themselves administrator', async () => {
  const { id: managing } = (await a('POST', '/v1/roles', { name: 'Managing', permissions: ['USER.*', '*.VIEW'] }))
    .body as { id: string }
  const manager = await member(managing)
  const asManager = <T>(work: Parameters<typeof api.acting<T>>[2]) =>
    api.acting(manager, api.tenants.aLive.tenant, work)
  const other = await member('role_viewer')
  const boss = await member('role_contributor')
  const [own, theirs] = [await membershipOf(manager), await membershipOf(boss)]
  const asking = (...roleIds: string[]) => ({ username: email(), roleIds, teams: [] })
  for (const refused of [
    () => asManager((uow, rules) => addRoles(uow, rules, manager, ['role_administrator'])),
    () => asManager((uow, rules) => replaceRoles(uow, rules, manager, own, ['role_contributor'])),
    () => asManager((uow, rules) => inviteUser(uow, rules, asking('role_administrator'))),
    () => asManager((uow, rules) => setActive(uow, rules, boss, false)),
    () => asManager((uow, rules) => removeMember(uow, rules, boss, theirs)),
    () => asManager((uow, rules) => replaceRoles(uow, rules, boss, theirs, [])),
  ])
    await expect(refused()).rejects.toMatchObject({ code: 'USER_NOT_ALLOWED' })
  expect(await asManager((uow, rules) => setActive(uow, rules, other, false))).toMatchObject({ active: false })
  expect(await asManager((uow, rules) => inviteUser(uow, rules, asking('role_viewer')))).toMatchObject({
    status: 'INVITED',
  })
})

test('users are listed, filtered and searched', async () => {
  const username = `needle.${email()}`
  const { id } = (await invite(username)).body as { id: string }
  expect((await a('GET', `/v1/users?username=${username.toUpperCase()}`)).body['data']).toMatchObject([{ id }])
  expect((await a('GET', '/v1/users/search?username=NEEDLE.')).body).toMatchObject([{ id, username }])
  expect((await a('GET', '/v1/users/search?username=need%25')).body).toEqual([])
  const active = (await a('GET', '/v1/users?active=true&limit=100')).body['data']
  expect(active.length).toBeGreaterThan(0)
  expect(new Set(active.map((user: { status: string }) => user.status))).toEqual(new Set(['ACTIVE']))
  const inactive = (await a('GET', '/v1/users?active=false&limit=100')).body['data']
  expect(inactive.map((user: { id: string }) => user.id)).toContain(id)
  const page = (await a('GET', '/v1/users?limit=1&order_by=username&order_direction=asc')).body
  expect(page['total_number_of_pages']).toBe(active.length + inactive.length)
  const text = JSON.stringify((await a('GET', '/v1/users?limit=100')).body)
  expect(text).not.toContain('password')
})

test('each act is told once, with what it changed', async () => {
  const id = await member('role_viewer')
  await a('PATCH', `/v1/users/${id}`, { active: false })
  await a('PATCH', `/v1/users/${id}`, { active: false })
  const notices = await api.sql(
    `select type, data->>'status' as status from outbox where object_id = $1 order by seq`,
    [id],
  )
  expect(notices).toEqual([
    { type: 'USER.INVITED', status: 'INVITED' },
    { type: 'USER.UPDATED', status: 'INACTIVE' },
  ])
})
