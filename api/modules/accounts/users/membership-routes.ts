// What one user may do here: their membership and their teams.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { Shape } from '../../../resource/shapes.ts'
import {
  AccountMembershipBody,
  AccountMembershipPatch,
  AccountMembershipView,
  checkAccount,
} from '../roles/account-membership.ts'
import type { AccountRules } from '../roles/roles-moved.ts'
import { setTeamMembership, TeamMemberBody } from '../teams/set-team-membership.ts'
import { addRoles, changeMember, removeMember, replaceRoles } from './change-member.ts'
import { getMember, TeamMemberView, viewUser } from './view-users.ts'

const Id = Type.String({ minLength: 1, maxLength: 255 })
const IdParams = Shape({ id: Id })
const MembershipParams = Shape({ id: Id, membershipResourceId: Id })
const Memberships = Type.Array(AccountMembershipView)
const about = { tag: 'users' } as const
const PATH = '/v1/users/:id/memberships'

export function membershipRoutes(app: FastifyInstance, deps: RouteDeps, rules: AccountRules): void {
  readRoute(app, deps, {
    ...about,
    permission: 'USER.VIEW',
    summary: 'List a user’s memberships, with their roles.',
    method: 'GET',
    url: PATH,
    params: IdParams,
    response: Memberships,
    handle: async (uow, { params }) => (await viewUser(uow, await getMember(uow, params.id))).account_memberships,
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'USER.UPDATE',
    summary: 'Give a user more roles.',
    method: 'POST',
    url: PATH,
    params: IdParams,
    body: AccountMembershipBody,
    response: Memberships,
    status: 201,
    handle: async (uow, { params, body }) => {
      checkAccount(uow, body, '')
      return (await addRoles(uow, rules, params.id, body.role_ids ?? [])).account_memberships
    },
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'USER.UPDATE',
    summary: 'Replace the roles of a user.',
    method: 'PATCH',
    url: `${PATH}/:membershipResourceId`,
    params: MembershipParams,
    body: AccountMembershipPatch,
    response: Memberships,
    status: 200,
    handle: async (uow, { params, body }) => {
      checkAccount(uow, body, '')
      const { id, membershipResourceId } = params
      return (await replaceRoles(uow, rules, id, membershipResourceId, body.role_ids)).account_memberships
    },
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'USER.DELETE',
    summary: 'Remove a user from this platform and environment.',
    method: 'DELETE',
    url: `${PATH}/:membershipResourceId`,
    params: MembershipParams,
    response: Memberships,
    status: 200,
    handle: async (uow, { params }) =>
      (await removeMember(uow, rules, params.id, params.membershipResourceId)).account_memberships,
  })
  teamsOfUser(app, deps, rules)
}

function teamsOfUser(app: FastifyInstance, deps: RouteDeps, rules: AccountRules): void {
  readRoute(app, deps, {
    ...about,
    permission: 'USER.VIEW',
    summary: 'List the teams of a user, past and future ones included.',
    method: 'GET',
    url: '/v1/users/:id/teams',
    params: IdParams,
    response: Type.Object({ data: Type.Array(TeamMemberView) }),
    handle: async (uow, { params }) => ({
      data: (await viewUser(uow, await getMember(uow, params.id))).team_memberships,
    }),
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'USER.UPDATE',
    summary: 'Put a user in a team for a time, or change that time.',
    method: 'POST',
    url: '/v1/users/:id/teams',
    params: IdParams,
    body: TeamMemberBody,
    response: Type.Array(TeamMemberView),
    status: 201,
    handle: async (uow, { params, body }) =>
      (await changeMember(uow, rules, params.id, () => setTeamMembership(uow, rules, params.id, body)))
        .team_memberships,
  })
}
