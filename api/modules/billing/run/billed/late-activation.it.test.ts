// A schedule that is activated only after billing had ended where it starts: the rest of the period has an invoice of its own.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { type Billed, billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import { runBilling } from '../run-billing.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const SCHEDULES = '/v1/pricing-plan-schedules'
const setTime = (text: string): void => api.clock.set(Date.parse(text))
const run = ({ subscriptionId }: Billed) =>
  runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)

/** Of each invoice: its status, what it is for, and its amount, in the order of time. */
async function invoices(billed: Billed): Promise<string[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true&include_periods=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  return data
    .filter(({ status }) => status !== 'ARCHIVED')
    .map(invoice => {
      const times = invoice['periods'].map(
        (period: Row) => `${String(period['start_at']).slice(0, 10)} to ${String(period['end_at']).slice(0, 10)}`,
      )
      return `${times.join(', ')} ${invoice['status']} ${invoice['invoice_amount_excluding_tax'].quantity}`
    })
    .toSorted()
}

/** A fee of 280 a month from February, whose schedule ends on the 11th, and the draft that starts there, activated at `activated`. */
async function continued(feeConfig: Record<string, unknown>, activated: string): Promise<Billed> {
  setTime('2026-02-01T00:00:00Z')
  const billed = await billedSubscription(tenant, {
    start_at: '2026-02-01T00:00:00Z',
    fee: '280',
    feeConfig,
    subscription: { billing_time: 'CALENDAR' },
  })
  await run(billed)
  setTime('2026-02-05T00:00:00Z')
  const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${billed.subscriptionId}`)
  const draft = await succeed(tenant, 'POST', `${SCHEDULES}?set_previous_end_at=true`, {
    pricing_plan_subscription_id: billed.subscriptionId,
    pricing_plan_version_id: data[0].pricing_plan_version_id,
    start_at: '2026-02-11T00:00:00Z',
  })
  for (const time of ['2026-02-05T01:00:00Z', '2026-02-11T12:00:00Z', '2026-02-13T00:00:00Z']) {
    if (time > activated) continue
    setTime(time)
    await run(billed)
  }
  setTime(activated)
  await succeed(tenant, 'POST', `${SCHEDULES}/${draft['id']}/activate`)
  await run(billed)
  return billed
}

/** Runs until March has been issued. */
async function untilApril(billed: Billed): Promise<string[]> {
  for (const time of ['2026-04-01T12:00:00Z', '2026-04-03T00:00:00Z']) {
    setTime(time)
    await run(billed)
    await run(billed)
  }
  return await invoices(billed)
}

const [IN_TIME, LATE, A_PERIOD_LATE] = ['2026-02-06T00:00:00Z', '2026-02-15T00:00:00Z', '2026-03-20T00:00:00Z']
const MARCH = ['2026-03-01 to 2026-04-01 FINAL 280.00', '2026-04-01 to 2026-05-01 OPEN 280.00']
const IN_PARTS = ['2026-02-01 to 2026-02-11 FINAL 100.00', '2026-02-11 to 2026-03-01 FINAL 180.00', ...MARCH]

test.each([
  [IN_TIME, ['2026-02-01 to 2026-02-11, 2026-02-11 to 2026-03-01 FINAL 280.00', ...MARCH]],
  [LATE, IN_PARTS],
  [A_PERIOD_LATE, IN_PARTS],
])('a fee in arrears is charged for each day once: a draft activated at %s', async (activated, expected) => {
  expect(await untilApril(await continued({ billing_in_advance: false }, activated))).toEqual(expected)
})

test.each([IN_TIME, LATE, A_PERIOD_LATE])('a fee ahead is charged too: a draft activated at %s', async activated => {
  expect(await untilApril(await continued({}, activated))).toEqual([
    '2026-02-01 to 2026-02-11 FINAL 100.00',
    '2026-02-11 to 2026-03-01, 2026-03-01 to 2026-04-01 FINAL 460.00',
    '2026-04-01 to 2026-05-01 FINAL 280.00',
    '2026-05-01 to 2026-06-01 OPEN 280.00',
  ])
})
