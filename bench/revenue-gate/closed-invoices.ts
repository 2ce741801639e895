// FINAL invoices of many customers without the hour it takes to bill them: those of one customer, copied inside PostgreSQL with what
// they were priced from. What they billed is the first customer's usage and not their own, which a simulation does not mind.
import type pg from 'pg'
import { newId } from '../../shared/ids.ts'
import { type Copied, customerReference } from '../billing-run/platform.ts'

/** Of these tables a simulation reads the rows of each invoice. The printed content of an invoice it never reads. */
const TABLES: Readonly<Record<string, { readonly invoice: string; readonly changes: string }>> = {
  invoices: { invoice: 'id', changes: `'content', '{"periods": []}'::jsonb, 'invoice_number', c.invoice` },
  invoice_lines: { invoice: 'invoice_id', changes: '' },
  closed_usage: { invoice: 'invoice_id', changes: '' },
  pinned_inputs: { invoice: 'invoice_id', changes: `'has_receipt', true` },
}

/** Gives every other customer the FINAL invoice of the first. */
export async function copyFinalInvoice(database: pg.Client, customers: readonly Copied[]): Promise<void> {
  const [first, ...others] = customers
  if (!first) throw new Error('there is no customer to copy from')
  const { rows } = await database.query<{ id: string }>(
    `select id from invoices where pricing_plan_subscription_id = $1 and status = 'FINAL' and holds_period and not advance_only`,
    [first.subscriptionId],
  )
  const [invoice] = rows
  if (!invoice || rows.length > 1) throw new Error(`the first customer has ${rows.length} FINAL invoices`)
  const schedules = await schedulesOf(database, customers)
  const names = (of: Copied, invoiceId: string) => [
    of.customerId,
    of.subscriptionId,
    schedules.get(of.subscriptionId),
    customerReference(of.number),
    invoiceId,
  ]
  const from = names(first, invoice.id)
  const copies = others.map(other => {
    const id = newId('invo')
    return { invoice: id, to: names(other, id) }
  })
  const renamed = from.reduce(
    (text, _, place) => `replace(${text}, ($2::text[])[${place + 1}], c."to"[${place + 1}])`,
    'to_jsonb(t)::text',
  )
  // So that nothing guards rows that were FINAL when they were made.
  await database.query(`set session_replication_role = replica`)
  for (const [table, { invoice: column, changes }] of Object.entries(TABLES))
    await database.query(
      `insert into ${table} overriding user value
       select r.* from ${table} t
       cross join jsonb_to_recordset($1::jsonb) as c(invoice text, "to" text[])
       cross join lateral jsonb_populate_record(null::${table}, ${renamed}::jsonb || jsonb_build_object(${changes})) as r
       where t.${column} = $3`,
      [JSON.stringify(copies), from, invoice.id],
    )
  await database.query('reset session_replication_role')
  await database.query('analyze')
}

async function schedulesOf(database: pg.Client, customers: readonly Copied[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await database.query<{ id: string; subscription: string }>(
    `select id, pricing_plan_subscription_id as subscription from pricing_plan_schedules where pricing_plan_subscription_id = any($1)`,
    [customers.map(({ subscriptionId }) => subscriptionId)],
  )
  return new Map(rows.map(({ id, subscription }) => [subscription, id]))
}
