// Users as a tenant sees them: what its own memberships, invitations and teams say, and of the person the e-mail alone.
import { and, asc, eq, gt, inArray, isNull, type SQL, sql } from 'drizzle-orm'
import Type, { type Static } from 'typebox'
import { INVITATION_DAYS } from '../../../../shared/access/invitation-life.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { readSlice } from '../../../list/keyset.ts'
import { matchesText } from '../../../list/list-spec.ts'
import type { Slice, Sliced } from '../../../list/slice.ts'
import type { Subject } from '../../../resource/rules.ts'
import { Nullable, Timestamp } from '../../../resource/shapes.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { AccountMembershipView, viewMembership } from '../roles/account-membership.ts'
import { type RoleAnswer, viewRoles } from '../roles/routes.ts'
import { teamMembers, teams } from '../teams/table.ts'
import { type MemberStatus, userInvitations, userMemberships, users } from './table.ts'

export const TeamMemberView = Type.Object(
  {
    team_id: Type.String(),
    start_at: Timestamp,
    end_at: Nullable(Timestamp),
    account_memberships: Type.Array(AccountMembershipView),
  },
  { title: 'TeamMemberRepresentation' },
)

export const MemberStatusShape = Type.Enum(['INVITED', 'INVITE_REVOKED', 'ACTIVE', 'INACTIVE'])

export const UserView = Type.Object(
  {
    object_type: Type.Literal('USER'),
    id: Type.String(),
    entity_id: Type.String(),
    username: Type.String({ description: 'The e-mail address.' }),
    active: Type.Boolean(),
    status: MemberStatusShape,
    invite_expired: Type.Boolean({
      description: 'Invited, and the link in the mail works no more: invite them again.',
    }),
    account_memberships: Type.Array(AccountMembershipView),
    team_memberships: Type.Array(TeamMemberView),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'User' },
)
export type UserAnswer = Static<typeof UserView>

/** What rules of other modules are about when they are about members. */
export const USER: Subject<UserAnswer> = { objectType: 'USER' }

/** A user and the membership by which this tenant knows them. */
export type Member = {
  readonly id: string
  readonly membership_id: string
  readonly username: string
  readonly status: MemberStatus
  readonly user_status: MemberStatus
  readonly role_ids: readonly string[]
  readonly created_at: string
  readonly updated_at: string
}

const COLUMNS = {
  id: users.id,
  membership_id: userMemberships.id,
  username: users.username,
  status: userMemberships.status,
  user_status: users.status,
  role_ids: userMemberships.role_ids,
  created_at: userMemberships.created_at,
  updated_at: userMemberships.updated_at,
}

const membersWhere = (uow: ReadUow, ...conditions: (SQL | undefined)[]) =>
  uow.tx
    .select(COLUMNS)
    .from(userMemberships)
    .innerJoin(users, eq(users.id, userMemberships.user_id))
    .where(and(inThisTenant(uow, userMemberships), ...conditions))

export type MemberFilter = {
  readonly active?: boolean | undefined
  /** The whole address. */
  readonly username?: string | undefined
  /** Any part of it. */
  readonly contains?: string | undefined
}

const conditionsOf = ({ active, username, contains }: MemberFilter): (SQL | undefined)[] => [
  active === undefined ? undefined : isActive(active),
  username === undefined ? undefined : eq(users.username, username.trim().toLowerCase()),
  contains === undefined
    ? undefined
    : matchesText(users.username, { value: contains, wildcard_start: true, wildcard_end: true, ignore_case: true }),
]

const isActive = (active: boolean): SQL =>
  active
    ? eq(userMemberships.status, 'ACTIVE')
    : inArray(userMemberships.status, ['INVITED', 'INVITE_REVOKED', 'INACTIVE'])

const ORDERS = { created_at: userMemberships.created_at, username: users.username }
export type MemberOrder = keyof typeof ORDERS
export const MEMBER_ORDERS = Object.keys(ORDERS) as MemberOrder[]

/** One part of the members that match. */
export async function listMembers(
  uow: ReadUow,
  filter: MemberFilter,
  of: { readonly order: { readonly by: MemberOrder; readonly descending: boolean }; readonly slice: Slice },
): Promise<Sliced<Member>> {
  const conditions = conditionsOf(filter)
  return await readSlice({
    slice: of.slice,
    order: { column: ORDERS[of.order.by], id: users.id, descending: of.order.descending },
    anchor: (
      column,
      id,
    ) => sql`(select ${column} from ${userMemberships} join ${users} on ${users.id} = ${userMemberships.user_id}
        where ${inThisTenant(uow, userMemberships)} and ${users.id} = ${id})`,
    hasAnchor: async id => (await findMember(uow, id)) !== null,
    rows: ({ condition, orderBy, limit, offset }) =>
      membersWhere(uow, ...conditions, condition)
        .orderBy(...orderBy)
        .limit(limit)
        .offset(offset),
    count: most =>
      uow.tx.$count(
        membersWhere(uow, ...conditions)
          .limit(most)
          .as('matching'),
      ),
  })
}

/** The member with this user id; null for anybody else, who may well be a user elsewhere. */
export async function findMember(uow: ReadUow, userId: string): Promise<Member | null> {
  const [member] = await membersWhere(uow, eq(userMemberships.user_id, userId))
  return member ?? null
}

/** The member with this e-mail address; null when there is none. */
export async function findMemberByName(uow: ReadUow, username: string): Promise<Member | null> {
  const [member] = await membersWhere(uow, ...conditionsOf({ username }))
  return member ?? null
}

/** As `findMember`. Throws RESOURCE_NOT_FOUND. */
export async function getMember(uow: ReadUow, userId: string, field?: string): Promise<Member> {
  const member = await findMember(uow, userId)
  if (member) return member
  throw new AppError('RESOURCE_NOT_FOUND', `There is no USER ${JSON.stringify(userId)}.`, {
    ...(field === undefined ? {} : { field }),
    resourceType: 'USER',
  })
}

/** The views of these members. */
export async function viewUsers(uow: ReadUow, members: readonly Member[]): Promise<UserAnswer[]> {
  if (members.length === 0) return []
  const roles = await viewRoles(uow)
  const joined = await uow.tx
    .select({
      user_id: teamMembers.user_id,
      team_id: teamMembers.team_id,
      start_at: teamMembers.start_at,
      end_at: teamMembers.end_at,
      role_ids: teams.role_ids,
    })
    .from(teamMembers)
    .innerJoin(teams, and(eq(teams.id, teamMembers.team_id), inThisTenant(uow, teams)))
    .where(
      and(
        inThisTenant(uow, teamMembers),
        inArray(
          teamMembers.user_id,
          members.map(({ id }) => id),
        ),
      ),
    )
    .orderBy(asc(teamMembers.start_at), asc(teamMembers.team_id))
  const invited = await validInvitations(uow, members)
  return members.map(member => ({
    ...viewMember(uow, member, roles),
    invite_expired: member.status === 'INVITED' && !invited.has(member.id),
    team_memberships: joined
      .filter(({ user_id }) => user_id === member.id)
      .map(({ team_id, start_at, end_at, role_ids }) => ({
        team_id,
        start_at,
        end_at,
        account_memberships: [viewMembership(uow, { id: null, role_ids }, roles)],
      })),
  }))
}

const DAY_MS = 86_400_000

/** Those of these members who have an invitation whose link still works. */
async function validInvitations(uow: ReadUow, members: readonly Member[]): Promise<ReadonlySet<string>> {
  const ids = members.filter(({ status }) => status === 'INVITED').map(({ id }) => id)
  if (ids.length === 0) return new Set()
  const since = formatInstant(instantOf(uow.now - INVITATION_DAYS * DAY_MS))
  const rows = await uow.tx
    .select({ user_id: userInvitations.user_id })
    .from(userInvitations)
    .where(
      and(
        inThisTenant(uow, userInvitations),
        anyOf(userInvitations.user_id, ids),
        isNull(userInvitations.revoked_at),
        gt(userInvitations.created_at, since),
      ),
    )
  return new Set(rows.map(row => row.user_id))
}

function viewMember(uow: ReadUow, member: Member, roles: readonly RoleAnswer[]) {
  // The person may have been switched off as a whole; of those who have not accepted yet nothing is said.
  const status = member.status === 'ACTIVE' && member.user_status !== 'ACTIVE' ? 'INACTIVE' : member.status
  return {
    object_type: 'USER' as const,
    id: member.id,
    entity_id: uow.tenant.platformId,
    username: member.username,
    active: status === 'ACTIVE',
    status,
    account_memberships: [viewMembership(uow, { id: member.membership_id, role_ids: member.role_ids }, roles)],
    created_at: member.created_at,
    updated_at: member.updated_at,
  }
}

/** The view of one member. */
export async function viewUser(uow: ReadUow, member: Member): Promise<UserAnswer> {
  const [view] = await viewUsers(uow, [member])
  if (!view) throw new Error('one member has one view')
  return view
}
