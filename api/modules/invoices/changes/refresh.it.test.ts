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
