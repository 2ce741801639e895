// Whether a FINAL invoice has given back what is left of a charge ahead.
import { type SQL, sql } from 'drizzle-orm'

/** The status of the invoice of a line, read by its key. */
export const statusOf = (line: 'l' | 'r'): SQL => {
  const of = sql.raw(line)
  return sql`(select g.status from invoices g
      where g.platform_id = ${of}.platform_id and g.environment = ${of}.environment and g.id = ${of}.invoice_id)`
}

/**
 * SQL: whether another invoice line refunds the charge of the line `l`; such a line names the invoice and the key of the charge. `offset 0`
 * has PostgreSQL look for one line at a time: a plan kept since the table was empty would compare every line of the tenant with every other.
 */
export const isRefunded = sql`exists (
  select from invoice_lines r
  where r.platform_id = l.platform_id and r.environment = l.environment
    and r.pricing_plan_subscription_id = l.pricing_plan_subscription_id
    and r.source ->> 'refund_of_invoice_id' = l.invoice_id and r.source ->> 'key' = 'refund ' || l.invoice_id || ' ' || (l.source ->> 'key')
    and ${statusOf('r')} = 'FINAL' offset 0)`
