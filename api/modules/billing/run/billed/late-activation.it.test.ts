// A schedule that is activated only after billing had ended where it starts: the rest of the period has an invoice of its own.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestTenant } from '../../../../testing/harness.ts'
import { type Billed, succeed } from '../../testing/billed-subscription.ts'
import { type Continued, type LateRig, startLate } from './testing/late-activation.ts'

let rig: LateRig
beforeAll(async () => {
  rig = await startLate()
})
afterAll(() => rig?.api.close())

const ARREARS = { billing_in_advance: false }

const [IN_TIME, LATE, A_PERIOD_LATE] = ['2026-02-06T00:00:00Z', '2026-02-15T00:00:00Z', '2026-03-20T00:00:00Z']
const MARCH = ['2026-03-01 to 2026-04-01 FINAL 280.00', '2026-04-01 to 2026-05-01 OPEN 280.00']
const IN_PARTS = ['2026-02-01 to 2026-02-11 FINAL 100.00', '2026-02-11 to 2026-03-01 FINAL 180.00', ...MARCH]

test.each([
  [IN_TIME, ['2026-02-01 to 2026-02-11, 2026-02-11 to 2026-03-01 FINAL 280.00', ...MARCH]],
  [LATE, IN_PARTS],
  [A_PERIOD_LATE, IN_PARTS],
])('a fee in arrears is charged for each day once: a draft activated at %s', async (activated, expected) => {
  expect(await rig.untilApril(await rig.continued({ feeConfig: ARREARS, activated }))).toEqual(expected)
})

test.each([IN_TIME, LATE, A_PERIOD_LATE])('a fee ahead is charged too: a draft activated at %s', async activated => {
  expect(await rig.untilApril(await rig.continued({ feeConfig: {}, activated }))).toEqual([
    '2026-02-01 to 2026-02-11 FINAL 100.00',
    '2026-02-11 to 2026-03-01, 2026-03-01 to 2026-04-01 FINAL 460.00',
    '2026-04-01 to 2026-05-01 FINAL 280.00',
    '2026-05-01 to 2026-06-01 OPEN 280.00',
  ])
})

const pause = (billed: Billed) =>
  succeed(rig.tenant, 'POST', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}/pause`, {
    end_at: '2026-02-21T00:00:00Z',
  })
const couponOf = async (tenant: TestTenant) => {
  const discount = { type: 'AMOUNT', amount: { quantity: '50', currency: 'EUR' } }
  const coupon = { reference: tenant.seed.unique('coupon'), name: 'Welcome', status: 'ACTIVE', discount }
  const { id } = await succeed(tenant, 'POST', '/v1/coupons', { ...coupon, duration: { type: 'ONE_TIME' } })
  return { coupon_ids: [id] }
}

// What the prices and clauses of schedules make of the rest of a period: api/modules/billing/pricing/rest-of-a-period.test.ts.
test.each<[title: string, of: Partial<Continued>, rest: string]>([
  [
    'of a schedule that is made only then, with a coupon for one invoice',
    { madeLate: true, draft: couponOf },
    '130.00',
  ],
  ['less the days of a pause that was set in between', { calls: [['2026-02-14T00:00:00Z', pause]] }, '110.00'],
])('the rest of a period is charged %s', async (_title, of, rest) => {
  const billed = await rig.continued({ feeConfig: ARREARS, activated: LATE, ...of })
  const [first, ...next] = IN_PARTS
  expect(await rig.untilApril(billed)).toEqual([first, `2026-02-11 to 2026-03-01 FINAL ${rest}`, ...next.slice(1)])
})

test.each<[title: string, of: Partial<Continued>]>([
  ['in its grace period', { activated: '2026-02-11T06:00:00Z' }],
  ['on hold', { subscription: { init_invoice_on_hold: true } }],
])('an invoice of the first part that is a DRAFT, %s, becomes one of the whole period', async (_title, of) => {
  const billed = await rig.continued({ feeConfig: ARREARS, activated: LATE, ...of })
  expect(await rig.invoices(billed)).toEqual(['2026-02-01 to 2026-02-11, 2026-02-11 to 2026-03-01 OPEN 280.00'])
})
