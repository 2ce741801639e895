// Subscriptions whose invoice for March is FINAL, of events sent through the log.
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, NOW, START, tokensOf } from './rig.ts'

export const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const TIERS = [{ tier_top_bound: { number: '1000' }, amount: eur('0.105') }, { amount: eur('0.08') }]
const DISCOUNT = { discount: { totals: [{ percentage: '10' }] } }

export type ClosedMarch = {
  readonly of: Billed
  /** Of its events, in the order in which they were sent. */
  readonly references: readonly string[]
  readonly invoice: Row
}

/** Bills a subscription as of this time. */
export async function billAt(rig: EventsRig, of: Billed, day: string): Promise<void> {
  rig.api.clock.set(ms(day))
  await runBilling(rig.billing, rig.tenant.tenant, of.subscriptionId)
}

/** Its invoice for March. */
export async function marchOf({ tenant }: EventsRig, of: Billed): Promise<Row> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${of.subscriptionId}&include_lines=true`
  const { data } = await succeed(tenant, 'GET', url)
  const found = data.find((row: Row) => row['period_start'] === START)
  if (!found) throw new Error('March has an invoice')
  return await succeed(tenant, 'GET', `/v1/invoices/${found.id}`)
}

/** A subscription with these events in March, whose invoice is FINAL. */
export async function closedMarch(
  rig: EventsRig,
  quantities: readonly string[],
  options: object = {},
  references: readonly string[] = quantities.map(() => rig.reference()),
): Promise<ClosedMarch> {
  rig.api.clock.set(NOW)
  const of = await billedSubscription(rig.tenant, {
    start_at: START,
    fee: '31',
    pricing_type: 'TIERED',
    bands: TIERS,
    schedule: async () => DISCOUNT,
    ...options,
  })
  await rig.send(
    ...quantities.map((quantity, place) => ({
      ...tokensOf(of, references[place] ?? ''),
      timestampMs: ms('2026-03-04T00:00:00Z') + place * 1_000,
      quantity,
    })),
  )
  await billAt(rig, of, '2026-04-01T01:00:00Z')
  await billAt(rig, of, '2026-04-02T00:00:00Z')
  return { of, references, invoice: await marchOf(rig, of) }
}
