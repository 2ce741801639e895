// Users of a tenant through /v1. Passwords are neither taken nor given here: they are between a person and the identity host.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { PageOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { OrderDirection, SliceQuery, sliceOf, sliceView } from '../../../list/slice.ts'
import { Nullable, Optional, Shape } from '../../../resource/shapes.ts'
import { AccountMembershipList, AccountMembershipView, rolesGiven } from '../roles/account-membership.ts'
import type { AccountRules } from '../roles/roles-moved.ts'
import { TeamMemberBody } from '../teams/set-team-membership.ts'
import { setActive } from './change-member.ts'
import { type Invitation, inviteUser, revokeInvite } from './invite-user.ts'
import { resetSecondFactor } from './reset-second-factor.ts'
import {
  findMemberByName,
  getMember,
  listMembers,
  MEMBER_ORDERS,
  MemberStatusShape,
  TeamMemberView,
  UserView,
  viewUser,
  viewUsers,
} from './view-users.ts'

const Text = Type.String({ minLength: 1, maxLength: 255 })
const Email = Type.String({
  format: 'email',
  maxLength: 254,
  description: 'An e-mail address; capitals make no difference.',
})
const InviteBody = Shape({
  username: Email,
  account_memberships: Optional(Nullable(AccountMembershipList)),
  team_memberships: Optional(Nullable(Type.Array(TeamMemberBody, { maxItems: 20 }))),
})
const about = { tag: 'users' } as const
const SEARCH_MAX = 100

const UserInviteView = Type.Object(
  {
    id: Type.String(),
    username: Type.String(),
    entity_id: Type.String(),
    status: MemberStatusShape,
    account_memberships: Type.Array(AccountMembershipView),
    team_memberships: Type.Array(TeamMemberView),
  },
  { title: 'UserInvite' },
)

export function userRoutes(app: FastifyInstance, deps: RouteDeps, rules: AccountRules): void {
  readingRoutes(app, deps)
  invitingRoutes(app, deps, rules)
  writeRoute(app, deps, {
    ...about,
    permission: 'USER.UPDATE',
    summary: 'Switch a user on or off in this platform and environment; other platforms are not touched.',
    method: 'PATCH',
    url: '/v1/users/:id',
    params: IdParams,
    body: Shape({ active: Type.Boolean() }),
    response: UserView,
    status: 200,
    handle: (uow, { params, body }) => setActive(uow, rules, params.id, body.active),
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'USER.UPDATE',
    summary:
      'Remove the second factor of a user who lost it, and end their sessions. They sign in with the password and enrol again.',
    method: 'POST',
    url: '/v1/users/:id/reset-second-factor',
    params: IdParams,
    response: UserView,
    status: 200,
    handle: (uow, { params }) => resetSecondFactor(uow, rules, params.id),
  })
}

function readingRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const reading = { ...about, permission: 'USER.VIEW', method: 'GET' } as const
  readRoute(app, deps, {
    ...reading,
    summary: 'List the users of this platform and environment, including invited ones.',
    url: '/v1/users',
    query: Shape({
      active: Type.Optional(Type.Enum(['true', 'false'])),
      username: Type.Optional(Text),
      order_by: Type.Optional(Type.Enum(MEMBER_ORDERS)),
      order_direction: OrderDirection,
      ...SliceQuery,
    }),
    response: PageOf(UserView),
    handle: async (uow, { query }) => {
      const filter = {
        active: query.active === undefined ? undefined : query.active === 'true',
        username: query.username,
      }
      const slice = sliceOf(query)
      const order = { by: query.order_by ?? 'created_at', descending: query.order_direction?.toLowerCase() !== 'asc' }
      const sliced = await listMembers(uow, filter, { order, slice })
      return sliceView('/v1/users', query, { slice, sliced, data: await viewUsers(uow, sliced.rows) })
    },
  })
  readRoute(app, deps, {
    ...reading,
    summary: `Search users by part of their e-mail address; at most ${SEARCH_MAX}, by address.`,
    url: '/v1/users/search',
    query: Shape({ username: Type.Optional(Text), user_type: Type.Optional(Type.Enum(['USER'])) }),
    response: Type.Array(UserView),
    handle: async (uow, { query }) => {
      const order = { by: 'username', descending: false } as const
      const slice = { kind: 'PAGE', page: 1, limit: SEARCH_MAX } as const
      return await viewUsers(uow, (await listMembers(uow, { contains: query.username }, { order, slice })).rows)
    },
  })
  readRoute(app, deps, {
    ...reading,
    summary: 'Read a user.',
    url: '/v1/users/:id',
    params: IdParams,
    response: UserView,
    handle: async (uow, { params }) => await viewUser(uow, await getMember(uow, params.id)),
  })
}

type InviteInput = Type.Static<typeof InviteBody>

function invitingRoutes(app: FastifyInstance, deps: RouteDeps, rules: AccountRules): void {
  const inviting = { ...about, permission: 'USER.CREATE', method: 'POST' } as const
  const invitationOf = (uow: Parameters<typeof rolesGiven>[0], body: InviteInput): Invitation => ({
    username: body.username,
    roleIds: rolesGiven(uow, body.account_memberships) ?? [],
    teams: body.team_memberships ?? [],
  })
  writeRoute(app, deps, {
    ...inviting,
    summary: 'Invite a person by e-mail, with the roles they will have once they accept. A repeat sends a new mail.',
    url: '/v1/users/invite',
    body: InviteBody,
    response: UserInviteView,
    status: 200,
    handle: (uow, { body }) => inviteUser(uow, rules, invitationOf(uow, body)),
  })
  writeRoute(app, deps, {
    ...inviting,
    summary: 'Invite a person as a user.',
    url: '/v1/users',
    body: InviteBody,
    response: UserView,
    status: 201,
    handle: (uow, { body }) => inviteUser(uow, rules, invitationOf(uow, body)),
  })
  writeRoute(app, deps, {
    ...inviting,
    summary: 'Revoke an invitation that was not accepted yet.',
    url: '/v1/users/revoke-invite',
    body: Shape({ id: Type.Optional(Text), username: Type.Optional(Text) }),
    response: UserView,
    status: 200,
    handle: async (uow, { body }) => {
      if (body.id === undefined && body.username === undefined)
        throw new AppError('MISSING_FIELD', 'Name the user by id or username.', { field: 'id' })
      if (body.username === undefined) return await revokeInvite(uow, rules, body.id ?? '')
      const member = await findMemberByName(uow, body.username)
      if (member && (body.id === undefined || body.id === member.id)) return await revokeInvite(uow, rules, member.id)
      const message = `There is no USER ${JSON.stringify(body.username)}.`
      throw new AppError('RESOURCE_NOT_FOUND', message, { field: 'username', resourceType: 'USER' })
    },
  })
}
