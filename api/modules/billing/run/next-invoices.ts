// The next invoice of each subscription, for the views of subscriptions.
import { sql } from 'drizzle-orm'
import { storedTimeText } from '../../../resource/columns.ts'
import type { NextInvoices } from '../../subscriptions/billing-time/next-invoices.ts'

/** By subscription: of its invoices that still change, the one that becomes FINAL first. */
export const nextInvoices: NextInvoices = async (uow, subscriptionIds) => {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; invoice_id: string; invoice_date: string | null }>(sql`
    select distinct on (pricing_plan_subscription_id) pricing_plan_subscription_id as id, id as invoice_id,
      invoice_date::text as invoice_date
    from invoices
    where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id = any(${sql.param([...subscriptionIds])})
      and status in ('OPEN', 'DRAFT') and holds_period and cutoff_at is not null
    order by pricing_plan_subscription_id, cutoff_at, id`)
  return new Map(
    rows.map(({ id, invoice_id, invoice_date }) => [
      id,
      { invoice_id, invoice_date: invoice_date && storedTimeText(invoice_date) },
    ]),
  )
}
