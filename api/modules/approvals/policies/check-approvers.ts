// Who decides by a policy: members of this platform, in groups or in levels, by a strategy that fits.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Strategy } from '../schema.ts'
import type { ApprovalPolicy } from '../table.ts'

type Given = Pick<ApprovalPolicy, 'approval_type' | 'approvers'>
type Named = { readonly id: string; readonly field: string }

const refuse = (field: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field })

/** The strategies that go by levels. */
const BY_LEVEL: ReadonlySet<Strategy> = new Set(['ALL_LEVELS_MUST_APPROVE', 'HIGHER_LEVEL_CAN_OVERRIDE'])

/** Throws INVALID_FIELD, MISSING_FIELD or RESOURCE_NOT_FOUND with the path of what does not fit. */
export async function checkApprovers(uow: Uow, given: Given): Promise<void> {
  checkLevels(given)
  const named = given.approvers.approval_groups.flatMap(({ approvers }, group) =>
    approvers.map(
      ({ user }, place): Named => ({
        id: user.id,
        field: `approvers.approval_groups.${group}.approvers.${place}.user.id`,
      }),
    ),
  )
  const twice = named.find(({ id }, place) => named.findIndex(each => each.id === id) < place)
  if (twice) throw refuse(twice.field, `The user ${twice.id} is there twice; each approver decides once.`)
  await requireMembers(uow, named)
}

function checkLevels({ approval_type: type, approvers: { type: strategy, approval_groups: groups } }: Given): void {
  if (type === 'GROUP' && strategy && BY_LEVEL.has(strategy)) {
    const message = `${strategy} goes by levels; use it with approval_type LEVEL, or EVERYONE_HAS_TO_APPROVE or ANYONE_CAN_DECIDE here.`
    throw refuse('approvers.type', message)
  }
  for (const [place, { level }] of groups.entries()) {
    const field = `approvers.approval_groups.${place}.level`
    if (type === 'GROUP' && level !== null && level !== undefined)
      throw refuse(field, 'Groups have no levels; leave it out, or set approval_type to LEVEL.')
    if (type === 'GROUP') continue
    if (level === null || level === undefined)
      throw new AppError('MISSING_FIELD', 'With approval_type LEVEL each group has a level, from 1 for the lowest.', {
        field,
      })
    if (groups.findIndex(each => each.level === level) < place)
      throw refuse(field, `The level ${level} is there twice; put its approvers into one group.`)
  }
}

/** The same refusal for a user of another platform as for none. */
async function requireMembers(uow: Uow, named: readonly Named[]): Promise<void> {
  const { platformId, environment } = uow.tenant
  const ids = named.map(({ id }) => id)
  const { rows } = await uow.tx.execute<{ user_id: string }>(sql`
    select m.user_id from user_memberships m join users u on u.id = m.user_id
    where m.platform_id = ${platformId} and m.environment = ${environment} and m.user_id = any(${sql.param(ids)}::text[])
      and m.status in ('ACTIVE', 'INVITED') and u.status in ('ACTIVE', 'INVITED')`)
  const members = new Set(rows.map(row => row.user_id))
  const missing = named.find(({ id }) => !members.has(id))
  if (!missing) return
  const message = `There is no USER ${JSON.stringify(missing.id)} on this platform; invite them first, or name another user.`
  throw new AppError('RESOURCE_NOT_FOUND', message, { field: missing.field, resourceType: 'USER' })
}
