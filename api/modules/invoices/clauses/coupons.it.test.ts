// A coupon from its promotion code to FINAL invoices, billed by itself and in a group (semantics 2).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import type { BillingDeps } from '../../billing/run/compute-invoice.ts'
import { runGroup } from '../../billing/run/group/run-group.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
let deps: BillingDeps
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.bLive
  const read = async () => [{ currency: null, number: decimal('200000'), count: 2 }]
  deps = { database: api.database, usage: { ...NO_USAGE, read } }
})
afterAll(() => api?.close())

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const START = '2026-03-01T00:00:00Z'
const NOW = '2026-05-10T00:00:00Z'
/** When what was made then is past its grace. */
const LATER = '2026-05-12T00:00:00Z'

async function invoicesOf(subscriptionId: string): Promise<Row[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_lines=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  return data.toSorted((a, b) => (String(a['period_start']) < String(b['period_start']) ? -1 : 1))
}
const discountsOf = (invoice: Row): Row[] =>
  invoice['periods'].flatMap((period: Row) =>
    period['groups'].flatMap((group: Row) => group['lines'].filter((line: Row) => line['type'] === 'DISCOUNT')),
  )

test('deducts on its invoices up to FINAL, and a group has those that each has by itself', async () => {
  setTime(NOW)
  const coupon = await succeed(tenant, 'POST', '/v1/coupons', {
    reference: tenant.seed.unique('spring'),
    name: 'Spring',
    status: 'ACTIVE',
    discount: { type: 'PERCENTAGE', percentage: '10' },
    duration: { type: 'PERIOD', period: { type: 'MONTH', value: 1 } },
  })
  const code = await succeed(tenant, 'POST', '/v1/promotion-codes', { coupon_id: coupon['id'], status: 'ACTIVE' })
  const text = String(code['code']).toLowerCase()
  const ids: string[] = []
  for (let place = 0; place < 3; place += 1) {
    const schedule = async () => ({ promotion_codes: [text] })
    ids.push((await billedSubscription(tenant, { start_at: START, schedule })).subscriptionId)
  }
  const [alone = '', ...grouped] = ids
  for (const time of [NOW, LATER]) {
    setTime(time)
    await runBilling(deps, tenant.tenant, alone)
    const outcomes = await runGroup(deps, tenant.tenant, grouped)
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['DONE', 'DONE'])
  }
  const said = (invoice: Row) => [
    invoice['status'],
    String(invoice['period_start']).slice(0, 7),
    invoice['invoice_amount_excluding_tax'].quantity,
    discountsOf(invoice).map(line => line['amount_excluding_tax'].quantity),
    invoice['coupons'],
    invoice['promotion_codes'],
  ]
  const used = [
    [{ coupon_id: coupon['id'], coupon_name: 'Spring' }],
    [
      {
        coupon_id: coupon['id'],
        promotion_code_details: { promotion_code_id: code['id'], code: code['code'] },
      },
    ],
  ]
  for (const id of ids) {
    const all = (await invoicesOf(id)).map(said)
    // 200,000 at 0.015 a thousand are 3.00; the coupon lasts for March.
    expect(all.slice(0, 2)).toEqual([
      ['FINAL', '2026-03', '2.70', ['-0.30'], ...used],
      ['FINAL', '2026-04', '3.00', [], undefined, undefined],
    ])
  }
  const [march] = await invoicesOf(alone)
  const read = await succeed(tenant, 'GET', `/v1/invoices/${march?.['id']}`)
  expect([read['coupons'], read['promotion_codes']]).toEqual(used)
  const listed = await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${alone}`)
  expect(listed['data'].some((row: Row) => 'coupons' in row)).toBe(false)
  expect((await succeed(tenant, 'GET', `/v1/coupons/${coupon['id']}`))['number_of_redemptions']).toBe(3)
})
