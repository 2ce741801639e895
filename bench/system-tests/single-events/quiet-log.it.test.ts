// What a billing run asks ClickHouse where nothing is on its way: how far usage can be read, and the usage.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { UsageReader } from '../../../api/modules/billing/usage/usage-reader.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, openEventsRig, START, tokensOf } from './rig.ts'

let rig: EventsRig
beforeAll(async () => {
  rig = await openEventsRig()
})
afterAll(() => rig?.close())

const PRICE = { pricing_type: 'FLAT', bands: [{ amount: { quantity: '1', currency: 'EUR' } }] }

/** The reader, which notes what it is asked. */
function noting(usage: UsageReader, asked: string[]): UsageReader {
  const noted = <Name extends keyof UsageReader>(name: Name): UsageReader[Name] =>
    ((...args: unknown[]) => {
      asked.push(name)
      return (usage[name] as (...args: unknown[]) => unknown)(...args)
    }) as UsageReader[Name]
  return Object.fromEntries(
    (Object.keys(usage) as (keyof UsageReader)[]).map(name => [name, noted(name)]),
  ) as UsageReader
}

test('a run asks once how far usage can be read, and about closed time only when something was accepted since', async () => {
  const { tenant, billing, api } = rig
  const own = await billedSubscription(tenant, { start_at: START, ...PRICE })
  const send = async (timestamp: string): Promise<void> => {
    const event = { ...tokensOf(own, rig.reference()), quantity: '1' }
    await rig.send({ ...event, timestampMs: ms(timestamp), receivedAtMs: api.clock.now() })
  }
  const bill = async (time: string): Promise<string[]> => {
    api.clock.set(ms(time))
    const asked: string[] = []
    await runBilling({ ...billing, usage: noting(billing.usage, asked) }, tenant.tenant, own.subscriptionId)
    return asked
  }
  await send('2026-03-04T00:00:00Z')
  await send('2026-04-04T00:00:00Z')
  const closing = ['progress', 'read', 'endsAt']
  expect(await bill('2026-03-10T00:00:00Z')).toEqual(['progress', 'read'])
  // March ends, becomes FINAL, and is closed time for the runs of April.
  expect((await bill('2026-04-01T01:00:00Z')).toSorted()).toEqual(['progress', 'read', 'read'])
  expect((await bill('2026-04-02T00:00:00Z')).toSorted()).toEqual([...closing, 'read'].toSorted())
  expect(await bill('2026-04-20T00:00:00Z')).toEqual(['progress', 'read'])
  await send('2026-03-05T00:00:00Z')
  expect((await bill('2026-04-21T00:00:00Z')).toSorted()).toEqual(['changedSince', 'progress', 'read', 'read'])
  await bill('2026-05-01T01:00:00Z')
  await bill('2026-05-02T00:00:00Z')
  const { data } = await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}`)
  const final = data.filter(({ status }: Row) => status === 'FINAL')
  // The late event is on the invoice of April.
  expect(final.map((invoice: Row) => invoice['invoice_amount_excluding_tax'].quantity).toSorted()).toEqual([
    '1.00',
    '2.00',
  ])
})
