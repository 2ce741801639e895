// Discounts when something else happens at the same time: a version that changes before activation, an invoice that
// becomes FINAL.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import { instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import { pricingResource } from '../../catalog/pricing-plans/pricing.ts'
import { makeSchedule, makeSubscription } from '../../subscriptions/testing/seed-subscription.ts'

const usage: UsageReader = { ...NO_USAGE, read: async () => [{ currency: null, number: decimal('200000'), count: 3 }] }
let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage })
  tenant = api.tenants.aTest
})
afterAll(() => api.close())

const setTime = (text: string): void => api.clock.set(instantOf(Date.parse(text)))
const TEN_PERCENT = { discount: { totals: [{ percentage: '10' }] } }

/** The DRAFT of March, over 200.00, and its schedule. */
async function draftOfMarch(): Promise<{ invoice: Row; schedule: Row }> {
  setTime('2026-03-10T00:00:00Z')
  const { subscriptionId } = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    bands: [{ amount: { quantity: '1', currency: 'EUR' }, block_size: { number: '1000' } }],
  })
  setTime('2026-04-01T01:00:00Z')
  await runBilling({ database: api.database, usage }, tenant.tenant, subscriptionId)
  const of = `pricing_plan_subscription_id=${subscriptionId}`
  const { data: drafts } = await succeed(tenant, 'GET', `/v1/invoices?${of}&statuses[]=DRAFT`)
  const { data: schedules } = await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?${of}`)
  return { invoice: drafts[0], schedule: schedules[0] }
}

test('a discount sent while its invoice becomes FINAL is either on it or refused, never accepted and left out', async () => {
  for (const delay of [0, 0, 1, 2, 4, 8, 16, 32]) {
    const { invoice, schedule } = await draftOfMarch()
    const wait = () => new Promise(resolve => setTimeout(resolve, delay))
    const finalize = tenant.call('PATCH', `/v1/invoices/${invoice['id']}`, { status: 'FINAL' })
    const discount = (async () => {
      if (delay > 0) await wait()
      return await tenant.call('PATCH', `/v1/pricing-plan-schedules/${schedule['id']}`, TEN_PERCENT)
    })()
    const [final, patched] = await Promise.all([finalize, discount])
    expect(final).toMatchObject({ status: 200, body: { status: 'FINAL' } })
    const { tax_summary: summary } = await succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}`)
    const outcome = `${patched.status} ${summary.base_amount.quantity}`
    expect(['200 180.00', '400 200.00'], outcome).toContain(outcome)
    if (patched.status === 400)
      expect(patched.body).toMatchObject({ code: 'INVALID_FIELD', field: 'discount.totals.0.start_at' })
  }
})

test('a discount on what the version no longer sells is refused when its schedule is activated, with the field', async () => {
  setTime('2026-03-10T00:00:00Z')
  const pricing = await tenant.seed.make(pricingResource)
  const versionId: string = pricing['pricing_plan_version_id']
  const [item] = pricing['items']
  const subscriptionId = await makeSubscription(tenant)
  const scheduleId = await makeSchedule(tenant, subscriptionId, '2026-03-01T00:00:00Z', {
    pricing_plan_version_id: versionId,
    discount: { pricing_items: [{ ids: [item.id], percentage: '10' }] },
  })
  // The same item sent without its id is a new item.
  const { id: _id, ...other } = item
  const configs = item.configs.map(({ id: _config, ...config }: Row) => config)
  await succeed(tenant, 'PATCH', `/v1/pricings/${pricing['id']}`, { items: [{ ...other, configs }] })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${versionId}`, { status: 'ACTIVE' })
  for (const [method, url, body] of [
    ['PATCH', `/v1/pricing-plan-subscriptions/${subscriptionId}`, { status: 'ACTIVE' }],
    ['POST', `/v1/pricing-plan-schedules/${scheduleId}/activate`, undefined],
  ] as const)
    expect(await tenant.call(method, url, body), url).toMatchObject({
      status: 404,
      body: { code: 'RESOURCE_NOT_FOUND', field: 'discount.pricing_items.0.ids.0' },
    })
  expect(await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${subscriptionId}`)).toMatchObject({
    status: 'DRAFT',
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-schedules/${scheduleId}`, { discount: null })
  expect((await tenant.call('POST', `/v1/pricing-plan-schedules/${scheduleId}/activate`)).status).toBe(200)
})
