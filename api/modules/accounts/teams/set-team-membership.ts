// A user's time in a team.
import { and, eq } from 'drizzle-orm'
import type Type from 'typebox'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { formatInstant, parseInstant } from '../../../../shared/time.ts'
import { IdText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { loadRoles, toRole } from '../roles/load-roles.ts'
import { requirePermissionsOver } from '../roles/require-permissions.ts'
import type { AccountRules } from '../roles/roles-moved.ts'
import { type Team, teamMembers, teams } from './table.ts'

export const TeamMemberBody = Shape({
  team_id: IdText('team'),
  start_at: Optional(Nullable(Timestamp)),
  end_at: Optional(Nullable(Timestamp)),
})

/** `[start_at, end_at)`; from now, and without an end, when nothing is said. */
export type TeamEntry = Type.Static<typeof TeamMemberBody>

/** The team with this id. Throws RESOURCE_NOT_FOUND. */
export async function getTeam(uow: ReadUow, id: Id<'team'>, field?: string): Promise<Team> {
  const [team] = await uow.tx
    .select()
    .from(teams)
    .where(and(inThisTenant(uow, teams), eq(teams.id, id)))
  if (team) return team
  throw new AppError('RESOURCE_NOT_FOUND', `There is no TEAM ${JSON.stringify(id)}.`, {
    ...(field === undefined ? {} : { field }),
    resourceType: 'TEAM',
  })
}

/**
 * Says from when to when a member of this tenant is in a team; saying it again replaces it, which is how it is ended. The
 * caller holds the tenant's accounts. Throws INVALID_FIELD when it would end before it starts.
 */
export async function setTeamMembership(
  uow: Uow,
  { declared }: AccountRules,
  userId: string,
  entry: TeamEntry,
  path = '',
): Promise<void> {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  const team = await getTeam(uow, idOf('team', entry.team_id), at('team_id'))
  await requirePermissionsOver(uow, declared, team.role_ids, (await loadRoles(uow)).map(toRole))
  const canonical = (text: string | null | undefined): string | null => {
    const instant = text ? parseInstant(text) : null
    return instant === null ? null : formatInstant(instant)
  }
  const end_at = canonical(entry.end_at)
  const start_at = canonical(entry.start_at) ?? (await startOf(uow, userId, team.id)) ?? formatInstant(uow.now)
  if (end_at !== null && end_at <= start_at) {
    const message = `${at('end_at')} must be after start_at, ${start_at}.`
    throw new AppError('INVALID_FIELD', message, { field: at('end_at') })
  }
  const now = formatInstant(uow.now)
  const { platformId, environment } = uow.tenant
  await uow.tx
    .insert(teamMembers)
    .values({
      platform_id: platformId,
      environment,
      team_id: team.id,
      user_id: userId,
      created_at: now,
      updated_at: now,
      start_at,
      end_at,
    })
    .onConflictDoUpdate({
      target: [teamMembers.platform_id, teamMembers.environment, teamMembers.team_id, teamMembers.user_id],
      set: { start_at, end_at, updated_at: now },
    })
}

/** When a time that is under way began: who only says an end means that one. */
async function startOf(uow: Uow, userId: string, teamId: string): Promise<string | null> {
  const [known] = await uow.tx
    .select({ start_at: teamMembers.start_at })
    .from(teamMembers)
    .where(and(inThisTenant(uow, teamMembers), eq(teamMembers.team_id, teamId), eq(teamMembers.user_id, userId)))
  return known?.start_at ?? null
}
