// What a user may do in one account. An account is one platform in one environment, so a call sees and changes the one it is
// made in, and there is one membership to a user or a team.
import Type, { type Static } from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { IdText, Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'
import { type RoleAnswer, RoleView } from './routes.ts'

const ROLES_MAX = 50

export const RoleIds = Type.Array(IdText('role'), { maxItems: ROLES_MAX })

const given = {
  account_id: Optional(Nullable(Type.String({ maxLength: 64, description: 'The platform; that of the call.' }))),
  environment: Optional(Nullable(OneOf('TEST', 'LIVE'))),
}
export const AccountMembershipBody = Shape({ ...given, role_ids: Optional(Nullable(RoleIds)) })
export const AccountMembershipPatch = Shape({ ...given, role_ids: RoleIds })
export const AccountMembershipList = Type.Array(AccountMembershipBody, { maxItems: 1 })

export const AccountMembershipView = Type.Object(
  {
    object_type: Type.Literal('ACCOUNT_MEMBERSHIP'),
    id: Nullable(Type.String()),
    account_id: Type.String(),
    environment: OneOf('TEST', 'LIVE'),
    account: Type.Object({ id: Type.String(), environment: OneOf('TEST', 'LIVE'), platform_id: Type.String() }),
    type: Type.Enum(['ADMIN', 'USER'], { description: 'ADMIN: has the role Administrator.' }),
    role_ids: Type.Array(Type.String()),
    roles: Type.Array(RoleView),
  },
  { title: 'AccountMembershipRepresentation' },
)

/** A membership as answered. `id`: of a user's; a team's has none of its own. */
export function viewMembership(
  uow: ReadUow,
  of: { readonly id: string | null; readonly role_ids: readonly string[] },
  roles: readonly RoleAnswer[],
): Static<typeof AccountMembershipView> {
  const { platformId, environment } = uow.tenant
  return {
    object_type: 'ACCOUNT_MEMBERSHIP',
    id: of.id,
    account_id: platformId,
    environment,
    account: { id: platformId, environment, platform_id: platformId },
    type: of.role_ids.includes('role_administrator') ? 'ADMIN' : 'USER',
    role_ids: [...of.role_ids],
    roles: roles.filter(role => of.role_ids.includes(role.id)) as Static<typeof RoleView>[],
  }
}

/** Throws RESOURCE_NOT_FOUND for an account that is not the one of the call: a credential reaches no other. */
export function checkAccount(uow: ReadUow, membership: Static<typeof AccountMembershipBody>, path: string): void {
  const { platformId, environment } = uow.tenant
  const field =
    (membership.account_id ?? platformId) !== platformId
      ? 'account_id'
      : (membership.environment ?? environment) !== environment
        ? 'environment'
        : null
  if (field === null) return
  const message = 'There is no such account. Leave account_id and environment out: the account is that of the call.'
  throw new AppError('RESOURCE_NOT_FOUND', message, { field: path === '' ? field : `${path}.${field}` })
}

/** The roles of a list of memberships, which has one entry or none. */
export function rolesGiven(
  uow: ReadUow,
  list: Static<typeof AccountMembershipList> | null | undefined,
): string[] | null {
  const [membership] = list ?? []
  if (!membership) return null
  checkAccount(uow, membership, 'account_memberships.0')
  return [...new Set(membership.role_ids ?? [])]
}
