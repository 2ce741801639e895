// Self-billing: the invoices of a subscription that the buyer issues in the name of the seller (contract: Subscription, Invoice).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../run/run-billing.ts'
import { billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

test('has numbers of its own, says so, and previews, verifications and credit notes agree', async () => {
  const settings = { self_billing_invoice_number_configuration: { prefix: 'SELF', minimum_number_of_digits: 3 } }
  await succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { invoice_settings: settings })
  api.clock.set(Date.parse('2026-03-10T00:00:00Z'))
  const subscription = { variant: 'SELF_BILLING' }
  const { subscriptionId: id } = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    fee: '10',
    subscription,
  })
  const named = { pricing_plan_subscription_id: id }
  expect((await succeed(tenant, 'POST', '/v1/invoices/preview', named))['invoice']).toMatchObject({
    billing_type: 'SELF_BILLING',
  })
  for (const time of ['2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z']) {
    api.clock.set(Date.parse(time))
    await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
  }
  const all = (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${id}`))['data']
  const data = all.filter((row: Row) => row['status'] === 'FINAL')
  expect(data).toMatchObject([{ billing_type: 'SELF_BILLING', invoice_number: 'SELF-2026-001', status: 'FINAL' }])
  const [{ id: invoice }] = data
  expect(await succeed(tenant, 'POST', `/v1/invoices/${invoice}/verify`)).toMatchObject({ identical: true })
  const credit = await succeed(tenant, 'POST', `/v1/invoices/${invoice}/credit`, {})
  expect(credit).toMatchObject({ billing_type: 'SELF_BILLING' })
  const patched = await tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${id}`, { variant: 'DEFAULT' })
  expect(patched).toMatchObject({ status: 400, body: { field: 'variant' } })
  await succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { invoice_settings: {} })
})
