// Columns that PostgreSQL does not analyze are the key of no index: the planner knows nothing of them.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { overOneConnection } from '../testing/over-one-connection.ts'
import { inTenant, SERVICE } from './database.ts'

const database = overOneConnection()

test('wide columns of changes and of lines are not analyzed, and no index has one of them as its key', async () => {
  const { rows } = await inTenant(database(), { platformId: 'plat_a', environment: 'LIVE' }, SERVICE, ({ tx }) =>
    tx.execute<{ column: string; indexes: string }>(sql`
      select c.relname || '.' || a.attname as column,
        (select count(*) from pg_index i where i.indrelid = c.oid and (a.attnum = any(i.indkey)
          or pg_get_expr(i.indexprs, i.indrelid) ~ ('\\m' || a.attname || '\\M')))::text as indexes
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and a.attstattarget = 0 order by 1`),
  )
  expect(rows.map(({ column }) => column)).toEqual([
    'audit_records.changed_fields',
    'audit_records.hash',
    'audit_records.previous_hash',
    'invoice_lines.amount_excluding_tax',
    'invoice_lines.amount_including_tax',
    'invoice_lines.line_id',
    'invoice_lines.pricing_id',
    'invoice_lines.pricing_item_config_id',
    'invoice_lines.pricing_item_id',
    'invoice_lines.product_category_id',
    'invoice_lines.product_id',
    'invoice_lines.service_start',
    'invoice_lines.source',
    'invoice_lines.tax_amount',
    'invoice_lines.tax_category',
    'outbox.changed_fields',
    'outbox.data_changes',
    'outbox.former_values',
    'outbox.metadata',
    'outbox.previous_data',
    'pricing_plan_subscriptions.usage_counted_positions',
  ])
  expect(rows.filter(({ indexes }) => indexes !== '0')).toEqual([])
})
