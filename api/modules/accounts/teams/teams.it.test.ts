// Teams: roles that several users have together, in the time they are in it.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'

let api: UserHarness
let user: string
let counter = 0
beforeAll(async () => {
  api = await startApiWithUsers()
  await api.administrator(api.tenants.aLive.tenant)
  user = await api.administrator(api.tenants.aLive.tenant)
  const [membership] = (await a('GET', `/v1/users/${user}/memberships`)).body as unknown as { id: string }[]
  await a('PATCH', `/v1/users/${user}/memberships/${membership?.id}`, { role_ids: [] })
})
afterAll(() => api?.close())

const a: UserHarness['tenants']['aLive']['call'] = (...input) => api.tenants.aLive.call(...input)
const memberships = (...role_ids: string[]) => ({ account_memberships: [{ role_ids }] })
async function aTeam(...role_ids: string[]): Promise<string> {
  counter += 1
  const made = await a('POST', '/v1/teams', { name: `Team ${counter}`, ...memberships(...role_ids) })
  expect(made.status).toBe(201)
  return made.body['id']
}
const stands = async (url: string, status: number) => {
  const asUser = api.as(user, api.tenants.aLive.tenant)
  await vi.waitFor(async () => expect((await asUser('GET', url)).status).toBe(status), 5_000)
}

test('a team is made, read, listed, changed and deleted', async () => {
  const id = await aTeam('role_viewer')
  const read = (await a('GET', `/v1/teams/${id}`)).body
  expect(read).toMatchObject({
    object_type: 'TEAM',
    account_memberships: [{ role_ids: ['role_viewer'], environment: 'LIVE' }],
  })
  const list = (await a('GET', '/v1/teams?order_by=name&order_direction=asc')).body as unknown as { id: string }[]
  expect(list).toContainEqual(read)
  expect(await a('POST', `/v1/teams/${id}/memberships`, { role_ids: ['role_contributor'] })).toMatchObject({
    status: 201,
    body: [{ role_ids: ['role_viewer', 'role_contributor'] }],
  })
  const changed = await a('PATCH', `/v1/teams/${id}`, { name: 'Renamed' })
  expect(changed.body).toMatchObject({
    name: 'Renamed',
    account_memberships: [{ role_ids: ['role_viewer', 'role_contributor'] }],
  })
  expect((await a('PATCH', `/v1/teams/${id}`, { name: 'Renamed' })).body).toEqual(changed.body)
  expect((await a('DELETE', `/v1/teams/${id}`)).status).toBe(200)
  expect((await a('GET', `/v1/teams/${id}`)).status).toBe(404)
  const notices = await api.sql('select type from outbox where object_id = $1 order by seq', [id])
  expect(notices.map(row => row['type'])).toEqual(['TEAM.CREATED', 'TEAM.UPDATED', 'TEAM.UPDATED', 'TEAM.DELETED'])
})

test('its roles are a member’s from start_at until end_at, by the database’s clock', async () => {
  const team = await aTeam('role_viewer')
  const shift = (interval: string) =>
    api.sql(
      `create or replace function identity_now() returns timestamptz language sql volatile as $$ select clock_timestamp() + interval '${interval}' $$`,
    )
  const hour = 3_600_000
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  const put = await a('POST', `/v1/users/${user}/teams`, { team_id: team, start_at: at(hour), end_at: at(2 * hour) })
  expect(put).toMatchObject({
    status: 201,
    body: [{ team_id: team, account_memberships: [{ role_ids: ['role_viewer'] }] }],
  })
  await stands('/v1/customers', 403)
  await shift('61 minutes')
  await stands('/v1/customers', 200)
  await shift('121 minutes')
  await stands('/v1/customers', 403)
  await shift('0')
  const { data } = (await a('GET', `/v1/users/${user}/teams`)).body
  expect(data).toMatchObject([{ team_id: team }])
  await a('DELETE', `/v1/teams/${team}`)
})

test('a time in a team is ended by saying its end, and the team’s roles act within seconds', async () => {
  const team = await aTeam('role_viewer')
  await a('POST', `/v1/users/${user}/teams`, { team_id: team })
  await stands('/v1/customers', 200)
  await a('PATCH', `/v1/teams/${team}`, { account_memberships: [] })
  await stands('/v1/customers', 403)
  await a('PATCH', `/v1/teams/${team}`, memberships('role_viewer'))
  await stands('/v1/customers', 200)
  const [before] = (await a('GET', `/v1/users/${user}/teams`)).body['data']
  const end_at = new Date(Date.parse(before.start_at) + 1_000).toISOString().replace('.000', '')
  const ended = await a('POST', `/v1/users/${user}/teams`, { team_id: team, end_at })
  expect(ended.body).toMatchObject([{ start_at: before.start_at, end_at }])
  await stands('/v1/customers', 403)
  await a('DELETE', `/v1/teams/${team}`)
})

test.each<[string, (team: string) => Promise<Parameters<typeof refusal>[0]>, unknown[]]>([
  [
    'an end before the start',
    team =>
      a('POST', `/v1/users/${user}/teams`, {
        team_id: team,
        start_at: '2026-02-01T00:00:00Z',
        end_at: '2026-02-01T01:00:00+01:00',
      }),
    [400, 'INVALID_FIELD', 'end_at'],
  ],
  [
    'a team nobody knows',
    () => a('POST', `/v1/users/${user}/teams`, { team_id: 'team_nobody' }),
    [404, 'RESOURCE_NOT_FOUND', 'team_id'],
  ],
  [
    'a user nobody knows',
    team => a('POST', '/v1/users/user_nobody/teams', { team_id: team }),
    [404, 'RESOURCE_NOT_FOUND', undefined],
  ],
  [
    'a role nobody knows',
    team => a('POST', `/v1/teams/${team}/memberships`, { role_ids: ['role_nobody'] }),
    [404, 'RESOURCE_NOT_FOUND', 'account_memberships.0.role_ids.0'],
  ],
  [
    'two memberships of one account',
    () => a('POST', '/v1/teams', { name: 'X', account_memberships: [{}, {}] }),
    [400, 'INVALID_FIELD', 'account_memberships'],
  ],
  ['no name', () => a('POST', '/v1/teams', {}), [400, 'MISSING_FIELD', 'name']],
])('%s is refused', async (_what, attempt, expected) => {
  expect(refusal(await attempt(await aTeam()))).toEqual(expected)
})

test('nobody comes to a role by a team who could not give it', async () => {
  const { id: managing } = (await a('POST', '/v1/roles', { name: 'Of teams', permissions: ['USER.*', 'TEAM.*'] })).body
  const [membership] = (await a('GET', `/v1/users/${user}/memberships`)).body as unknown as { id: string }[]
  await a('PATCH', `/v1/users/${user}/memberships/${membership?.id}`, { role_ids: [managing] })
  await stands('/v1/teams', 200)
  const asUser = api.as(user, api.tenants.aLive.tenant)
  const strong = await aTeam('role_administrator')
  const refused = [403, 'USER_NOT_ALLOWED', undefined]
  expect(refusal(await asUser('POST', `/v1/users/${user}/teams`, { team_id: strong }))).toEqual(refused)
  expect(refusal(await asUser('POST', '/v1/teams', { name: 'Mine', ...memberships('role_viewer') }))).toEqual(refused)
  const own = (await asUser('POST', '/v1/teams', { name: 'Mine', ...memberships(managing) })).body['id']
  expect(refusal(await asUser('POST', `/v1/teams/${own}/memberships`, { role_ids: ['role_administrator'] }))).toEqual(
    refused,
  )
  expect(refusal(await asUser('DELETE', `/v1/teams/${strong}`))).toEqual(refused)
})
