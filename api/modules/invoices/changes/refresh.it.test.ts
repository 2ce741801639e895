// A refresh takes the current data of its parties and its subscription, for every type that names them, until the
// invoice is FINAL.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
let before: number
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  before = api.clock.now()
  api.clock.set(instantOf(Date.parse('2026-03-10T00:00:00Z')))
})
afterAll(async () => {
  api.clock.set(instantOf(before))
  await api.close()
})

/** The DRAFT of a fee of 100, and its subscription. */
async function drafted(): Promise<{ url: string; subscription: string }> {
  const { subscriptionId } = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)
  const list = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&statuses[]=DRAFT`
  const [draft]: Row[] = (await succeed(tenant, 'GET', list))['data']
  return { url: `/v1/invoices/${draft?.['id']}`, subscription: `/v1/pricing-plan-subscriptions/${subscriptionId}` }
}

test('PO_NUMBER takes over the purchase order number, with either spelling of the type, and not once the invoice is FINAL', async () => {
  const { url, subscription } = await drafted()
  for (const [purchase_order_number, body] of [
    ['PO-1', { types: ['PO_NUMBER'] }],
    ['PO-2', { type: 'PO_NUMBER' }],
  ] as const) {
    await succeed(tenant, 'PATCH', subscription, { purchase_order_number })
    expect(await succeed(tenant, 'POST', `${url}/refresh`, body)).toMatchObject({ purchase_order_number })
  }
  await succeed(tenant, 'PATCH', url, { status: 'FINAL' })
  await succeed(tenant, 'PATCH', subscription, { purchase_order_number: 'PO-3' })
  const late = await tenant.call('POST', `${url}/refresh`, { types: ['PO_NUMBER'] })
  expect([late.status, late.body['code'], late.body['field']]).toEqual([400, 'INVALID_OPERATION', 'types'])
  expect(await succeed(tenant, 'GET', url)).toMatchObject({ purchase_order_number: 'PO-2' })
})

test('a FINAL invoice takes what changes no amount: custom fields, how to pay, and the split of a partial exemption', async () => {
  const reference = tenant.seed.unique('desk')
  const field = { resource_type: 'CUSTOMER', reference, name: 'Desk', type: 'STRING', copy_value_to_invoice: true }
  await succeed(tenant, 'POST', '/v1/custom-fields', field)
  const { url } = await drafted()
  const issued = await succeed(tenant, 'PATCH', url, { status: 'FINAL' })
  const customer = `/v1/customers/${issued['customer_id']}`
  await succeed(tenant, 'PATCH', customer, { custom_fields: [{ reference, value: 'East' }] })
  const refresh = (...types: string[]) => tenant.call('POST', `${url}/refresh`, { types })
  const { body: shown } = await refresh('CUSTOM_FIELD', 'PAYMENT_ACCEPTOR')
  expect(shown['other_custom_fields']).toMatchObject([{ reference, value: 'East' }])
  expect(await succeed(tenant, 'GET', url)).toEqual(shown)
  expect(await succeed(tenant, 'POST', `${url}/verify`)).toMatchObject({ identical: true, differences: [] })
  const amounts = ['invoice_amount_excluding_tax', 'invoice_amount_including_tax', 'tax_summary', 'periods'] as const
  for (const name of amounts) expect(shown[name]).toEqual(issued[name])
  // Nothing to split, and then a split that would change the tax of 21 %.
  expect((await refresh('TAX_RATES')).status).toBe(200)
  const { organization } = await succeed(tenant, 'GET', customer)
  const { tax_id_validation_result: _checked, ...given } = organization
  const exempt = (part: string) =>
    tenant.call('PATCH', customer, { organization: { ...given, tax_exempt_percentage: part } })
  for (const part of ['0', '100', '-1'])
    expect((await exempt(part)).body['field']).toBe('organization.tax_exempt_percentage')
  expect((await exempt('40')).status).toBe(200)
  const refused = await refresh('TAX_RATES')
  expect([refused.status, refused.body['code'], refused.body['field']]).toEqual([400, 'INVALID_OPERATION', 'types'])
  await expect(
    api.sql(`update invoices set content = jsonb_set(content, '{periods}', '[]') where id = '${issued['id']}'`),
  ).rejects.toThrow(/FINAL/)
  await expect(
    api.sql(`update invoices set content = jsonb_set(content, '{tax_categories,0,tax_amount,quantity}', '"1"')
      where id = '${issued['id']}'`),
  ).rejects.toThrow(/FINAL/)
})

test('of a FINAL invoice whose periods are not packed, as they once were stored, only what they show of tax may differ', async () => {
  const issued = (line: Row) => ({ tax_categories: [], periods: [{ groups: [{ lines: [line] }], tax_categories: [] }] })
  const isSame = async (line: Row) => {
    const before = issued({ amount: '1', tax_categories: [] })
    const [row] = await api.sql('select issued_content($1) = issued_content($2) as same', [before, issued(line)])
    return row?.['same']
  }
  expect(await isSame({ amount: '1', tax_categories: [{ percentage: '0' }] })).toBe(true)
  expect(await isSame({ amount: '2', tax_categories: [] })).toBe(false)
})

test('a partial exemption is one summary of 0 % beside the rate, on new invoices and by refresh on an issued one', async () => {
  const us = { country: 'US', line1: '1 Main St', city: 'Austin', postal_code: '73301', state: 'TX' }
  const { id: entity } = await succeed(tenant, 'POST', '/v1/billing-entities', {
    reference: tenant.seed.unique('us'),
    legal_name: 'Millrace Inc',
    registered_address: us,
  })
  const { id: customer } = await succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('buyer'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Acme', registered_address: us },
  })
  const oneOff = async (sales_tax_percentage: string, lines = 1) => {
    const amount = { quantity: String(100 / lines), currency: 'EUR' }
    const line = { pricing_name: 'Work', pricing_type: 'FIXED', pricing_band: { amount } }
    const { id } = await succeed(tenant, 'POST', '/v1/invoices', {
      customer_id: customer,
      billing_entity_id: entity,
      sales_tax_percentage,
      lines: Array.from({ length: lines }, () => line),
    })
    return `/v1/invoices/${id}`
  }
  const summaries = ({ tax_categories }: Row) =>
    tax_categories.map(
      (tax: Row) => `${tax['percentage']} % of ${tax['base_amount'].quantity}: ${tax['tax_amount'].quantity}`,
    )
  // Issued with the percentage of the whole, before the exemption was known as one.
  const [issued, long] = [await oneOff('12.6'), await oneOff('12.6', 4)]
  for (const each of [issued, long])
    expect(summaries(await succeed(tenant, 'PATCH', each, { status: 'FINAL' }))).toEqual(['12.6 % of 100.00: 12.60'])
  await succeed(tenant, 'PATCH', `/v1/customers/${customer}`, {
    organization: { legal_name: 'Acme', registered_address: us, tax_exempt_percentage: '40' },
  })
  const parts = ['21 % of 60.00: 12.60', '0 % of 40.00: 0.00']
  expect(summaries(await succeed(tenant, 'GET', await oneOff('21')))).toEqual(parts)
  const [one, two] = await Promise.all(
    [1, 2].map(() => succeed(tenant, 'POST', `${issued}/refresh`, { types: ['TAX_RATES'] })),
  )
  for (const each of [one, two, await succeed(tenant, 'GET', issued)]) {
    expect(summaries(each ?? {})).toEqual(parts)
    expect(each?.['invoice_amount_including_tax']).toEqual({ quantity: '112.60', currency: 'EUR' })
  }
  // The tax as it is shown now is verified too.
  expect(await succeed(tenant, 'POST', `${issued}/verify`)).toMatchObject({ identical: true, differences: [] })

  // The periods of a long one are packed, and the text stays as it was issued, whatever they show of their tax now.
  const id = long.split('/').at(-1)
  const stored = async () => {
    const [row] = await api.sql('select content from invoices where id = $1', [id])
    return row?.['content']
  }
  const { periods: packed, tax_shares: none } = await stored()
  expect([typeof packed, none]).toEqual(['string', undefined])
  const split = await succeed(tenant, 'POST', `${long}/refresh`, { types: ['TAX_RATES'] })
  expect(summaries(split)).toEqual(parts)
  const { tax_shares, ...after } = await stored()
  expect(after.periods).toBe(packed)
  expect(tax_shares[0].groups[0].lines).toHaveLength(4)
  const shown = await succeed(tenant, 'GET', long)
  expect(shown['periods']).toEqual(split['periods'])
  for (const line of shown['periods'][0].groups[0].lines)
    expect(summaries(line)).toEqual(['21 % of 15.00: 3.15', '0 % of 10.00: 0.00'])
  expect(await succeed(tenant, 'POST', `${long}/verify`)).toMatchObject({ identical: true, differences: [] })
  for (const other of [
    `'"${packed.replace(/.=*$/, 'A')}"'`,
    `'[]'`,
    `(select content -> 'periods' from invoices where id <> '${id}' limit 1)`,
  ])
    await expect(
      api.sql(`update invoices set content = jsonb_set(content, '{periods}', ${other}) where id = '${id}'`),
    ).rejects.toThrow(/FINAL/)
})

test('PATCH beside refresh: neither undoes the other, and beside FINAL a note is on the invoice or its PATCH is refused', async () => {
  const PATCHED = { notes: ['Order 7'], on_hold: true }
  for (const finalize of [false, true, true]) {
    const { url, subscription } = await drafted()
    await succeed(tenant, 'PATCH', subscription, { purchase_order_number: 'PO-7' })
    const refresh = () => tenant.call('POST', `${url}/refresh`, { types: ['FULL'] })
    const answers = await Promise.all([
      tenant.call('PATCH', url, PATCHED),
      refresh(),
      ...(finalize ? [tenant.call('PATCH', url, { status: 'FINAL' })] : []),
      refresh(),
    ])
    const [patched] = answers
    const after = await succeed(tenant, 'GET', url)
    expect(after).toMatchObject({
      purchase_order_number: 'PO-7',
      invoice_amount_excluding_tax: { quantity: '100.00', currency: 'EUR' },
      notes: patched?.status === 200 ? PATCHED.notes : [],
      ...(finalize ? { status: 'FINAL', invoice_number: expect.any(String) } : { status: 'DRAFT', on_hold: true }),
    })
    const refused = answers.filter(({ status }) => status !== 200)
    if (!finalize) expect(refused).toEqual([])
    for (const { status, body } of refused) expect([status, body['code']]).toEqual([400, 'INVALID_OPERATION'])
  }
})
