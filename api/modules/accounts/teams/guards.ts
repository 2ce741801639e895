// A role stays while a team has it.
import { arrayContains } from 'drizzle-orm'
import { namedBy } from '../../../resource/rules.ts'
import { roleResource } from '../roles/role.ts'
import { teams } from './table.ts'

export const TEAM_GUARDS = [
  namedBy(roleResource, { table: teams, noun: 'team', names: id => arrayContains(teams.role_ids, [id]) }),
] as const
