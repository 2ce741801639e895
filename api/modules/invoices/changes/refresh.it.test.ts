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

test('PO_NUMBER takes over the purchase order number, with either spelling of the type, and not once the invoice is FINAL', async () => {
  const { subscriptionId } = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)
  const subscription = `/v1/pricing-plan-subscriptions/${subscriptionId}`
  const { data } = await succeed(
    tenant,
    'GET',
    `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&statuses[]=DRAFT`,
  )
  const url = `/v1/invoices/${(data as Row[])[0]?.['id']}`
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
