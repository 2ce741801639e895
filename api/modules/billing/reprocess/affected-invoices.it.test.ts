// A change of one customer looks at the invoices of that customer, however many others are not FINAL: the plan of the statement.
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTenant } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { type ApiHarness, startOwnApi } from '../../../testing/harness.ts'
import { seedInvoice } from '../testing/seed-invoice.ts'
import { affectedBy } from './affected-invoices.ts'

const OTHERS = 1_500

let api: ApiHarness
let customer: string
beforeAll(async () => {
  api = await startOwnApi()
  const { aLive } = api.tenants
  customer = (await seedInvoice(api, aLive))['customer_id']
  const other = await seedInvoice(api, aLive)
  await api.sql(
    `insert into customers select (jsonb_populate_record(c, jsonb_build_object('id', 'cust_' || n, 'reference', 'other-' || n))).*
     from generate_series(1, $2::int) as n join customers c on c.id = $1`,
    [other['customer_id'], OTHERS],
  )
  await api.sql(
    `insert into invoices (platform_id, environment, id, created_at, updated_at, status, type, billing_type, customer_id,
       billing_entity_id, pricing_plan_subscription_id, period_start, period_end, cutoff_at, usage_from, advance_only, invoice_date, billing_currency,
       timezone, amount_excluding_tax, tax_amount, amount_including_tax, payment_status, content, inputs_hash, producer, holds_period,
       own_notes, credited_amount, paid_amount, settled_amount)
     select t.platform_id, t.environment, 'invo_' || n, t.created_at, t.updated_at, 'DRAFT', 'STANDARD', 'DEFAULT', 'cust_' || n,
       t.billing_entity_id, t.pricing_plan_subscription_id, at, at + interval '1 day', at + interval '1 day', at, false, at, 'EUR', 'UTC', 100,
       0, 100, 'UNPAID', t.content, '', t.producer, false, '[]', 0, 0, 0
     from generate_series(1, $2::int) as n
     cross join lateral (select timestamptz '2020-01-01T00:00:00Z' + n * interval '1 day' as at) as made
     join invoices t on t.id = $1`,
    [other['id'], OTHERS],
  )
  await api.sql('analyze customers, invoices')
})
afterAll(() => api?.close())

type Plan = Readonly<Record<string, unknown>> & { readonly Plans?: readonly Plan[] }
const flat = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flat)]
/** How many rows a node has looked at. */
const looked = (plan: Plan): number =>
  (Number(plan['Actual Rows']) + Number(plan['Rows Removed by Filter'] ?? 0)) * Number(plan['Actual Loops'])

test('what a change of a customer reaches is found from that customer', async () => {
  const nodes = await readTenant(api.database, api.tenants.aLive.tenant, async uow => {
    const reach = { type: 'CUSTOMER', invoice_id: null, customer_id: idOf('cust', customer), end_at: null } as const
    const of = affectedBy(uow, { ...reach, start_at: '2030-01-01T00:00:00Z' })
    const { rows } = await uow.tx.execute<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      sql`explain (analyze, timing off, format json) select from invoices v where ${of} limit 1`,
    )
    return flat(rows[0]?.['QUERY PLAN'][0]?.Plan ?? {})
  })
  const ofInvoices = nodes.filter(node => node['Relation Name'] === 'invoices')
  expect(ofInvoices.length).toBeGreaterThan(1)
  expect(Math.max(...ofInvoices.map(looked))).toBeLessThan(10)
})
