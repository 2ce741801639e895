// Somebody is always left who administers a tenant, whichever way the last one would go.
import { afterAll, beforeEach, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'
import { replaceRoles } from './change-member.ts'

let api: UserHarness
let first: string
let second: string
beforeEach(async () => {
  await api?.close()
  api = await startApiWithUsers()
  first = await api.administrator(api.tenants.aLive.tenant)
  second = await api.administrator(api.tenants.aLive.tenant)
})
afterAll(() => api?.close())

const a: UserHarness['tenants']['aLive']['call'] = (...input) => api.tenants.aLive.call(...input)
const pathOf = async (id: string) => {
  const [membership] = (await a('GET', `/v1/users/${id}/memberships`)).body as unknown as { id: string }[]
  return `/v1/users/${id}/memberships/${membership?.id}`
}
const REFUSED = [400, 'INVALID_OPERATION', undefined]
const made = async (url: string, body: object): Promise<string> => {
  const answer = await a('POST', url, body)
  expect(answer.status).toBe(201)
  return answer.body['id']
}

test('by being switched off, losing the role or the membership', async () => {
  expect((await a('PATCH', `/v1/users/${first}`, { active: false })).status).toBe(200)
  expect(refusal(await a('PATCH', `/v1/users/${second}`, { active: false }))).toEqual(REFUSED)
  const path = await pathOf(second)
  expect(refusal(await a('PATCH', path, { role_ids: ['role_contributor'] }))).toEqual(REFUSED)
  expect(refusal(await a('DELETE', path))).toEqual(REFUSED)
  expect((await a('GET', `/v1/users/${second}`)).body).toMatchObject({ active: true })
  await a('PATCH', `/v1/users/${first}`, { active: true })
  expect((await a('DELETE', path)).status).toBe(200)
})

test('when both demote each other at once, one of them stays', async () => {
  const idOf = async (user: string) => (await pathOf(user)).split('/').at(-1) ?? ''
  const [ofFirst, ofSecond] = [await idOf(first), await idOf(second)]
  const { tenant } = api.tenants.aLive
  const outcomes = await Promise.allSettled([
    api.acting(first, tenant, (uow, rules) => replaceRoles(uow, rules, second, ofSecond, [])),
    api.acting(second, tenant, (uow, rules) => replaceRoles(uow, rules, first, ofFirst, [])),
  ])
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const administrators = await api.sql(
    `select 1 from user_memberships where environment = $1 and platform_id = $2 and role_ids = '{role_administrator}'`,
    [tenant.environment, tenant.platformId],
  )
  expect(administrators).toHaveLength(1)
})

test('who was invited and has not accepted is not counted', async () => {
  await a('POST', '/v1/users/invite', {
    username: 'third@example.com',
    account_memberships: [{ role_ids: ['role_administrator'] }],
  })
  await a('PATCH', `/v1/users/${first}`, { active: false })
  expect(refusal(await a('PATCH', `/v1/users/${second}`, { active: false }))).toEqual(REFUSED)
})

test('by a change of the role that made them one', async () => {
  const role = await made('/v1/roles', { name: 'Everything', permissions: ['*'] })
  await a('PATCH', await pathOf(second), { role_ids: [role] })
  await a('PATCH', `/v1/users/${first}`, { active: false })
  expect(refusal(await a('PATCH', `/v1/roles/${role}`, { permissions: ['*', '-CUSTOMER.DELETE'] }))).toEqual(REFUSED)
  expect((await a('GET', `/v1/roles/${role}`)).body['permissions']).toEqual(['*'])
  expect(
    (await a('PATCH', `/v1/roles/${role}`, { permissions: ['*.VIEW'], child_role_ids: ['role_administrator'] })).status,
  ).toBe(200)
})

test('by their team: its roles, its end, and a time in it that is to end', async () => {
  const team = await made('/v1/teams', { name: 'All', account_memberships: [{ role_ids: ['role_administrator'] }] })
  await a('POST', `/v1/users/${second}/teams`, { team_id: team })
  await a('PATCH', await pathOf(second), { role_ids: [] })
  await a('PATCH', `/v1/users/${first}`, { active: false })
  expect(refusal(await a('DELETE', `/v1/teams/${team}`))).toEqual(REFUSED)
  expect(refusal(await a('PATCH', `/v1/teams/${team}`, { account_memberships: [] }))).toEqual(REFUSED)
  expect(
    refusal(await a('POST', `/v1/users/${second}/teams`, { team_id: team, end_at: '2199-01-01T00:00:00Z' })),
  ).toEqual(REFUSED)
  await a('PATCH', `/v1/users/${first}`, { active: true })
  expect((await a('DELETE', `/v1/teams/${team}`)).status).toBe(200)
})

test('a tenant that has keys and no users is not held up', async () => {
  const { id } = (await api.tenants.bLive.call('POST', '/v1/users/invite', { username: 'x@example.com' })).body
  expect((await api.tenants.bLive.call('POST', '/v1/users/revoke-invite', { id })).status).toBe(200)
})
