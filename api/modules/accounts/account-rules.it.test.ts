// Rules of other modules meet every write of keys, teams and members, whichever command makes it, as they meet those of resources.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { inTenant, type Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { idOf } from '../../../shared/ids.ts'
import { afterSave, beforeDelete, beforeSave, type Rules, type Subject, withRules } from '../../resource/rules.ts'
import { type ApiHarness, startApi } from '../../testing/harness.ts'
import { apiKeyResource } from './api-keys/api-key.ts'
import { changeKey } from './api-keys/change-key.ts'
import { createKey } from './api-keys/create-key.ts'
import { changeTeam, createTeam, deleteTeam, TEAM } from './teams/teams.ts'
import { addRoles, changeMember, removeMember, replaceRoles, setActive } from './users/change-member.ts'
import { inviteUser, revokeInvite } from './users/invite-user.ts'
import { USER } from './users/view-users.ts'

let api: ApiHarness
let met: string[]
let refuses: boolean
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())
beforeEach(() => {
  met = []
  refuses = false
})

const SUBJECTS: readonly Subject[] = [apiKeyResource, TEAM, USER]
function note(rule: string): void {
  met.push(rule)
  if (refuses) throw new AppError('INVALID_OPERATION', 'A guard stands against it.')
}
const RULES: Rules = {
  guards: SUBJECTS.flatMap(subject => [
    beforeSave(subject, (_uow, _row, previous) => note(`${previous ? 'change' : 'create'} ${subject.objectType}`)),
    beforeDelete(subject, () => note(`delete ${subject.objectType}`)),
  ]),
  effects: SUBJECTS.map(subject => afterSave(subject, () => void met.push(`saved ${subject.objectType}`))),
}
const declared = new Set<string>()
const rules = { declared }
const change = <T>(work: (uow: Uow) => Promise<T>, of: Rules = RULES): Promise<T> =>
  inTenant(
    withRules(api.database, of, { permissions: declared }),
    api.tenants.aLive.tenant,
    { id: null, requestId: null },
    work,
  )

/** What each write is made on: a role, a key, a team, and a member who has accepted. */
type Seeds = {
  readonly role: string
  readonly key: string
  readonly team: string
  readonly user: string
  readonly membership: string
}
let count = 0
async function seeds(): Promise<Seeds> {
  const { call, tenant } = api.tenants.aLive
  count += 1
  const made = async (path: string, body: object) => {
    const answer = await call('POST', path, body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    return answer.body
  }
  const role = await made('/v1/roles', { name: `Ruled ${count}`, permissions: ['CUSTOMER.VIEW'] })
  const team = await made('/v1/teams', { name: `Ruled ${count}`, account_memberships: [{ role_ids: [] }] })
  const user = await made('/v1/users', {
    username: `ruled-${count}@example.com`,
    account_memberships: [{ role_ids: [] }],
  })
  const key = await made('/v1/api-keys', { role_type: 'READ_ONLY', description: 'ruled' })
  await api.sql(`update user_memberships set status = 'ACTIVE' where platform_id = $1 and user_id = $2`, [
    tenant.platformId,
    user['id'],
  ])
  await api.sql(`update users set status = 'ACTIVE', password_hash = 'none' where id = $1`, [user['id']])
  const [membership] = user['account_memberships'] as { id: string }[]
  return {
    role: String(role['id']),
    key: String(key['id']),
    team: String(team['id']),
    user: String(user['id']),
    membership: membership?.id ?? '',
  }
}

/** How much the tenant has written: every write leaves its event. */
const written = () =>
  api.sql('select count(*) from outbox where platform_id = $1', [api.tenants.aLive.tenant.platformId])

test.each<[string, (uow: Uow, seed: Seeds) => Promise<unknown>, string[]]>([
  ['a new key', uow => createKey(uow, { description: 'new' }, declared), ['create API_KEY', 'saved API_KEY']],
  [
    'a changed key',
    (uow, { key }) => changeKey(uow, key, { description: 'other' }, declared),
    ['change API_KEY', 'saved API_KEY'],
  ],
  [
    'a revoked key',
    (uow, { key }) => changeKey(uow, key, { active: false }, declared),
    ['change API_KEY', 'saved API_KEY'],
  ],
  ['a new team', uow => createTeam(uow, rules, { name: `New ${count}`, roleIds: [] }), ['create TEAM', 'saved TEAM']],
  [
    'a changed team',
    (uow, { team }) => changeTeam(uow, rules, idOf('team', team), () => ({ name: `Other ${count}` })),
    ['change TEAM', 'saved TEAM'],
  ],
  ['a deleted team', (uow, { team }) => deleteTeam(uow, rules, idOf('team', team)), ['delete TEAM']],
  [
    'an invitation',
    uow => inviteUser(uow, rules, { username: `new-${count}@example.com`, roleIds: [], teams: [] }),
    ['create USER', 'saved USER'],
  ],
  ['a member switched off', (uow, { user }) => setActive(uow, rules, user, false), ['change USER', 'saved USER']],
  ['more roles', (uow, { user, role }) => addRoles(uow, rules, user, [role]), ['change USER', 'saved USER']],
  [
    'other roles',
    (uow, { user, role, membership }) => replaceRoles(uow, rules, user, membership, [role]),
    ['change USER', 'saved USER'],
  ],
  ['a member removed', (uow, { user, membership }) => removeMember(uow, rules, user, membership), ['delete USER']],
])('%s meets the guards and runs the effects; one that refuses leaves nothing', async (_, write, expected) => {
  const seed = await seeds()
  refuses = true
  const before = await written()
  await expect(change(uow => write(uow, seed))).rejects.toMatchObject({ code: 'INVALID_OPERATION' })
  expect(met).toEqual(expected.slice(0, 1))
  expect(await written()).toEqual(before)
  refuses = false
  met = []
  await change(uow => write(uow, seed))
  expect(met).toEqual(expected)
})

test('an invitation taken back, and one made anew, are changes of a user', async () => {
  count += 1
  const invitation = { username: `again-${count}@example.com`, roleIds: [], teams: [] }
  const { id } = await change(uow => inviteUser(uow, rules, invitation))
  await change(uow => revokeInvite(uow, rules, id))
  await change(uow => inviteUser(uow, rules, invitation))
  // A change of nothing meets no rule.
  await change(uow => changeMember(uow, rules, id, async () => {}))
  expect(met.filter(rule => !rule.startsWith('saved'))).toEqual(['create USER', 'change USER', 'change USER'])
})
