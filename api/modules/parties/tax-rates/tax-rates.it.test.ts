// Tax rates of a platform: what is refused, and that invoices, explanations and other platforms see them or do not. Real PostgreSQL.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.bTest
})
afterAll(() => api?.close())

const RATE = { country: 'NZ', name: 'GST', percentage: '15', valid_from: '2026-01-01', source: 'Inland Revenue' }
const create = (more: object = {}, by = tenant) => by.call('POST', '/v1/tax-rates', { ...RATE, ...more })
const fault = ({ status, body }: { status: number; body: Row }) => [status, body['code'], body['field']]

test('a rate is given once from a day, corrected, ended and deleted; bad ones are refused by name', async () => {
  const { body: made } = await create()
  expect(made).toMatchObject({ object_type: 'TAX_RATE', ...RATE, state: null, valid_to: null })
  for (const [more, code, field] of [
    [{}, 'RESOURCE_ALREADY_EXISTS', 'valid_from'],
    [{ name: 'VAT' }, 'RESOURCE_ALREADY_EXISTS', 'valid_from'],
    [{ country: 'XX' }, 'INVALID_FIELD', 'country'],
    [{ country: 'US' }, 'INVALID_FIELD', 'country'],
    [{ country: undefined }, 'MISSING_FIELD', 'country'],
    [{ state: 'AUK' }, 'INVALID_FIELD', 'state'],
    [{ percentage: '-1' }, 'INVALID_FIELD', 'percentage'],
    [{ percentage: '100.01' }, 'INVALID_FIELD', 'percentage'],
    [{ percentage: 15 }, 'INVALID_FIELD', 'percentage'],
    [{ valid_from: '2026-02-30' }, 'INVALID_FIELD', 'valid_from'],
    [{ valid_from: '0000-01-01' }, 'INVALID_FIELD', 'valid_from'],
    [{ valid_to: '2200-01-01' }, 'INVALID_FIELD', 'valid_to'],
    [{ valid_from: '2026-02-01T00:00:00Z' }, 'INVALID_FIELD', 'valid_from'],
    [{ valid_from: '2026-02-01', valid_to: '2026-02-01' }, 'INVALID_FIELD', 'valid_to'],
    [{ source: ' ' }, 'INVALID_FIELD', 'source'],
    [{ country: 'CA', name: 'GST', state: 'Texas' }, 'INVALID_FIELD', 'state'],
    [{ country: 'CA', name: 'PST' }, 'INVALID_FIELD', 'name'],
    [{ country: 'CA', name: 'GST', state: 'AB' }, 'INVALID_FIELD', 'name'],
    [{ country: 'CA', name: 'PST', state: 'QC' }, 'INVALID_FIELD', 'name'],
  ] as const)
    expect(fault(await create(more)), JSON.stringify(more)).toEqual([
      code === 'RESOURCE_ALREADY_EXISTS' ? 409 : 400,
      code,
      field,
    ])
  const canadian = await create({ country: 'CA', name: 'PST', state: 'British Columbia' })
  expect(canadian.body).toMatchObject({ state: 'BC' })
  expect((await create({ country: 'CA', name: 'PST', state: 'SK' })).status).toBe(201)
  const url = `/v1/tax-rates/${made['id']}`
  expect(fault(await tenant.call('PATCH', url, { country: 'CH' }))).toEqual([400, 'INVALID_FIELD', 'country'])
  expect(fault(await tenant.call('PATCH', url, { valid_to: '2025-12-31' }))).toEqual([400, 'INVALID_FIELD', 'valid_to'])
  expect(await succeed(tenant, 'PATCH', url, { percentage: '16', valid_to: '2027-01-01' })).toMatchObject({
    percentage: '16',
    valid_to: '2027-01-01',
  })
  expect((await succeed(tenant, 'GET', '/v1/tax-rates?country=NZ'))['data']).toHaveLength(1)
  const found = await succeed(tenant, 'POST', '/v1/tax-rates/search', {
    filter_fields: [{ name: 'country', value: 'CA' }],
  })
  expect(found['data']).toHaveLength(2)
  expect((await api.tenants.bLive.call('GET', url)).status).toBe(404)
  await tenant.call('DELETE', url)
  expect((await tenant.call('GET', url)).status).toBe(404)
  await expectPayloads(api, made['id'], ['TAX_RATE.CREATED', 'TAX_RATE.UPDATED', 'TAX_RATE.DELETED'])
  const twice = await Promise.all([create(), create()])
  expect(twice.map(({ status }) => status).toSorted()).toEqual([201, 409])
})

const address = { registered_address: { country: 'CH' } }
/** A one-off invoice of 100.00 between two in Switzerland. */
async function swiss(more: object = {}, currency = 'CHF'): Promise<string> {
  const { id: customer_id } = await succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('acme'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Acme AG', ...address },
  })
  const { id: billing_entity_id } = await succeed(tenant, 'POST', '/v1/billing-entities', {
    reference: tenant.seed.unique('main'),
    legal_name: 'Millrace AG',
    ...address,
  })
  const line = {
    pricing_name: 'Workshop',
    pricing_type: 'FIXED',
    pricing_band: { amount: { quantity: '100', currency } },
  }
  const body = { customer_id, billing_entity_id, invoice_date: '2026-03-01T00:00:00Z', lines: [line], ...more }
  return `/v1/invoices/${(await succeed(tenant, 'POST', '/v1/invoices', body))['id']}`
}

test('a platform has at most 1,000 rates', async () => {
  const { platformId, environment } = api.tenants.aLive.tenant
  const own = (more: object = {}) => create({ country: 'AU', ...more }, api.tenants.aLive)
  expect((await own()).status).toBe(201)
  await api.sql(
    `insert into tax_rates select (jsonb_populate_record(r, jsonb_build_object('id', r.id || n, 'valid_from', date '2026-01-01' + n))).*
     from tax_rates r, generate_series(1, 998) n where r.platform_id = $1 and r.environment = $2`,
    [platformId, environment],
  )
  // Of two at once for the last place, one is refused.
  const both = await Promise.all([own({ valid_from: '2030-01-01' }), own({ valid_from: '2030-02-01' })])
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 400])
  const last = both.find(({ status }) => status === 201) ?? both[0]
  const refused = await own({ valid_from: '2031-01-01' })
  expect([...fault(refused).slice(0, 2), refused.body['message']]).toEqual([
    400,
    'INVALID_OPERATION',
    expect.stringContaining('at most 1000 tax rates'),
  ])
  // The limit is of each platform and environment, and a rate that is deleted makes room.
  expect((await create({ country: 'AU' }, api.tenants.aTest)).status).toBe(201)
  await succeed(api.tenants.aLive, 'DELETE', `/v1/tax-rates/${last.body['id']}`)
  expect((await own({ valid_from: '2031-01-01' })).status).toBe(201)
})

test('an invoice without a rate stays DRAFT until one is added, and keeps its tax once it is FINAL', async () => {
  const invoice = await swiss()
  const first = await succeed(tenant, 'GET', invoice)
  expect(first['validation_result']).toContainEqual({
    status: 'ERROR',
    details: expect.stringMatching(/^No tax rate of CH is known for 2026-03-01\. Add it: POST \/v1\/tax-rates/),
  })
  expect(fault(await tenant.call('PATCH', invoice, { status: 'FINAL' }))[0]).toBe(400)
  const { body: rate } = await create({ country: 'CH', name: 'VAT', percentage: '8.1', valid_from: '2024-01-01' })
  const refreshed = await succeed(tenant, 'POST', `${invoice}/refresh`, { types: ['TAX_RATES'] })
  expect(refreshed['tax_categories']).toMatchObject([
    { name: 'VAT', percentage: '8.1', tax_amount: { quantity: '8.10', currency: 'CHF' } },
  ])
  await succeed(tenant, 'PATCH', invoice, { status: 'FINAL' })
  await succeed(tenant, 'PATCH', `/v1/tax-rates/${rate['id']}`, { percentage: '9' })
  expect(await succeed(tenant, 'GET', invoice)).toMatchObject({
    status: 'FINAL',
    invoice_amount_including_tax: { quantity: '108.10', currency: 'CHF' },
  })
  expect(await succeed(tenant, 'POST', `${invoice}/verify`)).toMatchObject({ identical: true })
  // A percentage of the invoice itself comes first where no rate is stored.
  const given = await succeed(tenant, 'GET', await swiss({ sales_tax_percentage: '2.6' }))
  expect(given['tax_summary']).toMatchObject({ tax_amount: { quantity: '2.60', currency: 'CHF' } })
})

test('an invoice in euros states its Swiss tax in francs, at the rate of its date, and so does its credit note', async () => {
  for (const [day, text] of [
    ['2026-02-27', '0.94'],
    ['2026-06-01', '0.5'],
  ])
    await succeed(tenant, 'POST', '/v1/exchange-rates', {
      ...{ base_currency: 'EUR', currency: 'CHF', rate: text, source: 'ECB' },
      rate_timestamp: `${day}T00:00:00Z`,
    })
  const invoice = await swiss({}, 'EUR')
  // 9 % of 100.00 is 9.00, and 9.00 × 0.94 = 8.46.
  const francs = (tax: string) => ({
    tax_summary: {
      local_amounts: { tax_amount: { quantity: tax, currency: 'CHF' }, used_exchange_rate: { rate: '0.94' } },
    },
  })
  expect(await succeed(tenant, 'PATCH', invoice, { status: 'FINAL' })).toMatchObject(francs('8.46'))
  expect(await succeed(tenant, 'POST', `${invoice}/verify`)).toMatchObject({ identical: true, rule_changes: [] })
  expect(await succeed(tenant, 'POST', `${invoice}/credit`, {})).toMatchObject(francs('-8.46'))
})

test('an invoice of a subscription shows who published the rate, and verifies after the rate has changed', async () => {
  const { body: rate } = await create({ country: 'NL', name: 'BTW', percentage: '22', source: 'Belastingdienst' })
  const own = await billedSubscription(tenant, { start_at: '2026-05-01T00:00:00Z', fee: '100' })
  const run = () => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, own.subscriptionId)
  await run()
  const list = await succeed(
    tenant,
    'GET',
    `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}&include_lines=true`,
  )
  const draft = (list['data'] as Row[]).find(row => row['status'] === 'DRAFT')
  const invoice = `/v1/invoices/${draft?.['id']}`
  expect(draft?.['tax_categories']).toMatchObject([{ name: 'BTW', percentage: '22' }])
  const shown = await succeed(tenant, 'GET', invoice)
  const line = shown['periods'][0].groups[0].lines[0].id
  const { taxes } = await succeed(tenant, 'GET', `${invoice}/lines/${line}/explanation`)
  expect(taxes).toMatchObject([{ treatment: 'LOCAL_RATE', country: 'NL', source: 'Belastingdienst' }])
  await succeed(tenant, 'PATCH', invoice, { status: 'FINAL' })
  await succeed(tenant, 'DELETE', `/v1/tax-rates/${rate['id']}`)
  expect(await succeed(tenant, 'POST', `${invoice}/verify`)).toMatchObject({ identical: true })
})
