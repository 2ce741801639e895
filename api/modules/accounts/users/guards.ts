// A role stays while a user has it.
import { arrayContains } from 'drizzle-orm'
import { namedBy } from '../../../resource/rules.ts'
import { roleResource } from '../roles/role.ts'
import { userMemberships } from './table.ts'

export const USER_GUARDS = [
  namedBy(roleResource, {
    table: userMemberships,
    noun: 'user',
    shown: userMemberships.user_id,
    names: id => arrayContains(userMemberships.role_ids, [id]),
  }),
] as const
