// A tenant's own roles: named permissions, with those of child roles. Their rules are guards (guards.ts): what a permission may be
// follows from the routes of the process.
import Type from 'typebox'
import { defineResource, field } from '../../../resource/define-resource.ts'
import { Description, IdText, Name } from '../../../resource/shapes.ts'
import { type RoleRow, roles } from './table.ts'

const ENTRIES_MAX = 500
const CHILDREN_MAX = 50

const PermissionEntry = Type.String({
  pattern: '^-?[A-Z*][A-Z_]*(\\.[A-Z_*]+)*$',
  maxLength: 100,
  description: 'A permission, or *, *.VIEW, INVOICE.* for several; a leading - takes away what stands before it.',
})

export const roleResource = defineResource<RoleRow>({
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
  derive: row => ({ entity_id: row.platform_id }),
  prepare: row => ({ ...row, child_role_ids: row.child_role_ids && [...new Set(row.child_role_ids)] }),
  defaults: () => ({ permissions: [], child_role_ids: [] }),
  fixture: {
    create: async seed => ({ name: seed.unique('Role'), permissions: ['CUSTOMER.VIEW'] }),
    update: { description: 'Sees customers.' },
  },
})
