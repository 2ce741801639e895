// Columns that PostgreSQL does not analyze are in no condition: the planner knows nothing of them.
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { overOneConnection } from '../testing/over-one-connection.ts'
import { inTenant, SERVICE } from './database.ts'

const database = overOneConnection()

test('the wide columns of changes are not analyzed, and no index has a column that is not', async () => {
  const { rows } = await inTenant(database(), { platformId: 'plat_a', environment: 'LIVE' }, SERVICE, ({ tx }) =>
    tx.execute<{ column: string; indexes: string }>(sql`
      select c.relname || '.' || a.attname as column,
        (select count(*) from pg_index i where i.indrelid = c.oid and (a.attnum = any(i.indkey)
          or pg_get_indexdef(i.indexrelid) ~ ('\\m' || a.attname || '\\M')))::text as indexes
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and a.attstattarget = 0 order by 1`),
  )
  expect(rows.map(({ column }) => column)).toEqual([
    'audit_records.changed_fields',
    'audit_records.hash',
    'audit_records.previous_hash',
    'outbox.changed_fields',
    'outbox.data_changes',
    'outbox.former_values',
    'outbox.metadata',
    'outbox.previous_data',
    'pricing_plan_subscriptions.usage_counted_positions',
  ])
  expect(rows.filter(({ indexes }) => indexes !== '0')).toEqual([])
})
