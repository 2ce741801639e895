// Days left of a fee that a FINAL invoice has given back are not given back again by a credit note on the invoice that charged them.
import { expect, test } from 'vitest'
import { refusalOf } from '../../../testing/calls.ts'
import type { Row } from '../../../testing/wire.ts'
import { billedSubscription } from '../testing/billed-subscription.ts'
import { salesRig } from '../testing/sales-rig.ts'

const rig = salesRig()

/** A fee of 100 for April, cancelled on the 16th; gives the subscription and the invoice of the fee. */
async function refunded(): Promise<{ id: string; fee: Row }> {
  rig.setTime('2026-04-02T01:00:00Z')
  const { subscriptionId: id } = await billedSubscription(rig.tenant, { start_at: '2026-04-01T00:00:00Z', fee: '100' })
  await rig.bill(id, '2026-04-02T01:00:00Z', '2026-04-03T01:00:00Z')
  const [fee] = (await rig.get(`invoices?pricing_plan_subscription_id=${id}&statuses[]=FINAL&include_lines=true`))[
    'data'
  ]
  rig.setTime('2026-04-10T00:00:00Z')
  const cancel = { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z', refund_advance_charges: true }
  await rig.post(`pricing-plan-subscriptions/${id}/cancel`, cancel)
  await rig.bill(id, '2026-04-16T01:00:00Z')
  return { id, fee }
}

test('a credit note after a refund is of what the refund left at most', async () => {
  const { id, fee } = await refunded()
  await rig.bill(id, '2026-04-18T01:00:00Z')
  const credit = (body: object) => rig.tenant.call('POST', `/v1/invoices/${fee['id']}/credit`, body)
  const whole = await credit({})
  expect(refusalOf(whole)).toEqual([400, 'INVALID_FIELD', 'periods'])
  expect(whole.body['message']).toMatch(/gave 60\.5 EUR of it back for the days left, so at most 60\.5 can be credited/)
  const part = (quantity: string) => ({
    periods: [
      {
        period_order: 0,
        groups: [{ group_order: 0, lines: [{ line_order: 0, amount: { quantity, currency: 'EUR' } }] }],
      },
    ],
  })
  expect(refusalOf(await credit(part('50.01'))).slice(0, 2)).toEqual([400, 'INVALID_FIELD'])
  expect((await credit(part('50'))).status).toBe(200)
})

test('while the refund is a DRAFT the credit note takes its place', async () => {
  const { id, fee } = await refunded()
  await rig.post(`invoices/${fee['id']}/credit`, {})
  await rig.bill(id, '2026-04-16T02:00:00Z', '2026-04-18T01:00:00Z')
  const { data } = await rig.get(`invoices?pricing_plan_subscription_id=${id}&statuses[]=FINAL`)
  expect(data.map((invoice: Row) => invoice['invoice_amount_excluding_tax'].quantity)).toEqual(['100.00'])
})
