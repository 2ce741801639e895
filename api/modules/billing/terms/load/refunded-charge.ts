// Whether a FINAL invoice has given back what is left of a charge ahead.
import { type SQL, sql } from 'drizzle-orm'

/** The status of the invoice of a line, read by its key. */
export const statusOf = (line: 'l' | 'r'): SQL => {
  const of = sql.raw(line)
  return sql`(select g.status from invoices g
      where g.platform_id = ${of}.platform_id and g.environment = ${of}.environment and g.id = ${of}.invoice_id)`
}

/**
 * Of the charge in the invoice line `l` of a statement: the line of its refund has its invoice and its key. Asked of one line at a time
 * (`offset 0`): joined to all lines, a plan that is kept since the table was empty compares each line of the tenant with each other one.
 */
export const isRefunded = sql`exists (
  select from invoice_lines r
  where r.platform_id = l.platform_id and r.environment = l.environment
    and r.pricing_plan_subscription_id = l.pricing_plan_subscription_id
    and r.source ->> 'refund_of_invoice_id' = l.invoice_id and r.source ->> 'key' = 'refund ' || l.invoice_id || ' ' || (l.source ->> 'key')
    and ${statusOf('r')} = 'FINAL' offset 0)`
