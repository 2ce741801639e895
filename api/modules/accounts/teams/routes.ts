// Teams through /v1.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { idOf } from '../../../../shared/ids.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { listSlice } from '../../../list/list-slice.ts'
import { type ListQuery, type ListSpec, orderOf, orderQuery } from '../../../list/list-spec.ts'
import { SliceQuery, sliceOf } from '../../../list/slice.ts'
import { Name, Nullable, Optional, Shape } from '../../../resource/shapes.ts'
import {
  AccountMembershipBody,
  AccountMembershipList,
  AccountMembershipView,
  checkAccount,
  rolesGiven,
} from '../roles/account-membership.ts'
import type { AccountRules } from '../roles/roles-moved.ts'
import { type Team, teams } from './table.ts'
import { changeTeam, createTeam, deleteTeam, TeamView, viewTeam, viewTeams } from './teams.ts'

const about = { tag: 'teams' } as const
const TEAM_LIST: ListSpec = { table: teams, filters: {}, orderBy: ['created_at', 'name'], searchable: [], ranges: [] }

export function teamRoutes(app: FastifyInstance, deps: RouteDeps, rules: AccountRules): void {
  readingRoutes(app, deps)
  writeRoute(app, deps, {
    ...about,
    permission: 'TEAM.CREATE',
    summary: 'Create a team, with the roles its members will have.',
    method: 'POST',
    url: '/v1/teams',
    body: Shape({ name: Name, account_memberships: Optional(Nullable(AccountMembershipList)) }),
    response: TeamView,
    status: 201,
    handle: (uow, { body }) =>
      createTeam(uow, rules, { name: body.name, roleIds: rolesGiven(uow, body.account_memberships) ?? [] }),
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'TEAM.UPDATE',
    summary: 'Rename a team, or replace its roles.',
    method: 'PATCH',
    url: '/v1/teams/:id',
    params: IdParams,
    body: Shape({ name: Type.Optional(Name), account_memberships: Type.Optional(AccountMembershipList) }),
    response: TeamView,
    status: 200,
    handle: (uow, { params, body }) => {
      const roleIds = body.account_memberships === undefined ? null : (rolesGiven(uow, body.account_memberships) ?? [])
      return changeTeam(uow, rules, idOf('team', params.id), () => ({
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(roleIds === null ? {} : { role_ids: roleIds }),
      }))
    },
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'TEAM.DELETE',
    summary: 'Delete a team. Its members lose its roles.',
    method: 'DELETE',
    url: '/v1/teams/:id',
    params: IdParams,
    response: TeamView,
    status: 200,
    handle: (uow, { params }) => deleteTeam(uow, rules, idOf('team', params.id)),
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'TEAM.UPDATE',
    summary: 'Give a team more roles.',
    method: 'POST',
    url: '/v1/teams/:id/memberships',
    params: IdParams,
    body: AccountMembershipBody,
    response: Type.Array(AccountMembershipView),
    status: 201,
    handle: async (uow, { params, body }) => {
      checkAccount(uow, body, '')
      const added = body.role_ids ?? []
      const team = await changeTeam(uow, rules, idOf('team', params.id), ({ role_ids }) => ({
        role_ids: [...new Set([...role_ids, ...added])],
      }))
      return team.account_memberships
    },
  })
}

function readingRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const reading = { ...about, permission: 'TEAM.VIEW', method: 'GET' } as const
  readRoute(app, deps, {
    ...reading,
    summary: 'List the teams.',
    url: '/v1/teams',
    query: Shape({ ...orderQuery(TEAM_LIST), ...SliceQuery }),
    // The interface answers the list alone, without the page it is.
    response: Type.Array(TeamView),
    handle: async (uow, { query: given }) => {
      const query = given as ListQuery
      const of = { conditions: [], order: orderOf(TEAM_LIST, query), slice: sliceOf(query) }
      return await viewTeams(uow, (await listSlice<Team>(uow, TEAM_LIST, of)).rows)
    },
  })
  readRoute(app, deps, {
    ...reading,
    summary: 'Read a team.',
    url: '/v1/teams/:id',
    params: IdParams,
    response: TeamView,
    handle: (uow, { params }) => viewTeam(uow, idOf('team', params.id)),
  })
}
