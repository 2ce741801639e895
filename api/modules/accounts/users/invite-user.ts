// Asking a person into a tenant. The identity host sends the mail; until the person has followed it they may do nothing here.
import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { newUserId } from '../../../../shared/ids.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import { followSave, guardSave } from '../../../resource/rules.ts'
import { insertRow } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { lockAccounts } from '../roles/load-roles.ts'
import { type AccountRules, checkRolesMoved } from '../roles/roles-moved.ts'
import { setTeamMembership, type TeamEntry } from '../teams/set-team-membership.ts'
import { changeMember, saveMembership } from './change-member.ts'
import { userInvitations, userMemberships } from './table.ts'
import { findMember, getMember, type Member, USER, type UserAnswer, viewUser } from './view-users.ts'

export type Invitation = {
  readonly username: string
  readonly roleIds: readonly string[]
  readonly teams: readonly TeamEntry[]
}

/**
 * Invites a person, or invites them anew while they have not accepted: roles and teams are then those of the new invitation,
 * and its mail is the one that counts. Throws RESOURCE_ALREADY_EXISTS for a member, RATE_LIMIT_EXCEEDED for too many mails. What is known of the person elsewhere
 * changes nothing that is answered here.
 */
export async function inviteUser(uow: Uow, rules: AccountRules, invitation: Invitation): Promise<UserAnswer> {
  await lockAccounts(uow)
  const roleIds = [...new Set(invitation.roleIds)]
  const username = invitation.username.trim().toLowerCase()
  const found = await uow.tx.execute<{ id: string }>(sql`select find_or_invite_user(${newUserId()}, ${username}) as id`)
  const userId = found.rows[0]?.id ?? ''
  // First the invitations: a user who accepts at this moment has them locked, and is a member when we go on.
  await revokePending(uow, userId)
  const member = await findMember(uow, userId)
  const previous = member && (await viewUser(uow, member))
  if (member) refuseMember(member)
  await refuseMany(uow, userId)
  const field = 'account_memberships.0.role_ids'
  await checkRolesMoved(uow, rules, { given: roleIds, taken: member?.role_ids ?? [], field })
  if (member) await saveMembership(uow, userId, { status: 'INVITED', role_ids: roleIds })
  else await insertMembership(uow, userId, roleIds)
  for (const [index, team] of invitation.teams.entries())
    await setTeamMembership(uow, rules, userId, team, `team_memberships.${index}`)
  await insertRow(uow, { table: userInvitations, idPrefix: 'uinv' }, { user_id: userId, invited_by: uow.actor.id })
  const data = await viewUser(uow, await getMember(uow, userId))
  await guardSave(uow, USER, data, previous)
  await followSave(uow, USER, data, previous)
  await emit(uow, { type: 'USER.INVITED', objectId: userId, data, previous: null })
  return data
}

function refuseMember({ status, username, id }: Member): void {
  if (status === 'INVITED' || status === 'INVITE_REVOKED') return
  const message = `${username} is a user here already, and ${status}; PATCH /v1/users/${id} changes that.`
  throw new AppError('RESOURCE_ALREADY_EXISTS', message, { field: 'username', resourceId: id, resourceType: 'USER' })
}

/** More in a day would be a way to fill another person's mailbox. */
const MAILS_MAX = 10
const DAY_MS = 86_400_000

async function refuseMany(uow: Uow, userId: string): Promise<void> {
  const dayAgo = formatInstant(instantOf(uow.now - DAY_MS))
  const sent = await uow.tx.$count(
    userInvitations,
    and(
      inThisTenant(uow, userInvitations),
      eq(userInvitations.user_id, userId),
      gt(userInvitations.created_at, dayAgo),
    ),
  )
  if (sent < MAILS_MAX) return
  const message = `This person was invited ${MAILS_MAX} times in a day; ask them to look for the mail, and try again tomorrow.`
  throw new AppError('RATE_LIMIT_EXCEEDED', message, { field: 'username', retryAfterSeconds: DAY_MS / 1_000 })
}

const insertMembership = (uow: Uow, userId: string, roleIds: readonly string[]) =>
  insertRow(
    uow,
    { table: userMemberships, idPrefix: 'memb' },
    { user_id: userId, role_ids: roleIds, status: 'INVITED' },
  )

/** Ends the invitations whose links still work. */
const revokePending = (uow: Uow, userId: string) =>
  uow.tx
    .update(userInvitations)
    .set({ revoked_at: formatInstant(uow.now), updated_at: formatInstant(uow.now) })
    .where(
      and(
        inThisTenant(uow, userInvitations),
        eq(userInvitations.user_id, userId),
        isNull(userInvitations.revoked_at),
        isNull(userInvitations.accepted_at),
      ),
    )

/** Takes an invitation back: its link works no more. Throws INVALID_OPERATION once it has been accepted. */
export const revokeInvite = (uow: Uow, rules: AccountRules, userId: string): Promise<UserAnswer> =>
  changeMember(
    uow,
    rules,
    userId,
    async () => {
      // First, as above.
      await revokePending(uow, userId)
      const { status } = await getMember(uow, userId)
      if (status === 'INVITE_REVOKED') return
      if (status !== 'INVITED') {
        const message = `This user has accepted and is ${status}; PATCH {"active": false} switches them off.`
        throw new AppError('INVALID_OPERATION', message)
      }
      await saveMembership(uow, userId, { status: 'INVITE_REVOKED' })
    },
    'USER.INVITE_REVOKED',
  )
