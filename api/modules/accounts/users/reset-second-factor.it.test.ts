// The second factor of a user, reset by an administrator: what goes, what stays, who may, and what is recorded. The same at
// the sign-in pages: identity/second-factor/reset.it.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { callerWith } from '../../../testing/harness.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { resetSecondFactor } from './reset-second-factor.ts'

let api: UserHarness
let counter = 0
beforeAll(async () => {
  api = await startApiWithUsers()
})
afterAll(() => api?.close())

type Call = UserHarness['tenants']['aLive']['call']
const a: Call = (...input) => api.tenants.aLive.call(...input)
const b: Call = (...input) => api.tenants.bLive.call(...input)
const aTest: Call = (...input) => api.tenants.aTest.call(...input)
const reset = (id: string, call = a) => call('POST', `/v1/users/${id}/reset-second-factor`)
const accept = (id: string) =>
  api.sql('update user_invitations set accepted_at = identity_now() where user_id = $1 and accepted_at is null', [id])

/** An ACTIVE member of these tenants with an app, a passkey, two codes, a session and a half-done sign-in. */
async function protectedUser(calls: readonly Call[] = [a], role = 'role_viewer'): Promise<string> {
  counter += 1
  const username = `protected.${counter}@example.com`
  let id = ''
  for (const call of calls) {
    const body = { username, account_memberships: [{ role_ids: [role] }] }
    id = (await call('POST', '/v1/users/invite', body)).body['id']
  }
  await api.sql(
    `update users set status = 'ACTIVE', password_hash = 'x', password_suffices_alone = true where id = $1`,
    [id],
  )
  await accept(id)
  await api.sql(`insert into user_authenticators (user_id, secret_sealed, confirmed_at) values ($1, 'x', now())`, [id])
  await api.sql(
    `insert into user_passkeys (id, user_id, credential_id, public_key, counter, name) values ($1, $1, $1, 'x', 0, 'Key')`,
    [id],
  )
  await api.sql(`insert into user_recovery_codes (user_id, code_hash) values ($1, 'one'), ($1, 'two')`, [id])
  await api.sql(
    `insert into sessions (id, token_sha256, user_id, expires_at) values ($1, $1, $1, now() + interval '1 hour')`,
    [id],
  )
  await api.sql(
    `insert into pending_sign_ins (token_sha256, user_id, expires_at) values ($1, $1, now() + interval '5 minutes')`,
    [id],
  )
  await api.sql(`insert into proof_tries (user_id, wrong, blocked_until) values ($1, 9, now() + interval '1 hour')`, [
    id,
  ])
  return id
}

/** How much of each is left. */
async function left(id: string): Promise<Row> {
  const [row = {}] = await api.sql(
    `select (select count(*)::int from user_authenticators where user_id = $1) as apps,
      (select count(*)::int from user_passkeys where user_id = $1) as passkeys,
      (select count(*)::int from user_recovery_codes where user_id = $1) as codes,
      (select count(*)::int from sessions where user_id = $1 and ended_at is null) as sessions,
      (select count(*)::int from pending_sign_ins where user_id = $1) as pending,
      (select count(*)::int from proof_tries where user_id = $1) as tries,
      (select count(*)::int from identity_mails where user_id = $1 and kind = 'FACTOR_CHANGED') as mails,
      (select count(*)::int from outbox where object_id = $1 and type = 'USER.SECOND_FACTOR_RESET') as notices`,
    [id],
  )
  return row
}
const UNTOUCHED = { apps: 1, passkeys: 1, codes: 2, sessions: 1, pending: 1, tries: 1, mails: 0, notices: 0 }
const RESET = { apps: 0, passkeys: 0, codes: 0, sessions: 0, pending: 0, tries: 0, mails: 1, notices: 1 }

const REFUSED = { code: 'USER_NOT_ALLOWED' }
/**
 * Resets as a user of A LIVE with these permissions, past the routes: keys may read or do everything, and what is between is for
 * users, whose tokens do not manage access.
 */
async function managerWith(permissions: string[]): Promise<(id: string) => Promise<unknown>> {
  counter += 1
  const role = await a('POST', '/v1/roles', { name: `Role ${counter}`, permissions })
  expect(role.status).toBe(201)
  const manager = await protectedUser([a], role.body['id'])
  const { tenant } = api.tenants.aLive
  return id => api.acting(manager, tenant, (uow, rules) => resetSecondFactor(uow, rules, id))
}

test('every factor, code, session and half-done sign-in of the user goes, and nobody else’s', async () => {
  const [id, other] = [await protectedUser(), await protectedUser()]
  const answer = await reset(id)
  expect(answer).toMatchObject({ status: 200, body: { object_type: 'USER', id, status: 'ACTIVE', active: true } })
  expect(await left(id)).toEqual(RESET)
  expect(await left(other)).toEqual(UNTOUCHED)
  const [person] = await api.sql('select status, password_hash from users where id = $1', [id])
  expect(person).toEqual({ status: 'ACTIVE', password_hash: 'x' })
})

test('the record names the key that did it, and the mail its user; neither holds anything of the factor', async () => {
  const id = await protectedUser()
  await reset(id)
  const notices = await api.sql(
    `select platform_id, environment, actor_id, credential_id, data, former_values from outbox
     where object_id = $1 and type = 'USER.SECOND_FACTOR_RESET'`,
    [id],
  )
  const { platformId } = api.tenants.aLive.tenant
  const data = { object_type: 'USER', id, second_factor_change: 'SECOND_FACTOR_RESET' }
  const key = expect.stringMatching(/^akey_/)
  expect(notices).toEqual([
    { platform_id: platformId, environment: 'LIVE', actor_id: key, credential_id: key, data, former_values: null },
  ])
  await expectPayloads(api, id, ['USER.SECOND_FACTOR_RESET'])
  const mails = await api.sql('select kind, data, email from identity_mails where user_id = $1', [id])
  expect(mails).toEqual([{ kind: 'FACTOR_CHANGED', data: { change: 'SECOND_FACTOR_RESET' }, email: null }])
})

test('of ten resets at once, one is done and recorded; the others find nothing to reset', async () => {
  const id = await protectedUser()
  const answers = await Promise.all(Array.from({ length: 10 }, () => reset(id)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  for (const answer of answers.filter(({ status }) => status !== 200))
    expect(refusal(answer)).toEqual([400, 'INVALID_OPERATION', undefined])
  expect(await left(id)).toEqual(RESET)
})

test('without a factor that counts, for an unknown user, or before the invitation is accepted, nothing is done', async () => {
  const id = await protectedUser()
  await api.sql('delete from user_passkeys where user_id = $1', [id])
  await api.sql('update user_authenticators set confirmed_at = null where user_id = $1', [id])
  expect(refusal(await reset(id))).toEqual([400, 'INVALID_OPERATION', undefined])
  expect(await left(id)).toEqual({ ...UNTOUCHED, passkeys: 0 })
  expect(refusal(await reset('user_none'))).toEqual([404, 'RESOURCE_NOT_FOUND', undefined])
  const invited = (await a('POST', '/v1/users/invite', { username: 'not.yet@example.com' })).body['id']
  const answer = await reset(invited)
  expect(refusal(answer)).toEqual([400, 'INVALID_OPERATION', undefined])
  expect(answer.body['message']).toContain('INVITED')
  const off = await protectedUser()
  await a('PATCH', `/v1/users/${off}`, { active: false })
  expect(refusal(await reset(off))).toEqual([400, 'INVALID_OPERATION', undefined])
  expect(await left(off)).toEqual(UNTOUCHED)
})

test('a password that is too short by itself must be changed first', async () => {
  const id = await protectedUser()
  await api.sql('update users set password_suffices_alone = false where id = $1', [id])
  const answer = await reset(id)
  expect(refusal(answer)).toEqual([400, 'INVALID_OPERATION', undefined])
  expect(answer.body['message']).toContain('at least 15 characters')
  expect(await left(id)).toEqual(UNTOUCHED)
  await api.sql('update users set password_suffices_alone = true where id = $1', [id])
  expect((await reset(id)).status).toBe(200)
})

test('a member of another platform too is reset by neither, active or switched off there; an invitation there does not matter', async () => {
  const id = await protectedUser([a, b])
  for (const call of [a, b]) expect(refusal(await reset(id, call))).toEqual([403, 'USER_NOT_ALLOWED', undefined])
  await b('PATCH', `/v1/users/${id}`, { active: false })
  expect(refusal(await reset(id))).toEqual([403, 'USER_NOT_ALLOWED', undefined])
  expect(await left(id)).toEqual(UNTOUCHED)
  const other = await protectedUser()
  const [{ username } = {}] = await api.sql('select username from users where id = $1', [other])
  expect((await b('POST', '/v1/users/invite', { username })).status).toBe(200)
  expect(refusal(await reset(other, b))).toEqual([400, 'INVALID_OPERATION', undefined])
  expect((await reset(other)).status).toBe(200)
})

test('a key of LIVE with every permission resets a user of both environments; one of TEST, or with less, does not', async () => {
  const id = await protectedUser([a, aTest])
  expect(refusal(await reset(id, aTest))).toEqual([403, 'USER_NOT_ALLOWED', undefined])
  const less = await managerWith(['*.VIEW', 'USER.UPDATE'])
  await expect(less(id)).rejects.toMatchObject(REFUSED)
  expect(await left(id)).toEqual(UNTOUCHED)
  expect((await reset(id)).status).toBe(200)
  expect(await left(id)).toEqual(RESET)
})

test('a key that reads does not reset, nor does who may less than the user, by their teams too', async () => {
  const id = await protectedUser()
  const made = await a('POST', '/v1/api-keys', { description: 'Reads' })
  const reading = callerWith(api.app, { 'x-api-key': made.body['api_key'] })
  expect(refusal(await reset(id, reading))).toEqual([403, 'USER_NOT_ALLOWED', undefined])
  const manager = await managerWith(['*.VIEW', 'USER.UPDATE'])
  const powerful = await protectedUser([a], 'role_administrator')
  await expect(manager(powerful)).rejects.toMatchObject(REFUSED)
  const account_memberships = [{ role_ids: ['role_contributor'] }]
  const team = await a('POST', '/v1/teams', { name: 'Contributors', account_memberships })
  const inTeam = await protectedUser()
  const joined = await a('POST', `/v1/users/${inTeam}/teams`, {
    team_id: team.body['id'],
    start_at: '2020-01-01T00:00:00Z',
  })
  expect(joined.status).toBe(201)
  await expect(manager(inTeam)).rejects.toMatchObject(REFUSED)
  for (const untouched of [id, powerful, inTeam]) expect(await left(untouched)).toEqual(UNTOUCHED)
  await manager(id)
  expect(await left(id)).toEqual(RESET)
})

test('no bearer token resets, not even an administrator’s; and what holds for keys holds for users', async () => {
  const { tenant } = api.tenants.aLive
  const id = await protectedUser()
  const administrator = await api.administrator(tenant)
  expect(refusal(await reset(id, api.as(administrator, tenant)))).toEqual([403, 'USER_NOT_ALLOWED', undefined])
  const viewer = await protectedUser()
  const attempt = api.acting(viewer, tenant, (uow, rules) => resetSecondFactor(uow, rules, administrator))
  await expect(attempt).rejects.toMatchObject({ code: 'USER_NOT_ALLOWED' })
  expect(await left(id)).toEqual(UNTOUCHED)
})

test('the api itself reads and changes no factor, session or mail', async () => {
  for (const table of ['user_authenticators', 'user_passkeys', 'user_recovery_codes', 'sessions', 'identity_mails']) {
    const [rights] = await api.sql(
      `select has_table_privilege('millrace_app', $1, 'select, insert, update, delete') as any`,
      [table],
    )
    expect([table, rights]).toEqual([table, { any: false }])
  }
})
