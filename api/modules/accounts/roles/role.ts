// A tenant's own roles: named permissions, with those of child roles.
import { sql } from 'drizzle-orm'
import Type from 'typebox'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { DeclaredPermissions } from '../../../http/permissions.ts'
import { defineResource, field, type Resource } from '../../../resource/define-resource.ts'
import { Description, IdText, Name } from '../../../resource/shapes.ts'
import { checkAdministratorLeft } from './administrators.ts'
import { checkRoleIds, loadRoles, lockAccounts, toRole } from './load-roles.ts'
import { requirePowerOver } from './require-power.ts'
import { checkChildren, checkPermissions } from './role-rules.ts'
import { type RoleRow, roles } from './table.ts'

const ENTRIES_MAX = 500
const CHILDREN_MAX = 50
const ROLES_MAX = 500

const PermissionEntry = Type.String({
  pattern: '^-?[A-Z*][A-Z_]*(\\.[A-Z_*]+)*$',
  maxLength: 100,
  description: 'A permission, or *, *.VIEW, INVOICE.* for several; a leading - takes away what stands before it.',
})

/** The role as it would be saved; one that is new has an id nobody names. */
const asSaved = (row: RoleRow) => toRole({ ...row, id: row.id ?? '' })

async function checkRole(
  uow: Uow,
  row: RoleRow,
  previous: RoleRow | null,
  declared: DeclaredPermissions,
): Promise<void> {
  await lockAccounts(uow)
  const stored = (await loadRoles(uow)).map(toRole)
  if (previous === null && stored.length >= ROLES_MAX) {
    throw new AppError('INVALID_OPERATION', `There are ${ROLES_MAX} roles, which is the most; delete one first.`)
  }
  checkPermissions(row.permissions, declared)
  checkRoleIds(row.child_role_ids, stored, 'child_role_ids')
  const saved = asSaved(row)
  const others = stored.filter(role => role.id !== saved.id)
  checkChildren(saved, others)
  await requirePowerOver(uow, declared, [saved.id], [...others, saved])
  if (previous) await requirePowerOver(uow, declared, [previous.id], stored)
}

/** Throws COULD_NOT_DELETE_RESOURCE while a membership, a team or another role has this one. */
async function refuseUsed(uow: Uow, row: RoleRow): Promise<void> {
  await lockAccounts(uow)
  const { platformId, environment } = uow.tenant
  const here = sql`platform_id = ${platformId} and environment = ${environment}`
  const { rows } = await uow.tx.execute<{ user: string }>(sql`
    select 'user ' || user_id as user from user_memberships where ${here} and ${row.id} = any(role_ids)
    union all select 'team ' || id from teams where ${here} and ${row.id} = any(role_ids)
    union all select 'role ' || id from roles where ${here} and ${row.id} = any(child_role_ids) limit 1`)
  if (!rows[0]) return
  throw new AppError('COULD_NOT_DELETE_RESOURCE', `The ${rows[0].user} still has this role; take it away first.`, {
    resourceId: row.id,
    resourceType: 'ROLE',
  })
}

/** The resource, checked against the permissions that the routes declare. */
export const roleResourceKnowing = (declared: DeclaredPermissions): Resource =>
  defineResource<RoleRow>({
    objectType: 'ROLE',
    shapeName: 'Role',
    idPrefix: 'role',
    path: 'roles',
    table: roles,
    fields: {
      name: field(Name, { create: 'required' }),
      description: field(Description),
      permissions: field(Type.Array(PermissionEntry, { maxItems: ENTRIES_MAX })),
      child_role_ids: field(Type.Array(IdText('role'), { maxItems: CHILDREN_MAX })),
    },
    // Lists and single roles show the built-in ones too, which are no rows (routes.ts).
    operations: ['create', 'update', 'delete'],
    byReference: false,
    computed: { entity_id: Type.String() },
    compute: async (_uow: ReadUow, rows) => rows.map(row => ({ entity_id: row.platform_id })),
    prepare: row => ({ ...row, child_role_ids: row.child_role_ids && [...new Set(row.child_role_ids)] }),
    defaults: () => ({ permissions: [], child_role_ids: [] }),
    check: (uow, row, previous) => checkRole(uow, row, previous, declared),
    afterSave: async (uow, _row, previous) => {
      if (previous) await checkAdministratorLeft(uow, declared, toRole(previous))
    },
    beforeDelete: refuseUsed,
    fixture: {
      create: async seed => ({ name: seed.unique('Role'), permissions: ['CUSTOMER.VIEW'] }),
      update: { description: 'Sees customers.' },
    },
  })

/** As the tests and lists of resources know it; what its entries may name is known when the routes are. */
export const roleResource: Resource = roleResourceKnowing(new Set())
