// Which roles may be saved: their entries stand for something, and their children end.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ROLE_DEPTH_MAX, type Role } from '../../../../shared/access/roles.ts'
import { AppError } from '../../../../shared/errors.ts'
import { checkChildren, checkPermissions } from './role-rules.ts'

const DECLARED = new Set(['CUSTOMER.VIEW', 'CUSTOMER.UPDATE', 'INVOICE.VIEW'])

test.each(['*', '*.VIEW', 'CUSTOMER.*', 'INVOICE.VIEW', '-CUSTOMER.*', '-*'])('%s stands for permissions', entry => {
  expect(() => checkPermissions([entry], DECLARED)).not.toThrow()
})

test.each(['CUSTOMER', 'CUSTOMER.DELETE', 'WALLET.*', '*.SPEND', '**', '*.*', '.*', '*.', 'CUSTOMER.VIE*', '--*', ''])(
  '%j stands for none, and is refused with its place',
  entry => {
    expect(() => checkPermissions(['*', entry], DECLARED)).toThrow(
      expect.objectContaining({ code: 'INVALID_FIELD', details: { field: 'permissions.1' } }),
    )
  },
)

const role = (id: string, ...childRoleIds: string[]): Role => ({ id, permissions: [], childRoleIds })

test.each<[string, Role, Role[]]>([
  ['itself', role('a', 'a'), []],
  ['one that contains it', role('a', 'b'), [role('b', 'a')]],
  ['one that contains one that contains it', role('a', 'b'), [role('b', 'c'), role('c', 'a')]],
  ['great-grandchildren', role('a', 'b'), [role('b', 'c'), role('c', 'd'), role('d')]],
  ['grandchildren, while something contains it', role('b', 'c'), [role('a', 'b'), role('c', 'd'), role('d')]],
  ['children, while its own container is contained', role('c', 'd'), [role('a', 'b'), role('b', 'c'), role('d')]],
])('a role cannot contain %s', (_what, saved, others) => {
  expect(() => checkChildren(saved, others)).toThrow(
    expect.objectContaining({ code: 'INVALID_FIELD', details: { field: 'child_role_ids.0' } }),
  )
})

test.each<[string, Role, Role[]]>([
  ['grandchildren', role('a', 'b'), [role('b', 'c'), role('c')]],
  ['a built-in role', role('a', 'role_viewer'), []],
  ['the same child as another', role('a', 'c'), [role('b', 'c'), role('c')]],
])('a role can contain %s', (_what, saved, others) => {
  expect(() => checkChildren(saved, others)).not.toThrow()
})

/** The longest way down from each role; endless in a circle. */
function depthOf(id: string, roles: ReadonlyMap<string, Role>, above: readonly string[] = []): number {
  if (above.includes(id)) return Number.POSITIVE_INFINITY
  const below = (roles.get(id)?.childRoleIds ?? []).map(child => 1 + depthOf(child, roles, [...above, id]))
  return Math.max(0, ...below)
}

test('what is saved one after the other, each when it is let, never has a circle and is never too deep', () => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const save = fc.tuple(fc.constantFrom(...ids), fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 3 }))
  fc.assert(
    fc.property(fc.array(save, { maxLength: 15 }), saves => {
      const roles = new Map(ids.map(id => [id, role(id)]))
      for (const [id, children] of saves) {
        const next = role(id, ...children)
        const after = new Map(roles).set(id, next)
        const isRight = ids.every(each => depthOf(each, after) <= ROLE_DEPTH_MAX)
        let isLet = true
        try {
          checkChildren(
            next,
            [...roles.values()].filter(each => each.id !== id),
          )
        } catch (error) {
          if (!(error instanceof AppError)) throw error
          isLet = false
        }
        expect(isLet).toBe(isRight)
        if (isLet) roles.set(id, next)
      }
    }),
    { numRuns: 500 },
  )
})
