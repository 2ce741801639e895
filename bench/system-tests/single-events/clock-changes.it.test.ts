// Monthly invoices of usage in every hour, where clocks change in spring and in autumn: each hour is on the invoice of its local month,
// once, from single events and from roll-ups.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findStaleBuckets, rollBuckets } from '../../../aggregator/rollups/roll-buckets.ts'
import { findStaleDays, rollDays } from '../../../aggregator/rollups/roll-days.ts'
import { eventLineOf } from '../../../aggregator/testing.ts'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, openEventsRig } from './rig.ts'

const HOUR = 3_600_000

let rig: EventsRig
beforeAll(async () => {
  rig = await openEventsRig()
}, 120_000)
afterAll(() => rig?.close())

/** Two usages in each hour: one token as it begins, and a thousandth in its last millisecond. */
async function useHourly(billed: Billed, from: number, to: number): Promise<void> {
  const of = { ...rig.tenant.tenant, customerKey: billed.customerReference, meterReference: billed.meterReference }
  const { valueReference } = billed
  const lines = Array.from({ length: (to - from) / HOUR }, (_, hour) => {
    const start = from + hour * HOUR
    return [
      eventLineOf({ ...of, valueReference, reference: rig.reference(), timestampMs: start, quantity: '1' }),
      eventLineOf({
        ...of,
        valueReference,
        reference: rig.reference(),
        timestampMs: start + HOUR - 1,
        quantity: '0.001',
      }),
    ]
  }).flat()
  await rig.aggregator.publish(lines)
  await rig.aggregator.settle()
}

/** A month as an invoice has it: from, to, what its usage and its fee came to. */
type Month = readonly [start: string, end: string, usage: string, fee: string]

/** The first two months; the fee of one is on the invoice before that of its usage. */
async function billedMonths(billed: Billed): Promise<Month[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true`
  const { data } = await succeed(rig.tenant, 'GET', url)
  const periods: Row[] = data.flatMap((invoice: Row) => invoice['periods'])
  const starts = [...new Set(periods.map(period => period['start_at']))].toSorted().slice(0, 2)
  return starts.map(start => {
    const own = periods.filter(period => period['start_at'] === start)
    const lines: Row[] = own.flatMap(period => period['groups'].flatMap((group: Row) => group['lines']))
    const amountOf = (name: string): string =>
      lines
        .filter(({ product_items: [item] }) => item.name === name)
        .map(line => line['amount_excluding_tax'].quantity)
        .join()
    const ends = [...new Set(own.map(period => period['end_at']))]
    return [start, ends.join(), amountOf('Tokens'), amountOf('Platform fee')]
  })
}

// A day has 24 tokens and 0.024; 1,000.00 each.
describe.each<[zone: string, season: string, first: Month, second: Month]>([
  [
    'Europe/Amsterdam',
    'spring',
    // 31 days less an hour, and 30 days.
    ['2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z', '743743.00', '31.00'],
    ['2026-03-31T22:00:00Z', '2026-04-30T22:00:00Z', '720720.00', '31.00'],
  ],
  [
    'Europe/Amsterdam',
    'autumn',
    ['2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z', '745745.00', '31.00'],
    ['2026-10-31T23:00:00Z', '2026-11-30T23:00:00Z', '720720.00', '31.00'],
  ],
  [
    'America/New_York',
    'spring',
    ['2026-03-01T05:00:00Z', '2026-04-01T04:00:00Z', '743743.00', '31.00'],
    ['2026-04-01T04:00:00Z', '2026-05-01T04:00:00Z', '720720.00', '31.00'],
  ],
  [
    'America/New_York',
    'autumn',
    // Clocks go back on 1 November, in the first hours of the month.
    ['2026-10-01T04:00:00Z', '2026-11-01T04:00:00Z', '744744.00', '31.00'],
    ['2026-11-01T04:00:00Z', '2026-12-01T05:00:00Z', '721721.00', '31.00'],
  ],
])('%s in %s', (timezone, _season, first, second) => {
  test('each month has the usage of its hours, and a whole fee', async () => {
    const months = [first, second]
    const [[start], [, end]] = [first, second]
    rig.api.clock.set(ms(start))
    const billed = await billedSubscription(rig.tenant, {
      start_at: start,
      fee: '31',
      bands: [{ amount: { quantity: '1000', currency: 'EUR' } }],
      activate: false,
    })
    await succeed(rig.tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { timezone })
    const { subscriptionId } = billed
    await succeed(rig.tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscriptionId}`, { status: 'ACTIVE' })
    rig.api.clock.set(ms(end))
    // Also a little before and after, which is on neither.
    await useHourly(billed, ms(start) - 3 * HOUR, ms(end) + 2 * HOUR)

    // The months are DRAFT by then, of single events.
    for (const [, cutoff] of months) {
      rig.api.clock.set(ms(cutoff))
      await runBilling(rig.billing, rig.tenant.tenant, subscriptionId)
    }
    expect(await billedMonths(billed)).toEqual(months)
    await rollBuckets(rig.aggregator.client, await findStaleBuckets(rig.aggregator.client, 100_000))
    await rollDays(rig.aggregator.client, await findStaleDays(rig.aggregator.client, 100_000))
    rig.api.clock.set(ms(end) + 9 * HOUR)
    await runBilling(rig.billing, rig.tenant.tenant, subscriptionId)
    expect(await billedMonths(billed)).toEqual(months)
  })
})
