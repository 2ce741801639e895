// A coupon that goes along to a later schedule began on the schedule before. It changes no invoice before the later schedule starts.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { runBilling } from '../run/run-billing.ts'
import { billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

const SCHEDULES = '/v1/pricing-plan-schedules'
const setTime = (text: string): void => api.clock.set(Date.parse(text))

/** A fee of 100 ahead with a tenth off; March is FINAL, and the time is in April. */
async function discounted() {
  setTime('2026-03-01T00:00:00Z')
  const coupon = await succeed(tenant, 'POST', '/v1/coupons', {
    reference: tenant.seed.unique('coupon'),
    name: 'Welcome',
    status: 'ACTIVE',
    discount: { type: 'PERCENTAGE', percentage: '10' },
    duration: { type: 'FOREVER' },
  })
  const { subscriptionId } = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    fee: '100',
    schedule: async () => ({ coupon_ids: [coupon['id']] }),
  })
  const bill = () => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)
  for (const time of ['2026-03-02T12:00:00Z', '2026-04-02T12:00:00Z']) {
    setTime(time)
    await bill()
  }
  const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${subscriptionId}`)
  return { subscriptionId, schedule: data[0], bill }
}

test.each(['copy', 'migrate'])(
  '%s takes a coupon along that FINAL invoices have, and invoices go on with it',
  async how => {
    const { subscriptionId, schedule, bill } = await discounted()
    const made = await succeed(tenant, 'POST', `${SCHEDULES}/${schedule.id}/${how}?set_previous_end_at=true`, {
      start_at: '2026-05-01T00:00:00Z',
      coupon_discount_behaviour: 'CARRY_OVER',
      ...(how === 'migrate' ? { pricing_plan_version_id: schedule.pricing_plan_version_id } : {}),
    })
    expect(made['coupon_discount'].totals[0].start_at).toBe('2026-03-01T00:00:00Z')
    await succeed(tenant, 'POST', `${SCHEDULES}/${made['id']}/activate`)
    setTime('2026-05-02T12:00:00Z')
    await bill()
    const fees = await api.sql(
      `select to_char(cutoff_at at time zone 'UTC', 'MM-DD') as cutoff, amount_excluding_tax::float as amount from invoices
     where pricing_plan_subscription_id = $1 and status = 'FINAL' order by cutoff_at`,
      [subscriptionId],
    )
    expect(fees.map(({ cutoff, amount }) => [cutoff, amount])).toEqual([
      ['03-01', 90],
      ['04-01', 90],
      ['05-01', 90],
    ])
  },
)
