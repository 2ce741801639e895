// Whether a FINAL invoice has given back what is left of a charge ahead.
import { sql } from 'drizzle-orm'

/** Of the charge in the invoice line `l` of a statement: the line of its refund has its invoice and its key. */
export const isRefunded = sql`exists (
  select from invoice_lines r
  join invoices g on g.platform_id = r.platform_id and g.environment = r.environment and g.id = r.invoice_id
  where r.platform_id = l.platform_id and r.environment = l.environment
    and r.pricing_plan_subscription_id = l.pricing_plan_subscription_id and g.status = 'FINAL'
    and r.source ->> 'refund_of_invoice_id' = l.invoice_id and r.source ->> 'key' = 'refund ' || l.invoice_id || ' ' || (l.source ->> 'key'))`
