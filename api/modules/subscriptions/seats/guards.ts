// What a live seat assignment needs stays as it is (contract: Errors, Archive customer).
import { type SQL, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { storedTimeText } from '../../../resource/columns.ts'
import { beforeSave } from '../../../resource/rules.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { isClosedOrArchived } from '../../parties/customers/customer-status.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { seatStatus } from './seat-status.ts'

type Saved = { readonly id: string; readonly status: string; readonly forgotten_at?: string | null }

/** Throws when one of these assignments is live: SCHEDULED or ACTIVE. */
async function refuseLive(uow: Uow, which: SQL, noun: string): Promise<void> {
  const { platformId, environment } = uow.tenant
  const now = formatInstant(uow.now)
  const { rows } = await uow.tx.execute<{ id: string; start_at: string; end_at: string | null }>(sql`
    select a.id, a.start_at::text as start_at, a.end_at::text as end_at
    from seat_assignments a
    join pricing_plan_subscriptions s on s.platform_id = a.platform_id and s.environment = a.environment
      and s.id = a.pricing_plan_subscription_id
    join customers c on c.platform_id = a.platform_id and c.environment = a.environment and c.id = a.customer_id
    where a.platform_id = ${platformId} and a.environment = ${environment}
      and (a.end_at is null or a.end_at > greatest(${now}::timestamptz, a.start_at)) and ${which}
      and s.status in ('DRAFT', 'ACTIVE') and (s.cancelled_at is null or s.cancelled_at > ${now}::timestamptz)
    order by a.start_at, a.id limit 1`)
  const [live] = rows
  if (!live) return
  const start_at = storedTimeText(live.start_at)
  const status = seatStatus({ start_at, end_at: live.end_at && storedTimeText(live.end_at) }, now)
  const way =
    status === 'SCHEDULED' ? `take it back first: send ${start_at} as its end_at.` : 'end it first, by its end_at.'
  throw new AppError('INVALID_OPERATION', `The seat assignment ${live.id} of this ${noun} is ${status}; ${way}`, {
    field: 'status',
    resourceId: live.id,
    resourceType: 'SEAT_ASSIGNMENT',
  })
}

/** Whether it stops being ACTIVE, or never becomes it. */
const leaves = (row: Saved, previous: Saved | null): boolean =>
  previous !== null && row.status !== previous.status && row.status !== 'ACTIVE'

async function keepCustomer(uow: Uow, row: Saved, previous: Saved | null): Promise<void> {
  // A DRAFT may be forgotten as it is.
  if (previous !== null && row.forgotten_at && !previous.forgotten_at)
    await refuseLive(uow, sql`a.customer_id = ${row.id}`, 'customer')
  if (!leaves(row, previous)) return
  if (isClosedOrArchived(row)) await refuseLive(uow, sql`a.customer_id = ${row.id}`, 'customer')
  await refuseLive(uow, sql`(s.customer_id = ${row.id} or ${row.id} = any (c.parent_customer_ids))`, 'parent customer')
}

async function keepItem(uow: Uow, row: Saved, previous: Saved | null): Promise<void> {
  if (leaves(row, previous)) await refuseLive(uow, sql`a.product_item_id = ${row.id}`, 'product item')
}

export const SEAT_GUARDS = [
  beforeSave(customerResource, keepCustomer),
  beforeSave(productItemResource, keepItem),
] as const
