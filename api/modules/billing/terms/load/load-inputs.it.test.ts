// The inputs of many subscriptions are read at once, and each is the same as when it is read alone.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTenant } from '../../../../../shared/database/database.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import { billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { loadBillingInputs, loadManyInputs } from './load-inputs.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

/**
 * Subscriptions that differ in what is read for them: prices, fields, customers below them, drafts, persisted states.
 */
async function different(): Promise<string[]> {
  api.clock.set(Date.parse('2026-03-20T00:00:00Z'))
  const start_at = '2026-03-01T00:00:00Z'
  const field = await succeed(tenant, 'POST', '/v1/custom-fields', {
    reference: tenant.seed.unique('cost'),
    resource_type: 'CUSTOMER',
    copy_value_to_invoice: true,
  })
  const [plain, withFee, shared, draft] = [
    await billedSubscription(tenant, { start_at }),
    await billedSubscription(tenant, { start_at, fee: '10', calculation: { persist: true } }),
    await billedSubscription(tenant, {
      start_at,
      subscription: { display_invoice_sub_lines_per_processing_only_customer: true },
    }),
    await billedSubscription(tenant, { start_at, fee: '3', activate: false }),
  ]
  await succeed(tenant, 'PATCH', `/v1/customers/${plain.customerId}`, {
    custom_fields: [{ reference: field['reference'], value: 'North' }],
  })
  await succeed(tenant, 'POST', '/v1/customers', {
    type: 'INDIVIDUAL',
    status: 'ACTIVE',
    roles: ['PROCESSING_ONLY'],
    parent_customer_id: shared.customerId,
  })
  return [plain, withFee, shared, draft].map(({ subscriptionId }) => subscriptionId)
}

test('each equals, byte for byte, what is read for it alone', async () => {
  const ids = await different()
  await readTenant(api.database, tenant.tenant, async uow => {
    const many = await loadManyInputs(uow, [...ids, 'ppsu_none'])
    expect([...many.keys()].sort()).toEqual([...ids].sort())
    for (const id of ids) expect(JSON.stringify(many.get(id))).toBe(JSON.stringify(await loadBillingInputs(uow, id)))
    const [plain, , shared] = ids
    expect(many.get(shared ?? '')?.sub_line_customers).toHaveLength(2)
    expect(many.get(shared ?? '')?.attribution.customers).toHaveLength(2)
    expect(many.get(plain ?? '')?.copied_fields).toMatchObject([{ value: 'North' }])
    // The plan of the draft is read, because a preview needs it, and no other subscription has it.
    const pricings = [...many.values()].flatMap(inputs => inputs.pricings.map(({ id }) => id))
    expect(pricings).toHaveLength(ids.length)
    expect(new Set(pricings).size).toBe(ids.length)
  })
})

test('subscriptions of one plan share what is sold, as one object', async () => {
  const first = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z' })
  const url = `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${first.subscriptionId}`
  const [schedule] = (await succeed(tenant, 'GET', url))['data']
  const entity = (await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${first.subscriptionId}`))[
    'billing_entity_id'
  ]
  const second = await succeed(tenant, 'POST', '/v1/pricing-plan-subscriptions', {
    customer_id: first.customerId,
    billing_entity_id: entity,
    billing_currency: 'EUR',
  })
  await succeed(tenant, 'POST', '/v1/pricing-plan-schedules', {
    pricing_plan_subscription_id: second['id'],
    pricing_plan_version_id: schedule['pricing_plan_version_id'],
    start_at: '2026-06-01T00:00:00Z',
    pricing_currency: 'EUR',
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${second['id']}`, { status: 'ACTIVE' })
  await readTenant(api.database, tenant.tenant, async uow => {
    const many = await loadManyInputs(uow, [first.subscriptionId, second['id']])
    const [a, b] = [many.get(first.subscriptionId), many.get(second['id'])]
    expect(a?.pricings).toBe(b?.pricings)
    expect(a?.subscription.id).not.toBe(b?.subscription.id)
  })
})
