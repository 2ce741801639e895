// Every call about users, roles, teams and the trail by callers who may not: tokens of other platforms, former and future members, members
// without a role, and no token at all. The keys of other tenants are in api/tenancy/tenancy.it.test.ts.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callerWith } from '../../../testing/harness.ts'
import { routeFixtureOf, type Seeded } from '../../../testing/route-fixtures.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { RESOURCES } from '../../modules.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { roleResource } from '../roles/role.ts'
import { seedAccounts } from './testing/seed-accounts.ts'

let api: UserHarness
let seeded: Seeded
let before: string
type Call = ReturnType<typeof callerWith>

beforeAll(async () => {
  api = await startApiWithUsers()
  const { aLive } = api.tenants
  const role = await aLive.seed.make(roleResource)
  const customer = await aLive.seed.make(customerResource)
  await api.administrator(aLive.tenant)
  seeded = new Map<string, Row>([
    ['ROLE', role],
    ['ROLE body', { name: 'Another', permissions: [] }],
    ['CUSTOMER', customer],
    ...(await seedAccounts(aLive, role['id'])),
  ])
  before = await rowsOfA()
})
afterAll(() => api?.close())

const TABLES = [
  'users',
  'user_memberships',
  'user_invitations',
  'roles',
  'teams',
  'team_members',
  'audit_records',
  'outbox',
]
/** All that could have been changed. */
async function rowsOfA(): Promise<string> {
  const sums = TABLES.map(
    table => `(select md5(coalesce(string_agg(t::text, '' order by t::text), '')) from ${table} t
      where to_jsonb(t)->>'platform_id' = $1 or '${table}' = 'users' and exists (select from user_memberships m
        where m.platform_id = $1 and m.user_id = to_jsonb(t)->>'id'))`,
  )
  const [row] = await api.sql(`select concat_ws(',', ${sums.join(', ')}) as sums`, [
    api.tenants.aLive.tenant.platformId,
  ])
  return row?.['sums']
}

const ours = () => api.routes.filter(({ url }) => /^\/v1\/(users|roles|teams|permissions|audit-records)\b/.test(url))

/** What each of our routes answers with the ids of A. */
async function visit(call: Call, headers: Record<string, string> = {}) {
  const answers = []
  for (const { method, url } of ours()) {
    const fixture = routeFixtureOf(method, url, RESOURCES)
    const params = fixture?.params?.(seeded) ?? {}
    const path = url.replace(/:([a-zA-Z]+)/g, (_match, name: string) => params[name] ?? 'missing')
    const { status, body } = await call(method, path, fixture?.body?.(seeded), headers)
    answers.push({ route: `${method} ${url}`, status, text: JSON.stringify(body) })
  }
  expect(answers.length).toBeGreaterThan(25)
  return answers
}

async function allAnswer(call: Call, statuses: number[], headers: Record<string, string> = {}): Promise<void> {
  const answers = await visit(call, headers)
  expect(answers.filter(({ status }) => !statuses.includes(status))).toEqual([])
  expect(await rowsOfA()).toBe(before)
}

test('a token of another platform finds nothing here, and shows its own lists alone', async () => {
  const { bLive } = api.tenants
  const call = api.as(await api.administrator(bLive.tenant), bLive.tenant)
  const lists = [
    'GET /v1/users',
    'GET /v1/users/search',
    'GET /v1/roles',
    'GET /v1/teams',
    'GET /v1/permissions',
    'GET /v1/audit-records',
  ]
  const answers = await visit(call)
  const isOwn = (route: string) => lists.includes(route)
  const expected = (route: string) => (route.startsWith('GET ') ? 404 : 403)
  expect(answers.filter(({ route, status }) => !isOwn(route) && status !== expected(route))).toEqual([])
  const names = ['USER', 'TEAM', 'ROLE'].map(type => seeded.get(type)?.['username'] ?? seeded.get(type)?.['name'])
  for (const { text } of answers.filter(({ status }) => status < 300))
    for (const name of names) expect(text).not.toContain(name)
  expect(await rowsOfA()).toBe(before)
})

test('it does not come in by naming the platform either, nor by naming the other environment', async () => {
  const { aLive, aTest, bLive } = api.tenants
  const call = api.as(await api.administrator(bLive.tenant), bLive.tenant)
  await allAnswer(call, [404], { 'x-platform-id': aLive.tenant.platformId })
  const ofTest = api.as(await api.administrator(bLive.tenant), aTest.tenant)
  await allAnswer(ofTest, [401])
})

test('a token whose user is no member finds nobody in, whatever it says it reaches', async () => {
  const call = api.as(await api.administrator(api.tenants.bLive.tenant), api.tenants.aLive.tenant)
  await allAnswer(call, [401])
})

test('who has not accepted the invitation is nobody yet', async () => {
  await allAnswer(api.as(seeded.get('USER')?.['id'], api.tenants.aLive.tenant), [401])
})

test('nobody, and a key that is none', async () => {
  await allAnswer(callerWith(api.app, {}), [401])
  await allAnswer(callerWith(api.app, { 'x-api-key': `${api.tenants.aLive.key.slice(0, -1)}_` }), [401])
})

test('a member without a role may nothing, one who looks may look alone', async () => {
  const { aLive } = api.tenants
  const member = await api.administrator(aLive.tenant)
  const roles = (ids: string) => api.sql(`update user_memberships set role_ids = $1 where user_id = $2`, [ids, member])
  const call = api.as(member, aLive.tenant)
  await roles('{}')
  before = await rowsOfA()
  await vi.waitFor(async () => expect((await call('GET', '/v1/users')).status).toBe(403), 5_000)
  await allAnswer(call, [403])
  await roles('{role_viewer}')
  before = await rowsOfA()
  await vi.waitFor(async () => expect((await call('GET', '/v1/users')).status).toBe(200), 5_000)
  const changed = (await visit(call)).filter(({ route }) => !route.startsWith('GET '))
  expect(changed.filter(({ status }) => status !== 403)).toEqual([])
  expect(await rowsOfA()).toBe(before)
})
