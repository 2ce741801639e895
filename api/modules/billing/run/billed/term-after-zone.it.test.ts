// The end of a subscription that is not renewed, after the time zone changed that its days are cut in.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { type Billed, billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import { runGroup } from '../group/run-group.ts'
import { settleCancelled } from '../jobs/group-jobs.ts'
import { runBilling } from '../run-billing.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const pathOf = ({ subscriptionId }: Billed) => `/v1/pricing-plan-subscriptions/${subscriptionId}`

const endOf = async (billed: Billed) => (await succeed(tenant, 'GET', pathOf(billed)))['inactive_periods'][0].start_at

/** As the worker does it. */
async function run(billed: Billed, time: string): Promise<void> {
  setTime(time)
  await settleCancelled(api.database, tenant.tenant, billed.subscriptionId)
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, billed.subscriptionId)
}

const JANUARY = '2026-01-01T00:00:00Z'

/** A fee of 100 a month in arrears, agreed for three months from January on in UTC. January is issued. */
async function agreed(): Promise<Billed> {
  setTime(JANUARY)
  const billed = await billedSubscription(tenant, {
    start_at: JANUARY,
    fee: '100',
    feeConfig: { billing_in_advance: false },
    subscription: { initial_term: { type: 'MONTH', value: 3 }, auto_renewal: false },
  })
  for (const time of ['2026-01-02T00:00:00Z', '2026-02-02T00:00:00Z', '2026-02-10T00:00:00Z']) await run(billed, time)
  expect(await invoicesOf(billed)).toEqual(['2026-01-01 FINAL 100.00', '2026-02-01 OPEN 100.00'])
  return billed
}

const moveTo = ({ customerId }: Billed, timezone: string) =>
  succeed(tenant, 'PATCH', `/v1/customers/${customerId}`, { timezone })

async function invoicesOf({ subscriptionId }: Billed): Promise<string[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_periods=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  return data
    .filter(({ status }) => status !== 'ARCHIVED')
    .map(({ periods, status, invoice_amount_excluding_tax: amount }) =>
      [String(periods[0].start_at).slice(0, 10), status, amount.quantity].join(' '),
    )
    .toSorted()
}

const TIMES = ['2026-03-31T11:00:00Z', '2026-04-01T00:00:00Z', '2026-04-01T04:00:00Z', '2026-04-20T00:00:00Z']

test.each([
  ['Pacific/Auckland', '2026-03-31T11:00:00Z', TIMES],
  ['America/New_York', '2026-04-01T04:00:00Z', TIMES],
  // Billed late: the end has passed by either zone.
  ['Pacific/Auckland', '2026-03-31T11:00:00Z', [...TIMES.slice(3), '2026-04-22T00:00:00Z']],
  ['America/New_York', '2026-04-01T04:00:00Z', [...TIMES.slice(3), '2026-04-22T00:00:00Z']],
])('moves to the midnight of %s, %s, and every month is charged in full', async (zone, end, times) => {
  const billed = await agreed()
  await moveTo(billed, zone)
  for (const time of times) await run(billed, time)
  expect(await succeed(tenant, 'GET', pathOf(billed))).toMatchObject({
    status: 'CANCELLED',
    inactive_periods: [{ type: 'CANCEL', start_at: end, ends_with_term: true }],
  })
  const firsts = ['2026-01-01', '2026-02-01', '2026-03-01']
  expect(await invoicesOf(billed)).toEqual(firsts.map(first => `${first} FINAL 100.00`))
})

test('moves with the next run, and back again; a time for which it was cancelled stays', async () => {
  const [billed, cancelled] = [await agreed(), await agreed()]
  const cancel_at = '2026-03-15T00:00:00Z'
  await succeed(tenant, 'POST', `${pathOf(cancelled)}/cancel`, { type: 'DATE', cancel_at })
  for (const [zone, end] of [
    ['America/New_York', '2026-04-01T04:00:00Z'],
    ['UTC', '2026-04-01T00:00:00Z'],
  ] as const) {
    for (const each of [billed, cancelled]) {
      await moveTo(each, zone)
      await run(each, '2026-02-11T00:00:00Z')
    }
    expect([await endOf(billed), await endOf(cancelled)]).toEqual([end, cancel_at])
  }
})

test('the ends of a group that is billed together move as well', async () => {
  const both = [await agreed(), await agreed()]
  for (const each of both) await moveTo(each, 'America/New_York')
  setTime('2026-02-11T00:00:00Z')
  const ids = both.map(({ subscriptionId }) => subscriptionId)
  const outcomes = await runGroup({ database: api.database, usage: NO_USAGE }, tenant.tenant, ids)
  expect(ids.map(id => outcomes.get(id)?.kind)).toEqual(['DONE', 'DONE'])
  for (const each of both) expect(await endOf(each)).toBe('2026-04-01T04:00:00Z')
})
