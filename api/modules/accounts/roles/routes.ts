// Reading roles, built-in ones among them, and the permissions they can name. Making and changing them follows from the resource.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { BUILT_IN_ROLES } from '../../../../shared/access/roles.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { PageOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import type { DeclaredPermissions } from '../../../http/permissions.ts'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import { OrderDirection, SliceQuery, sliceOf, sliceOfArray, sliceView } from '../../../list/slice.ts'
import { Nullable, Shape, Timestamp } from '../../../resource/shapes.ts'
import { notFound } from '../../../resource/store.ts'
import { loadRoles } from './load-roles.ts'
import { roleResource } from './role.ts'

const Flag = (description: string) => Type.Optional(Type.Enum(['true', 'false'], { description }))
const plain = {
  object_type: Type.Literal('ROLE'),
  id: Type.String(),
  entity_id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  permissions: Type.Array(Type.String()),
  child_role_ids: Type.Array(Type.String()),
  created_at: Nullable(Timestamp),
  updated_at: Nullable(Timestamp),
}
export const RoleView = Type.Object(
  { ...plain, child_roles: Type.Optional(Type.Array(Type.Object(plain))) },
  { title: 'Role' },
)
export type RoleAnswer = {
  object_type: 'ROLE'
  id: string
  entity_id: string
  name: string
  description: string | null
  permissions: readonly string[]
  child_role_ids: readonly string[]
  created_at: string | null
  updated_at: string | null
}

/** Every role of the tenant, as answered: the built-in ones first, then its own by name. */
export async function viewRoles(uow: ReadUow): Promise<RoleAnswer[]> {
  const entity_id = uow.tenant.platformId
  const builtIn = BUILT_IN_ROLES.map(({ id, name, description, permissions, childRoleIds }) => {
    const times = { created_at: null, updated_at: null }
    return {
      object_type: 'ROLE' as const,
      id,
      entity_id,
      name,
      description,
      permissions,
      child_role_ids: childRoleIds,
      ...times,
    }
  })
  const own = (await loadRoles(uow)).map(({ platform_id: _platform, environment: _environment, ...row }) => ({
    object_type: 'ROLE' as const,
    entity_id,
    ...row,
  }))
  return [...builtIn, ...own]
}

const withChildren = (role: RoleAnswer, all: readonly RoleAnswer[]) => ({
  ...role,
  child_roles: all.filter(({ id }) => role.child_role_ids.includes(id)),
})

const about = { permission: 'ROLE.VIEW', tag: 'roles', method: 'GET' } as const

export function roleRoutes(app: FastifyInstance, deps: RouteDeps, declared: DeclaredPermissions): void {
  readRoute(app, deps, {
    ...about,
    summary: 'List the roles: the built-in ones, and those of this platform and environment.',
    url: '/v1/roles',
    query: Shape({
      name: Type.Optional(Type.String({ maxLength: 255 })),
      include_child_roles: Flag('Answer child_roles too.'),
      only_childless_roles: Flag('Only roles without children.'),
      order_by: Type.Optional(Type.Enum(['name'])),
      order_direction: OrderDirection,
      ...SliceQuery,
    }),
    response: PageOf(RoleView),
    handle: async (uow, { query }) => {
      const all = await viewRoles(uow)
      const found = all.filter(
        role =>
          (query.name === undefined || role.name === query.name) &&
          (query.only_childless_roles !== 'true' || role.child_role_ids.length === 0),
      )
      if (query.order_direction?.toLowerCase() === 'desc') found.reverse()
      const slice = sliceOf(query)
      const sliced = sliceOfArray(found, slice)
      const data = query.include_child_roles === 'true' ? sliced.rows.map(role => withChildren(role, all)) : sliced.rows
      return sliceView('/v1/roles', query, { slice, sliced, data })
    },
  })
  readRoute(app, deps, {
    ...about,
    summary: 'Read a role, with its child roles.',
    url: '/v1/roles/:id',
    params: IdParams,
    response: RoleView,
    handle: async (uow, { params }) => {
      const all = await viewRoles(uow)
      const role = all.find(({ id }) => id === params.id)
      if (!role) throw notFound(roleResource, params.id)
      return withChildren(role, all)
    },
  })
  readRoute(app, deps, {
    ...about,
    summary: 'List the permissions that roles can name: each is what one or more calls need.',
    url: '/v1/permissions',
    response: Type.Object({ data: Type.Array(Type.Object({ name: Type.String() })) }),
    handle: async () => ({ data: [...declared].sort().map(name => ({ name })) }),
  })
}
