// Subscriptions that combine and end, with a refund, exactly where their issued invoice ends: what it charged ahead comes back once.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { shown } from '../../../wallets/testing/wallets-of.ts'
import { type Billed, succeed } from '../../testing/billed-subscription.ts'
import { type CombiningRig, MARCH, startCombining } from './testing/combining-rig.ts'

const END = '2026-04-01T00:00:00Z'
const LATER = '2026-05-02T00:00:00Z'
let rig: CombiningRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await startCombining()
  tenant = rig.tenant
  const invoice_grace_period = { type: 'CUSTOM', configuration: { value: 0, type: 'HOUR' } }
  await rig.patch(`platforms/${tenant.tenant.platformId}`, { invoice_settings: { invoice_grace_period } })
})
afterAll(() => rig?.api.close())

/** What closes is issued by the run after. */
async function runAt(all: readonly Billed[], time: string): Promise<void> {
  await rig.run(all, time)
  await rig.run(all, time)
}

/** Two with fees of 30 and 60 ahead, whose invoice of March, which charges April, is issued at its end; and that invoice. */
async function issued(): Promise<{ readonly all: readonly [Billed, Billed]; readonly invoice: Row }> {
  const all = await rig.subscribed({ fee: '30' }, { fee: '60' })
  for (const time of [MARCH, END]) await runAt(all, time)
  const invoice = (await rig.invoicesOf(all[0], 'FINAL')).find(each => shown(each).includes('REVENUE 2.00'))
  expect(shown(invoice as Row)).toEqual([
    ...['REVENUE 2.00', 'REVENUE 8.00', 'REVENUE 30.00', 'REVENUE 60.00'],
    ...['100.00', '21.00', '121.00'],
  ])
  return { all, invoice: invoice as Row }
}

const cancelNow = ({ subscriptionId }: Billed) =>
  succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${subscriptionId}/cancel`, {
    type: 'NOW',
    refund_advance_charges: true,
  })

/** The FINAL invoices of a subscription that give something back. */
const refundsOf = async (one: Billed): Promise<Row[]> =>
  (await rig.invoicesOf(one, 'FINAL')).filter(({ type }) => type === 'STANDARD').filter(isRefund)
const isRefund = (invoice: Row): boolean => shown(invoice).some(line => line.startsWith('REVENUE -'))

test('both are refunded together, in one invoice, and never again', async () => {
  const { all } = await issued()
  for (const one of all) await cancelNow(one)
  await runAt(all, END)
  await runAt(all, LATER)
  const refunds = await refundsOf(all[0])
  expect(refunds).toHaveLength(1)
  expect(await refundsOf(all[1])).toEqual(refunds)
  const refund = refunds[0] as Row
  expect(refund['combined_invoice_ids']).toHaveLength(2)
  expect(shown(refund)).toEqual(['REVENUE -30.00', 'REVENUE -60.00', '-90.00', '-18.90', '-108.90'])
  for (const id of [refund['id'], ...refund['combined_invoice_ids']])
    expect(await rig.verified(id)).toMatchObject({ identical: true, differences: [] })
})

test('one is refunded by itself, and the other is charged as before', async () => {
  const { all } = await issued()
  await cancelNow(all[0])
  await runAt(all, END)
  await runAt(all, LATER)
  expect((await refundsOf(all[0])).map(shown)).toEqual([['REVENUE -30.00', '-30.00', '-6.30', '-36.30']])
  expect(await refundsOf(all[1])).toEqual([])
  const charged = (await rig.invoicesOf(all[1], 'FINAL')).map(shown)
  expect(charged).toContainEqual(['REVENUE 8.00', 'REVENUE 60.00', '68.00', '14.28', '82.28'])
})

test('what a credit note of their invoice has credited of one is not refunded again', async () => {
  const { all, invoice } = await issued()
  const [one] = all
  const periods = (invoice['periods'] as Row[]).flatMap(({ period_order, groups }) => {
    const own = (groups as Row[]).filter(
      ({ pricing_plan_subscription_id: id, lines }) =>
        id === one.subscriptionId && lines[0].amount_excluding_tax.quantity === '30.00',
    )
    return own.length === 0 ? [] : [{ period_order, groups: own.map(({ group_order }) => ({ group_order })) }]
  })
  const note = await succeed(tenant, 'POST', `/v1/invoices/${invoice['id']}/credit`, { periods })
  expect(shown(await rig.patch(`invoices/${note['id']}`, { status: 'FINAL' }))).toContain('REVENUE -30.00')
  for (const each of all) await cancelNow(each)
  await runAt(all, END)
  await runAt(all, LATER)
  expect(await refundsOf(one)).toEqual([])
  expect((await refundsOf(all[1])).map(shown)).toEqual([['REVENUE -60.00', '-60.00', '-12.60', '-72.60']])
})
