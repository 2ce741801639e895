// Starts a reprocess of a customer after a change of usage or of a live schedule, once the platform's delay has passed.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { createResource } from '../../../resource/commands.ts'
import { lockCustomer } from '../../parties/customers/lock-customer.ts'
import { affectedBy, markInvoices } from './affected-invoices.ts'
import { reprocessResource } from './reprocess.ts'

/**
 * Has the invoices computed again that collect usage of the customer from `from` until `until`. Joins a reprocess that
 * is still waiting, and does nothing when none of these invoices is OPEN or DRAFT: a later invoice is computed from
 * current data anyway.
 */
export async function scheduleReprocess(
  uow: Uow,
  of: { readonly customerId: Id<'cust'>; readonly from: Instant; readonly until?: Instant },
): Promise<void> {
  const { platformId, environment } = uow.tenant
  const { customerId } = of
  const start_at = formatInstant(of.from)
  const end_at = of.until === undefined ? null : formatInstant(of.until)
  const reach = { type: 'CUSTOMER', invoice_id: null, customer_id: customerId, start_at, end_at } as const
  const affected = await uow.tx.execute(sql`select from invoices v where ${affectedBy(uow, reach)} limit 1`)
  if (affected.rows.length === 0) return
  // One at a time per customer, so that two concurrent changes do not each create a reprocess. Nor is any of the invoices saved
  // meanwhile: a billing run saves many in its own order, and the two would wait for each other.
  await lockCustomer(uow, customerId)
  const waiting = await uow.tx.execute<{ scheduled_at: string }>(sql`
    update reprocesses set
      customer = customer || jsonb_build_object('start_at', least(customer ->> 'start_at', ${start_at}),
        'end_at', case when end_at is not null then greatest(customer ->> 'end_at', ${end_at}) end),
      start_at = least(start_at, ${start_at}::timestamptz),
      end_at = case when end_at is not null then greatest(end_at, ${end_at}::timestamptz) end, updated_at = ${formatInstant(uow.now)}
    where platform_id = ${platformId} and environment = ${environment} and customer_id = ${customerId}
      and type = 'CUSTOMER' and automatic and status = 'SCHEDULED'
    returning scheduled_at`)
  const [row] = waiting.rows
  if (row) await markInvoices(uow, { ...reach, scheduled_at: row.scheduled_at })
  else
    await createResource(uow, reprocessResource, {
      type: 'CUSTOMER',
      automatic: true,
      customer: { customer_id: customerId, start_at, end_at },
    })
}
