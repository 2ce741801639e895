// Teams through /v1.
import { asc, desc } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { PageQuery, pageOf } from '../../http/pagination.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../http/route.ts'
import { Name, Nullable, Optional, Shape } from '../../resource/shapes.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import {
  AccountMembershipBody,
  AccountMembershipList,
  AccountMembershipView,
  checkAccount,
  rolesGiven,
} from '../users/account-membership.ts'
import type { AccountRules } from '../users/change-member.ts'
import { teams } from './table.ts'
import { changeTeam, createTeam, deleteTeam, TeamView, viewTeam, viewTeams } from './teams.ts'

const IdParams = Shape({ id: Type.String({ minLength: 1, maxLength: 255 }) })
const about = { tag: 'teams' } as const
const ORDERS = { created_at: teams.created_at, name: teams.name }
const orderNames = Object.keys(ORDERS) as (keyof typeof ORDERS)[]

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
    summary: 'Rename a team, or give it these roles and no others.',
    method: 'PATCH',
    url: '/v1/teams/:id',
    params: IdParams,
    body: Shape({ name: Type.Optional(Name), account_memberships: Type.Optional(AccountMembershipList) }),
    response: TeamView,
    status: 200,
    handle: (uow, { params, body }) => {
      const roleIds = body.account_memberships === undefined ? null : (rolesGiven(uow, body.account_memberships) ?? [])
      return changeTeam(uow, rules, params.id, () => ({
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(roleIds === null ? {} : { role_ids: roleIds }),
      }))
    },
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'TEAM.DELETE',
    summary: 'Delete a team; who was in it loses its roles.',
    method: 'DELETE',
    url: '/v1/teams/:id',
    params: IdParams,
    response: TeamView,
    status: 200,
    handle: (uow, { params }) => deleteTeam(uow, rules, params.id),
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'TEAM.UPDATE',
    summary: 'Give a team roles besides those it has.',
    method: 'POST',
    url: '/v1/teams/:id/memberships',
    params: IdParams,
    body: AccountMembershipBody,
    response: Type.Array(AccountMembershipView),
    status: 201,
    handle: async (uow, { params, body }) => {
      checkAccount(uow, body, '')
      const added = body.role_ids ?? []
      const team = await changeTeam(uow, rules, params.id, ({ role_ids }) => ({
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
    query: Shape({
      order_by: Type.Optional(Type.Enum(orderNames)),
      order_direction: Type.Optional(Type.Enum(['asc', 'desc', 'ASC', 'DESC'])),
      ...PageQuery,
    }),
    // The interface answers the list alone, without the page it is.
    response: Type.Array(TeamView),
    handle: async (uow, { query }) => {
      const page = pageOf({
        ...(query.page ? { page: query.page } : {}),
        ...(query.limit ? { limit: query.limit } : {}),
      })
      const direction = query.order_direction?.toLowerCase() === 'asc' ? asc : desc
      const rows = await uow.tx
        .select()
        .from(teams)
        .where(inThisTenant(uow, teams))
        .orderBy(direction(ORDERS[query.order_by ?? 'created_at']), direction(teams.id))
        .limit(page.limit)
        .offset((page.page - 1) * page.limit)
      return await viewTeams(uow, rows)
    },
  })
  readRoute(app, deps, {
    ...reading,
    summary: 'Read one team.',
    url: '/v1/teams/:id',
    params: IdParams,
    response: TeamView,
    handle: (uow, { params }) => viewTeam(uow, params.id),
  })
}
