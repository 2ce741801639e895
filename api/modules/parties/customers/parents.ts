// The parents of a customer: who it belongs to, and whose usage may also be that of its own (semantics 1.3).
import { isDeepStrictEqual } from 'node:util'
import { and, sql } from 'drizzle-orm'
import { GENERATIONS_MAX } from '../../../../shared/attribution/replicate.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { whyGone } from './customer-status.ts'
import { type Customer, customers } from './table.ts'

export const PARENTS_MAX = 10
const FIELD = 'parent_customer_ids'
const ONE = 'parent_customer_id'
/** The other way to give the one parent. */
export type GivenParent = { readonly parent_customer_id?: string | null }

/** The parent of a customer that has one alone. */
export const onlyParent = (ids: Customer['parent_customer_ids']): string | null =>
  ids.length === 1 ? (ids[0] ?? null) : null

/**
 * A customer with its parents in `parent_customer_ids`, whichever of the two fields gave them. Where an answer is sent back with one of
 * them changed, that one decides. Throws INVALID_FIELD when both changed, and disagree.
 */
function withParents(row: Customer & GivenParent, previous: Customer | null): Customer {
  const { parent_customer_id: one, ...rest } = row
  const [ids, before] = [rest.parent_customer_ids, previous?.parent_customer_ids ?? []]
  if (one === undefined || one === onlyParent(ids) || one === onlyParent(before)) return rest
  if (isDeepStrictEqual(ids, before)) return { ...rest, parent_customer_ids: one === null ? [] : [one] }
  throw new AppError('INVALID_FIELD', 'It names another parent than parent_customer_ids; send one of the two.', {
    field: ONE,
  })
}

type Given = {
  readonly row: Customer & GivenParent
  readonly previous: Customer | null
  /** Throws RESOURCE_NOT_FOUND for one that is not there. */
  readonly requireAll: (ids: readonly { readonly id: string; readonly field: string }[]) => Promise<unknown>
}

/** The same, and judges parents that changed, under the name by which they were given: throws as `checkParents` and `requireAll` do. */
export async function resolvedParents(uow: Uow, { row, previous, requireAll }: Given): Promise<Customer> {
  const resolved = withParents(row, previous)
  const { parent_customer_ids: ids } = resolved
  const before = previous?.parent_customer_ids ?? []
  if (isDeepStrictEqual(ids, before)) return resolved
  const byOne = !isDeepStrictEqual(ids, row.parent_customer_ids)
  if (byOne) await requireAll(ids.map(id => ({ id, field: ONE })))
  await checkParents(uow, resolved, before).catch(error => {
    throw byOne && error instanceof AppError ? error.at(ONE) : error
  })
  return resolved
}

/**
 * Throws INVALID_FIELD when the customer would be its own ancestor, or generations would be more than usage is passed on, or a new
 * parent is gone. Relations of one tenant change one at a time, so that two changes cannot close a circle together.
 */
async function checkParents(uow: Uow, row: Customer, before: readonly string[]): Promise<void> {
  if (row.parent_customer_ids.length === 0) return
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(
    sql`select pg_advisory_xact_lock(hashtextextended(${`parents ${platformId} ${environment}`}, 0))`,
  )
  await refuseGoneParents(uow, row, before)
  const own: string = row.id ?? ''
  const up = await walk(uow, row.parent_customer_ids, 'UP')
  if (up.ids.includes(own)) {
    throw new AppError('INVALID_FIELD', 'A customer cannot be its own parent, nor that of one of its parents.', {
      field: FIELD,
    })
  }
  const down = own === '' ? { depth: 0 } : await walk(uow, [own], 'DOWN')
  if (up.depth + 1 + down.depth <= GENERATIONS_MAX) return
  throw new AppError('INVALID_FIELD', `Customers are related over at most ${GENERATIONS_MAX} generations.`, {
    field: FIELD,
  })
}

async function refuseGoneParents(uow: Uow, row: Customer, before: readonly string[]): Promise<void> {
  const added = row.parent_customer_ids.filter(id => !before.includes(id))
  if (added.length === 0) return
  const parents = await uow.tx
    .select({ id: customers.id, status: customers.status, forgotten_at: customers.forgotten_at })
    .from(customers)
    .where(and(inThisTenant(uow, customers), anyOf(customers.id, idsOf('cust', added))))
  for (const parent of parents) {
    const gone = whyGone(parent)
    if (!gone) continue
    const field = `${FIELD}.${row.parent_customer_ids.indexOf(parent.id)}`
    throw new AppError('INVALID_FIELD', `The customer ${parent.id} is ${gone} and cannot be a parent; name another.`, {
      field,
    })
  }
}

/** Everybody above or below these, with themselves, and how many generations that are. */
async function walk(uow: Uow, ids: readonly string[], way: 'UP' | 'DOWN'): Promise<{ ids: string[]; depth: number }> {
  const { platformId, environment } = uow.tenant
  const next = way === 'UP' ? sql`c.id = any (known.parents)` : sql`known.id = any (c.parent_customer_ids)`
  const { rows } = await uow.tx.execute<{ id: string; depth: number }>(sql`
    with recursive known (id, parents, depth) as (
      select id, parent_customer_ids, 0 from customers
      where platform_id = ${platformId} and environment = ${environment} and id = any(${sql.param(ids)})
      union
      select c.id, c.parent_customer_ids, known.depth + 1
      from known join customers c on c.platform_id = ${platformId} and c.environment = ${environment} and ${next}
      where known.depth <= ${GENERATIONS_MAX}
    )
    select id, max(depth) as depth from known group by id`)
  return { ids: rows.map(row => row.id), depth: Math.max(0, ...rows.map(row => row.depth)) }
}
