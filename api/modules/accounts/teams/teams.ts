// Teams: roles that several users have together.
import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import Type, { type Static } from 'typebox'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import { followSave, guardDelete, guardSave, type Subject } from '../../../resource/rules.ts'
import { Timestamp } from '../../../resource/shapes.ts'
import { insertRow } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { AccountMembershipView, viewMembership } from '../roles/account-membership.ts'
import { keepAnAdministrator } from '../roles/administrators.ts'
import { lockAccounts } from '../roles/load-roles.ts'
import { type AccountRules, checkRolesMoved } from '../roles/roles-moved.ts'
import { viewRoles } from '../roles/routes.ts'
import { getTeam } from './set-team-membership.ts'
import { type Team, teams } from './table.ts'

export const TeamView = Type.Object(
  {
    object_type: Type.Literal('TEAM'),
    id: Type.String(),
    entity_id: Type.String(),
    name: Type.String(),
    account_memberships: Type.Array(AccountMembershipView),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'TeamRepresentation' },
)
export type TeamAnswer = Static<typeof TeamView>

/** Teams as answered. */
export async function viewTeams(uow: ReadUow, list: readonly Team[]): Promise<TeamAnswer[]> {
  const roles = await viewRoles(uow)
  return list.map(({ id, platform_id, name, role_ids, created_at, updated_at }) => ({
    object_type: 'TEAM',
    id,
    entity_id: platform_id,
    name,
    account_memberships: [viewMembership(uow, { id: null, role_ids }, roles)],
    created_at,
    updated_at,
  }))
}

/** The team with this id, as answered. Throws RESOURCE_NOT_FOUND. */
export async function viewTeam(uow: ReadUow, id: Id<'team'>): Promise<TeamAnswer> {
  const [view] = await viewTeams(uow, [await getTeam(uow, id)])
  if (!view) throw new Error('one team has one view')
  return view
}

/** What rules of other modules are about when they are about teams. */
export const TEAM: Subject<TeamAnswer> = { objectType: 'TEAM' }

const FIELD = 'account_memberships.0.role_ids'

/** Creates a team with these roles and nobody in it. */
export async function createTeam(
  uow: Uow,
  rules: AccountRules,
  body: { readonly name: string; readonly roleIds: readonly string[] },
): Promise<TeamAnswer> {
  await lockAccounts(uow)
  await checkRolesMoved(uow, rules, { given: body.roleIds, field: FIELD })
  const { id } = await insertRow(uow, { table: teams, idPrefix: 'team' }, { name: body.name, role_ids: body.roleIds })
  const data = await viewTeam(uow, idOf('team', id))
  await guardSave(uow, TEAM, data, null)
  await followSave(uow, TEAM, data, null)
  await emit(uow, { type: 'TEAM.CREATED', objectId: id, data, previous: null })
  return data
}

/** Renames a team, or gives it these roles and no others: everybody in it follows within seconds. A change of nothing emits no event. */
export async function changeTeam(
  uow: Uow,
  rules: AccountRules,
  id: Id<'team'>,
  change: (team: Team) => { readonly name?: string; readonly role_ids?: string[] },
): Promise<TeamAnswer> {
  return await keepAnAdministrator(uow, rules.declared, async () => {
    const team = await getTeam(uow, id)
    const values = change(team)
    const given = values.role_ids ?? team.role_ids
    await checkRolesMoved(uow, rules, { given, taken: team.role_ids, field: FIELD })
    const previous = await viewTeam(uow, id)
    if (isDeepStrictEqual({ ...team, ...values }, team)) return previous
    await uow.tx
      .update(teams)
      .set({ ...values, updated_at: formatInstant(uow.now) })
      .where(and(inThisTenant(uow, teams), eq(teams.id, id)))
    const data = await viewTeam(uow, id)
    await guardSave(uow, TEAM, data, previous)
    await followSave(uow, TEAM, data, previous)
    await emit(uow, { type: 'TEAM.UPDATED', objectId: id, data, previous })
    return data
  })
}

/** Deletes a team; who was in it loses its roles. Answers what was. */
export async function deleteTeam(uow: Uow, rules: AccountRules, id: Id<'team'>): Promise<TeamAnswer> {
  return await keepAnAdministrator(uow, rules.declared, async () => {
    const team = await getTeam(uow, id)
    await checkRolesMoved(uow, rules, { given: [], taken: team.role_ids, field: 'id' })
    const data = await viewTeam(uow, id)
    await guardDelete(uow, TEAM, data)
    await uow.tx.delete(teams).where(and(inThisTenant(uow, teams), eq(teams.id, id)))
    await emit(uow, { type: 'TEAM.DELETED', objectId: id, data, previous: null })
    return data
  })
}
