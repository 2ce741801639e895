// A DRAFT subscription with coupons that gets another customer, through the api (semantics 2).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../testing/seed-subscription.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

const coupon = (): Promise<Row> =>
  succeed(a, 'POST', '/v1/coupons', {
    reference: a.seed.unique('coupon'),
    name: 'Welcome',
    status: 'ACTIVE',
    discount: { type: 'PERCENTAGE', percentage: '10' },
    duration: { type: 'FOREVER' },
  })

test('the coupons of a DRAFT go with it to another customer, unless a code of it is for other customers', async () => {
  const [own, other] = [await a.seed.make(customerResource), await a.seed.make(customerResource)]
  const one = await coupon()
  const version = await makeVersion(a)
  const limited = await succeed(a, 'POST', '/v1/promotion-codes', {
    coupon_id: one['id'],
    status: 'ACTIVE',
    limited_to: { customer_ids: [own.id] },
  })
  const open = await coupon()
  const url = (subscription: string) => `/v1/pricing-plan-subscriptions/${subscription}`
  const subscription = await makeSubscription(a)
  await succeed(a, 'PATCH', url(subscription), { customer_id: own.id })
  const schedule = await makeSchedule(a, subscription, '2026-03-01T00:00:00Z', {
    pricing_plan_version_id: version,
    promotion_codes: [limited['code']],
    coupon_ids: [open['id']],
  })
  const redeemers = async (of: Row) =>
    (await succeed(a, 'GET', `/v1/coupons/${of['id']}/redemptions`))['data'].map((row: Row) => row['customer_id'])
  expect(refusal(await a.call('PATCH', url(subscription), { customer_id: other.id }))).toEqual([
    400,
    'INVALID_FIELD',
    'customer_id',
  ])
  expect([await redeemers(one), await redeemers(open)]).toEqual([[own.id], [own.id]])
  await succeed(a, 'PATCH', `/v1/pricing-plan-schedules/${schedule}`, { promotion_codes: null })
  await succeed(a, 'PATCH', url(subscription), { customer_id: other.id })
  expect([await redeemers(one), await redeemers(open)]).toEqual([[], [other.id]])
})
