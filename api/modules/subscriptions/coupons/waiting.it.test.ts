// A coupon that is given to an ACTIVE schedule which has not begun.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestTenant } from '../../../testing/harness.ts'
import { makeSchedule, makeSubscription, succeed } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

test('counts from the start of the schedule, as on a DRAFT: a month of it is not over before that', async () => {
  const coupon = await succeed(tenant, 'POST', '/v1/coupons', {
    reference: tenant.seed.unique('coupon'),
    name: 'Welcome',
    status: 'ACTIVE',
    discount: { type: 'PERCENTAGE', percentage: '10' },
    duration: { type: 'PERIOD', period: { type: 'MONTH', value: 1 } },
  })
  const id = await makeSubscription(tenant)
  // Midnight in the zone of the billing entity.
  const start_at = '2026-05-09T22:00:00Z'
  const schedule = await makeSchedule(tenant, id, start_at)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  const patch = (body: object) => succeed(tenant, 'PATCH', `/v1/pricing-plan-schedules/${schedule}`, body)
  const timeOf = async (body: object) => {
    const [total] = (await patch(body))['coupon_discount'].totals
    return [total.start_at, total.end_at]
  }
  expect(await timeOf({ coupon_ids: [coupon['id']] })).toEqual([start_at, '2026-06-09T22:00:00Z'])
  expect(await timeOf({ start_at: '2026-05-19T22:00:00Z' })).toEqual(['2026-05-19T22:00:00Z', '2026-06-19T22:00:00Z'])
})
