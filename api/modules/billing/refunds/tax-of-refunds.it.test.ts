// A refund gives back the tax that its fee carried, whatever tax the customer has by then (semantics 5.5).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { runBilling } from '../run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
let deps: BillingDeps
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
  deps = { database: api.database, usage: NO_USAGE }
})
afterAll(() => api.close())

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const run = (billed: Billed) => runBilling(deps, tenant.tenant, billed.subscriptionId)
const refundUrl = (billed: Billed) => `/v1/pricing-plan-subscriptions/${billed.subscriptionId}/cancel`
const HOME = { country: 'NL', city: 'Utrecht', line1: 'Mill 1', postal_code: '3500' }
const GERMAN = { tax_registrations: [{ registered_address: { country: 'DE' }, tax_id: 'DE136695976' }] }
const FRANCE = { country: 'FR', city: 'Lyon', line1: 'Rue 1', postal_code: '69001' }

async function invoicesOf(billed: Billed): Promise<Row[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  return data.toSorted((a, b) => (a['created_at'] < b['created_at'] ? -1 : 1))
}

/** A fee of 100 a month ahead in the Netherlands: that of April is FINAL, with 21 %. */
async function feeOfApril(
  customer: Record<string, unknown> = {},
  prepare?: (billed: Billed) => unknown,
): Promise<Billed> {
  setTime('2026-04-02T01:00:00Z')
  const billed = await billedSubscription(tenant, { start_at: '2026-04-01T00:00:00Z', fee: '100' })
  await change(billed, customer)
  const subscription = await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`)
  const entity = `/v1/billing-entities/${subscription['billing_entity_id']}`
  await succeed(tenant, 'PATCH', entity, { ...GERMAN, tax_id: 'NL123456789B01', registered_address: HOME })
  await prepare?.(billed)
  await run(billed)
  setTime('2026-04-03T01:00:00Z')
  await run(billed)
  return billed
}

const change = (billed: Billed, organization: Record<string, unknown>) =>
  succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { organization })

/** The last invoice of the subscription, cancelled for 16 April with a refund, and FINAL. */
async function cancelled(billed: Billed): Promise<Row> {
  setTime('2026-04-10T00:00:00Z')
  await succeed(tenant, 'POST', refundUrl(billed), {
    type: 'DATE',
    cancel_at: '2026-04-16T00:00:00Z',
    refund_advance_charges: true,
  })
  setTime('2026-04-16T01:00:00Z')
  await run(billed)
  setTime('2026-04-17T01:00:00Z')
  await run(billed)
  return await refundOf(billed)
}

/** The FINAL invoice with the refund. */
async function refundOf(billed: Billed): Promise<Row> {
  const isRefund = (line: Row): boolean => line['amount_excluding_tax'].quantity.startsWith('-')
  const found = (await invoicesOf(billed)).find(invoice => linesOf(invoice).some(isRefund))
  expect(found).toMatchObject({ status: 'FINAL' })
  return found ?? {}
}

const linesOf = (invoice: Row): Row[] =>
  invoice['periods'].flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))
const taxesOf = ({ tax_categories }: Row): string[] =>
  tax_categories.map(
    (tax: Row) => `${tax['name']} ${tax['percentage']}: ${tax['base_amount'].quantity} + ${tax['tax_amount'].quantity}`,
  )

test.each([
  ['a customer who moved to another country of the EU', { tax_id: 'FR123', registered_address: FRANCE }],
  ['a customer who became exempt', { tax_exempt: true }],
])('the fee comes back with the tax that was charged: %s', async (_who, organization) => {
  const billed = await feeOfApril()
  await change(billed, organization)
  const last = await cancelled(billed)
  expect(taxesOf(last)).toEqual(['VAT 21: -50.00 + -10.50'])
  expect(linesOf(last).map(taxesOf)).toEqual([['VAT 21: -50.00 + -10.50']])
  expect(last).toMatchObject({ invoice_amount_including_tax: { quantity: '-60.50' } })
  const verified = await succeed(tenant, 'POST', `/v1/invoices/${last['id']}/verify`, {})
  expect(verified).toMatchObject({ identical: true })
  const [line] = linesOf(last)
  const explained = await succeed(tenant, 'GET', `/v1/invoices/${last['id']}/lines/${line?.['id']}/explanation`)
  expect(explained['taxes']).toMatchObject([
    { percentage: '21', rule: 'A refund carries the tax that the fee carried.' },
  ])
})

test('a fee that carried no tax comes back without any, and says why it carried none', async () => {
  const billed = await feeOfApril({ tax_id: 'FR123', registered_address: FRANCE })
  await change(billed, { tax_id: 'NL1', registered_address: { country: 'NL', city: 'Utrecht' } })
  const last = await cancelled(billed)
  expect(taxesOf(last)).toEqual(['No tax 0: -50.00 + 0.00'])
  expect(last['tax_categories'][0].notes).toEqual([expect.stringContaining('Reverse charge')])
})

test('a partial exemption comes back by the part that was taxed', async () => {
  const billed = await feeOfApril({ tax_exempt_percentage: '40' })
  await change(billed, { tax_exempt_percentage: null })
  expect(taxesOf(await cancelled(billed))).toEqual(['VAT 21: -30.00 + -6.30', 'VAT 0: -20.00 + 0.00'])
})

/** A copy of the schedule from 16 April on, with a refund of the days left, and the invoice of May FINAL. */
async function followed(billed: Billed): Promise<void> {
  const [schedule] = (
    await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${billed.subscriptionId}`)
  )['data']
  setTime('2026-04-10T00:00:00Z')
  const copy = await succeed(tenant, 'POST', `/v1/pricing-plan-schedules/${schedule['id']}/copy`, {
    start_at: '2026-04-16T00:00:00Z',
  })
  await api.sql('update pricing_plan_schedules set refund_advance_charges = true where id = $1', [schedule['id']])
  await succeed(tenant, 'POST', `/v1/pricing-plan-schedules/${copy['id']}/activate`, {})
  setTime('2026-05-01T01:00:00Z')
  await run(billed)
  setTime('2026-05-02T01:00:00Z')
  await run(billed)
}

test('what is charged beside the refund has the tax of its own day, and a credit note takes back both', async () => {
  const billed = await feeOfApril()
  await change(billed, { tax_id: 'FR123', registered_address: FRANCE })
  await followed(billed)
  const last = await refundOf(billed)
  expect(taxesOf(last)).toEqual(['No tax 0: 150.00 + 0.00', 'VAT 21: -50.00 + -10.50'])
  expect(last).toMatchObject({ invoice_amount_including_tax: { quantity: '89.50' } })
  expect(plain(sum(linesOf(last).map(line => decimal(line['amount_including_tax'].quantity))))).toBe('89.5')
  const xml = await tenant.call('GET', `/v1/invoices/${last['id']}/ubl21`)
  expect(xml.status).toBe(200)
  const note = await succeed(tenant, 'POST', `/v1/invoices/${last['id']}/credit`, {})
  expect(taxesOf(note)).toEqual(['No tax 0: -150.00 + 0.00', 'VAT 21: 50.00 + 10.50'])
})

test('a copy of the invoice, and a copy of that copy, keep the tax of the fee', async () => {
  const billed = await feeOfApril({ tax_exempt_percentage: '40' })
  await change(billed, { tax_exempt_percentage: null })
  const last = await cancelled(billed)
  await change(billed, { tax_id: 'FR123', registered_address: FRANCE })
  const copyOf = async (id: string): Promise<Row> => {
    const made = await succeed(tenant, 'POST', `/v1/invoices/${id}/credit_and_copy`, {
      update_credit_invoice_to_final: true,
      update_new_invoice_to_final: true,
    })
    return await succeed(tenant, 'GET', `/v1/invoices/${made['new_invoice_id']}`)
  }
  const copy = await copyOf(last['id'])
  const again = await copyOf(copy['id'])
  for (const each of [copy, again]) {
    expect(taxesOf(each)).toEqual(['VAT 21: -30.00 + -6.30', 'VAT 0: -20.00 + 0.00'])
    expect(each).toMatchObject({ status: 'FINAL', invoice_amount_including_tax: { quantity: '-56.30' } })
  }
})

test('a charge that is copied has the tax of the day of the copy', async () => {
  const billed = await feeOfApril()
  const fee = (await invoicesOf(billed)).find(({ status }) => status === 'FINAL')
  await change(billed, { tax_id: 'FR123', registered_address: FRANCE })
  const made = await succeed(tenant, 'POST', `/v1/invoices/${fee?.['id']}/credit_and_copy`, {})
  expect(taxesOf(await succeed(tenant, 'GET', `/v1/invoices/${made['new_invoice_id']}`))).toEqual([
    'No tax 0: 100.00 + 0.00',
  ])
})

test('an invoice from before refunds carried tax stays as it was issued, and verifies', async () => {
  const billed = await feeOfApril()
  await change(billed, { tax_id: 'FR123', registered_address: FRANCE })
  const fee = (await invoicesOf(billed)).find(({ status }) => status === 'FINAL')
  // Without the taxes of its fee a refund is computed and stored as it was then.
  // The database refuses changes to a FINAL invoice, so the test turns off its triggers.
  const store = (content: string) =>
    api.sql(`begin; set local session_replication_role = replica;
      update invoices set content = ${content} where id = '${fee?.['id']}'; commit`)
  await store(`content || jsonb_build_object('tax_categories', '[]'::jsonb, 'kept', content -> 'tax_categories')`)
  const last = await cancelled(billed)
  await store(`content - 'kept' || jsonb_build_object('tax_categories', content -> 'kept')`)
  expect(taxesOf(last)).toEqual(['No tax 0: -50.00 + 0.00'])
  const [pin] = await api.sql('select request from pinned_inputs where invoice_id = $1', [last['id']])
  const { refunds } = JSON.parse(String(pin?.['request']))
  expect(refunds.map(({ charged }: Row) => 'tax' in charged)).toEqual([false])
  const verified = await succeed(tenant, 'POST', `/v1/invoices/${last['id']}/verify`, {})
  expect(verified).toMatchObject({ identical: true, differences: [], rule_changes: [] })
  const [line] = linesOf(last)
  const explained = await succeed(tenant, 'GET', `/v1/invoices/${last['id']}/lines/${line?.['id']}/explanation`)
  expect(explained).toMatchObject({ is_current: true, taxes: [{ percentage: '0', treatment: 'REVERSE_CHARGE' }] })
  const made = await succeed(tenant, 'POST', `/v1/invoices/${last['id']}/credit_and_copy`, {})
  const copy = await succeed(tenant, 'GET', `/v1/invoices/${made['new_invoice_id']}`)
  expect(taxesOf(copy)).toEqual(['VAT 21: -50.00 + -10.50'])
})

describe('a fee that was taxed under a registration abroad', () => {
  const live = (country: string) => (billed: Billed) =>
    succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, {
      ...{ type: 'INDIVIDUAL', organization: null },
      individual: {
        name: { first_name: 'Ada' },
        residential_address: { country, city: 'Town', line1: 'Street 1', postal_code: '1' },
      },
    })

  test('is refunded under it, by an invoice that names it alone', async () => {
    const billed = await feeOfApril({}, live('DE'))
    await live('FR')(billed)
    const last = await cancelled(billed)
    expect(taxesOf(last)).toEqual(['VAT 19: -50.00 + -9.50'])
    expect(last).toMatchObject({
      used_tax_registration: { country: 'DE', tax_id: 'DE136695976' },
      tax_summary: { country_code: 'DE' },
    })
    expect(last).not.toHaveProperty('other_tax_registrations')
    const verified = await succeed(tenant, 'POST', `/v1/invoices/${last['id']}/verify`, {})
    expect(verified).toMatchObject({ identical: true })
    const xml = await tenant.call('GET', `/v1/invoices/${last['id']}/ubl21`)
    expect(JSON.stringify(xml.body)).toContain('DE136695976')
  })

  test('is refunded beside what is charged under another one, which the invoice names too', async () => {
    const billed = await feeOfApril({}, live('DE'))
    await live('FR')(billed)
    await followed(billed)
    const last = await refundOf(billed)
    expect(taxesOf(last)).toEqual(['VAT 21: 150.00 + 31.50', 'VAT 19: -50.00 + -9.50'])
    expect(last).not.toHaveProperty('used_tax_registration')
    expect(last).toMatchObject({
      other_tax_registrations: [{ country: 'DE', tax_id: 'DE136695976' }],
      tax_summary: { country_code: 'NL' },
    })
    const { url } = await succeed(tenant, 'GET', `/v1/invoices/${last['id']}/download-url?format=HTML`)
    const page = await api.app.inject({ method: 'GET', url: url.slice(url.indexOf('/documents?')) })
    expect(page.body).toContain('DE136695976')
    const refused = await tenant.call('GET', `/v1/invoices/${last['id']}/ubl21`)
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'INVALID_OPERATION', field: 'other_tax_registrations' },
    })
  })
})
