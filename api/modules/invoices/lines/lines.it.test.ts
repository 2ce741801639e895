// Rows of invoice lines: they match the document, they stay with it, and they belong to their tenant.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readTenant } from '../../../../shared/database/database.ts'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../testing/harness.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import type { InvoiceView } from '../schema.ts'
import { contentOf } from '../stored-content.ts'
import { linesOfInvoice } from './store-lines.ts'
import type { InvoiceLineRow } from './table.ts'

let api: ApiHarness
let tenant: TestTenant
const usage: UsageReader = {
  ...NO_USAGE,
  read: async () => [{ currency: null, number: decimal('3450'), count: 3 }],
}
beforeAll(async () => {
  api = await startOwnApi({ usage })
})
beforeEach(() => {
  tenant = api.tenants.aTest
})
afterAll(async () => {
  await api.close()
})

const setTime = (text: string): void => api.clock.set(instantOf(Date.parse(text)))

/** The invoice of March, whose usage it bills with April in advance, in this status. */
async function invoiceOfMarch(subscriptionId: string, status: 'OPEN' | 'DRAFT' | 'FINAL'): Promise<InvoiceView> {
  await runBilling({ database: api.database, usage }, tenant.tenant, subscriptionId)
  const url = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&statuses[]=${status}&include_lines=true`
  const { data } = await succeed(tenant, 'GET', url)
  const found = (data as InvoiceView[]).find(({ periods }) => (periods ?? []).length === 2)
  if (!found) throw new Error(`the ${status} of March has two periods`)
  return found
}

async function soldInMarch(): Promise<string> {
  setTime('2026-03-10T00:00:00Z')
  const { subscriptionId } = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
  return subscriptionId
}

async function draftOfMarch(): Promise<InvoiceView> {
  const subscriptionId = await soldInMarch()
  setTime('2026-04-01T01:00:00Z')
  return await invoiceOfMarch(subscriptionId, 'DRAFT')
}

async function finalOfMarch(): Promise<InvoiceView> {
  const { id, pricing_plan_subscription_id: subscriptionId } = await draftOfMarch()
  await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
  return await invoiceOfMarch(String(subscriptionId), 'FINAL')
}

const rowsOf = (id: Id<'invo'>, of = tenant): Promise<InvoiceLineRow[]> =>
  readTenant(api.database, of.tenant, uow => linesOfInvoice(uow, id))
const shownLines = (invoice: InvoiceView) =>
  (invoice.periods ?? []).flatMap(period => period.groups.flatMap(group => group.lines ?? []))

describe('the rows of an invoice', () => {
  test('are its lines in their order, with what each is of, and sum to the invoice', async () => {
    const invoice = await finalOfMarch()
    const rows = await rowsOf(idOf('invo', invoice.id))
    expect(rows.map(row => [row.line_id, row.amount_excluding_tax])).toEqual(
      shownLines(invoice).map(line => [line.id, plain(decimal(line.amount_excluding_tax.quantity))]),
    )
    const total = (name: 'amount_excluding_tax' | 'amount_including_tax'): string =>
      plain(sum(rows.map(row => decimal(row[name]))))
    expect(decimal(invoice.invoice_amount_excluding_tax.quantity).eq(decimal(total('amount_excluding_tax')))).toBe(true)
    expect(decimal(invoice.invoice_amount_including_tax.quantity).eq(decimal(total('amount_including_tax')))).toBe(true)
    const [, april] = rows
    expect(april).toMatchObject({
      kind: 'REVENUE',
      pricing_plan_subscription_id: invoice.pricing_plan_subscription_id,
      service_start: '2026-04-01T00:00:00Z',
      service_end: '2026-05-01T00:00:00Z',
      tax_category: 'STANDARD',
      source: { in_advance: true },
    })
    for (const row of rows)
      for (const name of ['pricing_plan_schedule_id', 'product_id', 'product_item_id', 'pricing_id'] as const)
        expect(row[name], name).toMatch(/^[a-z]{4}_/)
  })

  test('are what it charges in advance while it is OPEN or DRAFT, and all its lines once it is FINAL', async () => {
    const subscriptionId = await soldInMarch()
    const open = await invoiceOfMarch(subscriptionId, 'OPEN')
    expect(shownLines(open)).toHaveLength(2)
    const id = idOf('invo', open.id)
    expect((await rowsOf(id)).map(row => row.source['in_advance'])).toEqual([true])
    setTime('2026-04-01T01:00:00Z')
    const draft = await invoiceOfMarch(subscriptionId, 'DRAFT')
    expect(draft.id).toBe(open.id)
    expect(shownLines(draft)).toHaveLength(2)
    expect((await rowsOf(id)).map(row => row.source['in_advance'])).toEqual([true])
    await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
    expect((await rowsOf(id)).map(row => row.line_id)).toEqual(shownLines(draft).map(line => line.id))
  })

  test('are replaced while it is a DRAFT, and neither changed, added nor removed once it is FINAL', async () => {
    const draft = await draftOfMarch()
    await succeed(tenant, 'POST', `/v1/invoices/${draft.id}/refresh`, { type: 'FULL' })
    expect(await rowsOf(idOf('invo', draft.id))).toHaveLength(1)
    await succeed(tenant, 'PATCH', `/v1/invoices/${draft.id}`, { status: 'FINAL' })
    const final = await rowsOf(idOf('invo', draft.id))
    expect(final).toHaveLength(2)
    for (const statement of [
      `update invoice_lines set line_order = line_order + 10 where invoice_id = '${draft.id}'`,
      `delete from invoice_lines where invoice_id = '${draft.id}'`,
      `insert into invoice_lines select platform_id, environment, invoice_id, line_id, 99, kind, null, null, null, null, null, null,
         null, null, null, null, 0, 0, 0, null, '{}' from invoice_lines where invoice_id = '${draft.id}' limit 1`,
    ])
      await expect(api.sql(statement), statement).rejects.toThrow('FINAL')
    expect(await rowsOf(idOf('invo', draft.id))).toEqual(final)
  })

  test('are read by no other platform and not in the other environment', async () => {
    const { id } = await draftOfMarch()
    for (const other of [api.tenants.bTest, api.tenants.aLive])
      expect(await rowsOf(idOf('invo', id), other)).toEqual([])
  })

  test('that the migration makes of a stored document are those written with it', async () => {
    const { id } = await draftOfMarch()
    const file = readFileSync('shared/database/migrations/20261122T0420_invoice_lines.sql', 'utf8')
    const [, select] = /insert into invoice_lines [^)]*\)\n(select[\s\S]*?);/.exec(file) ?? []
    if (!select) throw new Error('the migration makes rows of documents')
    // An older document kept the keys of its advance charges, and its periods as they are.
    const keys = (await rowsOf(idOf('invo', id))).flatMap(({ source }) =>
      source['in_advance'] === true ? [source['key']] : [],
    )
    const [stored] = await api.sql(`select content from invoices where id = $1`, [id])
    const { periods } = contentOf(stored?.['content'])
    await api.sql(`update invoices set content = content || $1::jsonb where id = $2`, [
      JSON.stringify({ periods, advance_charges: keys }),
      id,
    ])
    const columns = `line_id, line_order::int, kind, pricing_plan_subscription_id, pricing_plan_schedule_id, product_category_id,
      product_id, product_item_id, pricing_id, pricing_item_id, pricing_item_config_id, service_start, service_end,
      trim_scale(amount_excluding_tax) as net, trim_scale(tax_amount) as tax, trim_scale(amount_including_tax) as gross, tax_category, source`
    const names = `platform_id, environment, invoice_id, line_id, line_order, kind, pricing_plan_subscription_id, pricing_plan_schedule_id,
      product_category_id, product_id, product_item_id, pricing_id, pricing_item_id, pricing_item_config_id, service_start, service_end,
      amount_excluding_tax, tax_amount, amount_including_tax, tax_category, source`
    const made = await api.sql(
      `select ${columns} from (${select}) as made (${names}) where invoice_id = $1 order by line_order`,
      [id],
    )
    // Once it is FINAL each of its lines is a row.
    await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
    const written = await api.sql(`select ${columns} from invoice_lines where invoice_id = $1 order by line_order`, [
      id,
    ])
    expect(made).toEqual(written)
    expect(written).toHaveLength(2)
  })
})
