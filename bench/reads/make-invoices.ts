// Invoices to read: a few that a billing run makes, and as many as are wanted that PostgreSQL makes, spread over a year.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startWorker } from '../product.ts'
import type { Setup } from '../setup.ts'

const POLL_MS = 500
const YEAR_MS = 365 * 24 * 3_600_000

async function onDatabase(url: string, work: (database: pg.Client) => Promise<void>): Promise<void> {
  const database = new pg.Client({ connectionString: url })
  await database.connect()
  try {
    await work(database)
  } finally {
    await database.end()
  }
}

/** Bills these subscriptions by a worker of its own, until none of them is due. */
export async function makeInvoices(
  setup: Setup,
  of: { readonly clickhouseUrl: string; readonly subscriptions: readonly string[] },
): Promise<void> {
  await onDatabase(setup.databaseUrl, async database => {
    const worker = await startWorker(setup, of.clickhouseUrl)
    try {
      await database.query(
        `update pricing_plan_subscriptions set next_billing_at = now() - interval '1 second' where id = any($1)`,
        [of.subscriptions],
      )
      await database.query(`select graphile_worker.add_job('find-due-billing', job_key => 'find-due-billing')`)
      const waiting = 'select from pricing_plan_subscriptions where next_billing_at <= now() limit 1'
      while ((await database.query(waiting)).rowCount !== 0) await sleep(POLL_MS)
    } finally {
      await worker.stop()
    }
  })
}

/**
 * So many FINAL one-off invoices, evenly over the year before `end` and over all customers, in order of time, one in a hundred of them
 * unpaid. Past all triggers and references, by the owner of the database.
 */
export async function fillInvoices(
  databaseUrl: string,
  { invoices, end }: { readonly invoices: number; readonly end: number },
): Promise<void> {
  await onDatabase(databaseUrl, async database => {
    await database.query('set session_replication_role = replica')
    await database.query('set synchronous_commit = off')
    await database.query(
      `insert into invoices (platform_id, environment, id, created_at, updated_at, invoice_number, status, type, billing_type, customer_id,
         billing_entity_id, period_start, period_end, advance_only, cutoff_at, invoice_date, delivery_date, due_date, billing_currency,
         timezone, amount_excluding_tax, tax_amount, amount_including_tax, on_hold, payment_status, content, inputs_hash,
         updated_to_final_at, producer, holds_period, own_notes, credited_amount, paid_amount, settled_amount, grants, wallet_amount)
       select c.platform_id, c.environment, 'invo_' || lpad(n::text, 22, '0'), at, at, '${NUMBER_START}' || lpad(n::text, 8, '0'), 'FINAL',
         'STANDARD', 'DEFAULT', c.id, e.id, at - interval '1 month', at, false, at, at, at, at + interval '14 days', 'EUR',
         'UTC', 100, 21, 121, false, case when n % 100 = 0 then 'UNPAID' else 'PAID' end, t.content - 'periods' || '{"periods": []}', 'hash',
         at, 'ONE_OFF', false, '[]', 0, 0, 0, '[]', 0
       from (
         select n, c.*, to_timestamp(($2::bigint + n * $3::bigint / $1::int) / 1000.0) as at from generate_series(0, $1::int - 1) as n
         cross join (select count(*) as all_customers from customers) as counted
         join (
           select row_number() over (order by id) - 1 as place, platform_id, environment, id from customers
         ) as c on c.place = n % counted.all_customers order by n
       ) as c
       cross join (select id from billing_entities limit 1) as e
       cross join (select content from invoices limit 1) as t`,
      [invoices, end - YEAR_MS, YEAR_MS],
    )
    await database.query('vacuum analyze invoices')
  })
}

const NUMBER_START = 'FILLED-'
/** The number of the invoice with this place among those of `fillInvoices`. */
export const invoiceNumber = (place: number): string => `${NUMBER_START}${String(place).padStart(8, '0')}`
