import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BUILT_IN_ROLES, permissionsOf, ROLE_DEPTH_MAX, type Role } from './roles.ts'

const role = (id: string, permissions: string[], childRoleIds: string[] = []): Role => ({
  id,
  permissions,
  childRoleIds,
})

test.each([
  ['role_administrator', 'API_KEY.CREATE', true],
  ['role_contributor', 'INVOICE.UPDATE', true],
  ['role_contributor', 'API_KEY.CREATE', false],
  ['role_contributor', 'API_KEY.VIEW', true],
  ['role_viewer', 'INVOICE.VIEW', true],
  ['role_viewer', 'INVOICE.UPDATE', false],
  ['role_unknown', 'INVOICE.VIEW', false],
])('%s, %s: %s', (id, permission, allowed) => {
  expect(permissionsOf([id], []).allows(permission)).toBe(allowed)
})

test('a pattern stands for a resource or an action and never for part of a name', () => {
  const permissions = permissionsOf(['r'], [role('r', ['INVOICE.*'])])
  expect(permissions.allows('INVOICE.VIEW')).toBe(true)
  expect(permissions.allows('INVOICE_LINE.VIEW')).toBe(false)
  expect(permissionsOf(['r'], [role('r', ['*.VIEW'])]).allows('INVOICE.REVIEW')).toBe(false)
})

test('children add their permissions, two deep and no deeper, and a circle ends', () => {
  const roles = [
    role('a', ['A.VIEW'], ['b']),
    role('b', ['B.VIEW'], ['c']),
    role('c', ['C.VIEW'], ['d']),
    role('d', ['D.VIEW'], ['a']),
  ]
  const permissions = permissionsOf(['a'], roles)
  expect(['A', 'B', 'C', 'D'].map(name => permissions.allows(`${name}.VIEW`))).toEqual([
    true,
    true,
    ROLE_DEPTH_MAX >= 2,
    false,
  ])
})

test('more roles never allow less', () => {
  const ids = fc.subarray(BUILT_IN_ROLES.map(({ id }) => id))
  const permission = fc.constantFrom('USER.CREATE', 'USER.VIEW', 'INVOICE.UPDATE', 'INVOICE.VIEW')
  fc.assert(
    fc.property(ids, ids, permission, (one, other, name) => {
      if (permissionsOf(one, []).allows(name)) expect(permissionsOf([...one, ...other], []).allows(name)).toBe(true)
    }),
  )
})
