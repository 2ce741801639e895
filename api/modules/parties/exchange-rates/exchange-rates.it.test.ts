// Exchange rates: what is refused, how a rate is corrected with its history, and that activation and preview need one.
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

const RATE = {
  base_currency: 'EUR',
  currency: 'SEK',
  rate: '11.1',
  rate_timestamp: '2026-01-01T00:00:00Z',
  source: 'ECB',
}
const create = (more: object = {}) => tenant.call('POST', '/v1/exchange-rates', { ...RATE, ...more })
const byDate = (a: Row, b: Row): number => (String(a['invoice_date']) < String(b['invoice_date']) ? -1 : 1)
const fault = ({ status, body }: { status: number; body: Row }) => [status, body['code'], body['field']]

test('a rate is given once for a time, and corrected with its history', async () => {
  const { body: made } = await create()
  expect(made).toMatchObject({ object_type: 'EXCHANGE_RATE', ...RATE, corrections: [] })
  expect(fault(await create({ rate: '12' }))).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'rate_timestamp'])
  for (const [more, code, field] of [
    [{ currency: 'EUR' }, 'INVALID_FIELD', 'currency'],
    [{ currency: 'XYZ' }, 'INVALID_FIELD', 'currency'],
    [{ currency: 'NOK', rate: '0' }, 'INVALID_FIELD', 'rate'],
    [{ currency: 'NOK', rate: '-1' }, 'INVALID_FIELD', 'rate'],
    [{ currency: 'NOK', rate_timestamp: '2999-01-01T00:00:00Z' }, 'INVALID_FIELD', 'rate_timestamp'],
    [{ currency: 'NOK', source: '' }, 'INVALID_FIELD', 'source'],
    [{ currency: 'NOK', corrections: [] }, 'INVALID_FIELD', 'corrections'],
  ] as const)
    expect(fault(await create(more)), JSON.stringify(more)).toEqual([400, code, field])
  const url = `/v1/exchange-rates/${made['id']}`
  expect(fault(await tenant.call('PATCH', url, { currency: 'NOK' }))).toEqual([400, 'INVALID_FIELD', 'currency'])
  const corrected = await succeed(tenant, 'PATCH', url, { rate: '11.15' })
  expect(corrected).toMatchObject({ rate: '11.15', corrections: [{ rate: '11.1', source: 'ECB' }] })
  expect((await succeed(tenant, 'PATCH', url, { rate: '11.15' }))['corrections']).toHaveLength(1)
  await expectPayloads(api, made['id'], ['EXCHANGE_RATE.CREATED', 'EXCHANGE_RATE.UPDATED'])
  const found = await succeed(tenant, 'POST', '/v1/exchange-rates/search', {
    filter_fields: [{ name: 'currency', value: 'SEK' }],
  })
  expect(found['data']).toMatchObject([{ id: made['id'] }])
  expect((await succeed(tenant, 'GET', '/v1/exchange-rates?currency=SEK'))['data']).toHaveLength(1)
  expect((await api.tenants.aTest.call('GET', url)).status).toBe(404)
})

test('activation and preview need a rate; invoices convert by it and keep it', async () => {
  const start_at = '2026-05-01T00:00:00Z'
  const subscription = { billing_currency: 'DKK' }
  const own = await billedSubscription(tenant, { start_at, fee: '100', subscription, activate: false })
  const url = `/v1/pricing-plan-subscriptions/${own.subscriptionId}`
  const activate = () => tenant.call('PATCH', url, { status: 'ACTIVE' })
  const preview = () =>
    tenant.call('POST', '/v1/invoices/preview', { pricing_plan_subscription_id: own.subscriptionId, start_at })
  expect(fault(await activate())).toEqual([400, 'INVALID_FIELD', 'pricing_currency'])
  expect(fault(await preview())).toEqual([400, 'INVALID_OPERATION', 'billing_currency'])
  const { body: rate } = await create({ currency: 'DKK', rate: '7.5', rate_timestamp: '2026-04-30T00:00:00Z' })
  expect((await preview()).body['invoice']).toMatchObject({
    invoice_amount_excluding_tax: { quantity: '750.00', currency: 'DKK' },
  })
  expect((await activate()).status).toBe(200)
  const run = () => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, own.subscriptionId)
  await run()
  const list = async (): Promise<Row[]> =>
    (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}`))['data']
  const drafts = (await list()).filter(row => row['status'] === 'DRAFT')
  const draft = drafts.find(row => row['invoice_date'] === start_at)
  // Those of later months need a newer rate.
  const latest = await succeed(tenant, 'GET', `/v1/invoices/${drafts.toSorted(byDate).at(-1)?.['id']}`)
  const errors = latest['validation_result'].filter(({ status }: Row) => status === 'ERROR')
  expect(errors).toMatchObject([{ details: expect.stringContaining('2026-04-30') }])
  expect(fault(await tenant.call('PATCH', `/v1/invoices/${latest['id']}`, { status: 'FINAL' }))).toEqual([
    400,
    'INVALID_OPERATION',
    'status',
  ])
  expect(draft).toMatchObject({
    billing_currency: 'DKK',
    invoice_amount_excluding_tax: { quantity: '750.00', currency: 'DKK' },
    used_exchange_rates: [{ base_currency: 'EUR', currency: 'DKK', rate: '7.5', source: 'ECB' }],
  })
  const invoice = `/v1/invoices/${draft?.['id']}`
  await succeed(tenant, 'PATCH', invoice, { status: 'FINAL' })
  // What is corrected later changes no FINAL invoice.
  await succeed(tenant, 'PATCH', `/v1/exchange-rates/${rate['id']}`, { rate: '7.46' })
  await run()
  expect(await succeed(tenant, 'GET', invoice)).toMatchObject({
    invoice_amount_excluding_tax: { quantity: '750.00', currency: 'DKK' },
  })
  expect(await succeed(tenant, 'POST', `${invoice}/verify`)).toMatchObject({ identical: true })
})
