// The second factor of a user who lost it, taken away by an administrator. The factors are the identity host's: one function of
// the database removes them, and the api sees none of them (shared/database/migrations/20261122T0801_remove_second_factor.sql).
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { newId } from '../../../../shared/ids.ts'
import { emit } from '../../../outbox.ts'
import { lockAccounts } from '../roles/load-roles.ts'
import { hasEveryPermission } from '../roles/require-permissions.ts'
import { type AccountRules, checkRolesMoved } from '../roles/roles-moved.ts'
import { getMember, type UserAnswer, viewUser } from './view-users.ts'

type Refusal = 'NO_MEMBER' | 'ELSEWHERE' | 'NO_FACTOR' | 'SHORT_PASSWORD'
const REFUSALS: Readonly<Record<Refusal, (status: string) => AppError>> = {
  NO_MEMBER: status =>
    new AppError('INVALID_OPERATION', `This user is ${status}; only the second factor of an ACTIVE user is reset.`),
  ELSEWHERE: () =>
    new AppError(
      'USER_NOT_ALLOWED',
      'This key does not administer everything that this account opens, so it cannot reset its second factor. The operator of the installation can.',
    ),
  NO_FACTOR: () => new AppError('INVALID_OPERATION', 'This user has no second factor; there is nothing to reset.'),
  SHORT_PASSWORD: () =>
    new AppError(
      'INVALID_OPERATION',
      'The password of this user is too short to protect the account by itself. Ask the user to choose one of at least 15 characters by “Forgot your password?” on the sign-in page, then reset the second factor.',
    ),
}

/**
 * Removes a user's authenticator app, passkeys and recovery codes and ends their sessions. The user signs in with the password
 * and may enrol again; a mail and an audit record say what happened. Throws USER_NOT_ALLOWED for a user who may do more than the
 * caller here, or who is a member where the caller has no say, and INVALID_OPERATION when there is nothing to reset.
 */
export async function resetSecondFactor(uow: Uow, rules: AccountRules, userId: string): Promise<UserAnswer> {
  await lockAccounts(uow)
  const view = await viewUser(uow, await getMember(uow, userId))
  // Roles of teams count too: they are as much at stake as the user's own.
  const places = [...view.account_memberships, ...view.team_memberships.flatMap(team => team.account_memberships)]
  const taken = places.flatMap(({ role_ids }) => role_ids)
  await checkRolesMoved(uow, rules, { given: [], taken, field: 'id' })
  const whole = await hasEveryPermission(uow, rules.declared)
  const { rows } = await uow.tx.execute<{ outcome: Refusal | 'DONE' }>(sql`
    select reset_second_factor(${userId}, ${whole}, ${newId('mail')}) as outcome`)
  const outcome = rows[0]?.outcome ?? 'NO_MEMBER'
  if (outcome !== 'DONE') throw REFUSALS[outcome](view.status)
  const data = { object_type: 'USER', id: userId, second_factor_change: 'SECOND_FACTOR_RESET' }
  await emit(uow, { type: 'USER.SECOND_FACTOR_RESET', objectId: userId, data, previous: null })
  return view
}
