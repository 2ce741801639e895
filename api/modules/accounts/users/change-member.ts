// Changes of one user's place in a tenant. Each holds the tenant's accounts, keeps an administrator, and leaves its event.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import { followSave, guardDelete, guardSave } from '../../../resource/rules.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { keepAnAdministrator } from '../roles/administrators.ts'
import { type AccountRules, checkRolesMoved } from '../roles/roles-moved.ts'
import { type MemberStatus, userMemberships } from './table.ts'
import { getMember, type Member, USER, type UserAnswer, viewUser } from './view-users.ts'

/** Runs `change` on a member and emits what it did; one that did nothing emits no event. */
export async function changeMember(
  uow: Uow,
  { declared }: AccountRules,
  userId: string,
  change: (member: Member) => Promise<void>,
  type: 'USER.UPDATED' | 'USER.INVITE_REVOKED' = 'USER.UPDATED',
): Promise<UserAnswer> {
  return await keepAnAdministrator(uow, declared, async () => {
    const member = await getMember(uow, userId)
    const previous = await viewUser(uow, member)
    await change(member)
    const data = await viewUser(uow, await getMember(uow, userId))
    if (JSON.stringify(data) === JSON.stringify(previous)) return previous
    await guardSave(uow, USER, data, previous)
    await followSave(uow, USER, data, previous)
    await emit(uow, { type, objectId: userId, data, previous })
    return data
  })
}

/** Saves over a membership of any user. */
export async function saveMembership(
  uow: Uow,
  userId: string,
  values: { readonly status?: MemberStatus; readonly role_ids?: string[] },
): Promise<void> {
  await uow.tx
    .update(userMemberships)
    .set({ ...values, updated_at: formatInstant(uow.now) })
    .where(and(inThisTenant(uow, userMemberships), eq(userMemberships.user_id, userId)))
}

/** Switches a member on or off in this tenant alone. Their tokens follow within seconds. */
export const setActive = (uow: Uow, rules: AccountRules, userId: string, active: boolean): Promise<UserAnswer> =>
  changeMember(uow, rules, userId, async member => {
    const status = active ? 'ACTIVE' : 'INACTIVE'
    if (member.status === status) return
    if (member.status !== 'ACTIVE' && member.status !== 'INACTIVE') {
      const instead = active ? 'they become active by following the invitation' : 'use POST /v1/users/revoke-invite'
      throw new AppError('INVALID_OPERATION', `This user is ${member.status}; ${instead}.`, { field: 'active' })
    }
    await checkRolesMoved(uow, rules, { given: [], taken: member.role_ids, field: 'active' })
    await saveMembership(uow, userId, { status })
  })

/** Gives a member these roles and no others. */
export const replaceRoles = (
  uow: Uow,
  rules: AccountRules,
  userId: string,
  membershipId: string,
  roleIds: readonly string[],
): Promise<UserAnswer> =>
  changeMember(uow, rules, userId, async member => {
    checkMembershipId(member, membershipId)
    const [given, taken] = [[...new Set(roleIds)], member.role_ids]
    const moved = [...given.filter(id => !taken.includes(id)), ...taken.filter(id => !given.includes(id))]
    if (moved.length === 0) return
    // A member who may do more than you is not yours to change, also where what you change is little.
    await checkRolesMoved(uow, rules, { given, taken, field: 'role_ids' })
    await saveMembership(uow, userId, { role_ids: given })
  })

/** Gives a member these roles besides what they have. */
export const addRoles = (
  uow: Uow,
  rules: AccountRules,
  userId: string,
  roleIds: readonly string[],
): Promise<UserAnswer> =>
  changeMember(uow, rules, userId, async member => {
    const added = [...new Set(roleIds)].filter(id => !member.role_ids.includes(id))
    if (added.length === 0) return
    await checkRolesMoved(uow, rules, { given: added, taken: member.role_ids, field: 'role_ids' })
    await saveMembership(uow, userId, { role_ids: [...member.role_ids, ...added] })
  })

/** Ends a membership: teams and invitations go with it, and the user is nobody here any more. Answers what was. */
export async function removeMember(
  uow: Uow,
  rules: AccountRules,
  userId: string,
  membershipId: string,
): Promise<UserAnswer> {
  return await keepAnAdministrator(uow, rules.declared, async () => {
    const member = await getMember(uow, userId)
    checkMembershipId(member, membershipId)
    await checkRolesMoved(uow, rules, { given: [], taken: member.role_ids, field: 'id' })
    const data = await viewUser(uow, member)
    await guardDelete(uow, USER, data)
    await uow.tx
      .delete(userMemberships)
      .where(and(inThisTenant(uow, userMemberships), eq(userMemberships.user_id, userId)))
    await emit(uow, { type: 'USER.DELETED', objectId: userId, data, previous: null })
    return data
  })
}

function checkMembershipId(member: Member, membershipId: string): void {
  if (member.membership_id === membershipId) return
  throw new AppError('RESOURCE_NOT_FOUND', `There is no ACCOUNT_MEMBERSHIP ${JSON.stringify(membershipId)}.`, {
    resourceType: 'ACCOUNT_MEMBERSHIP',
  })
}
