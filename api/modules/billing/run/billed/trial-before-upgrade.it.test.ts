// A trial that ran while invoices still began with it: then what follows the trial was charged ahead on the day the trial began.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimal } from '../../../../../shared/decimal.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import type { UsageReader } from '../../usage/usage-reader.ts'
import { runBilling } from '../run-billing.ts'

/** 1,000 tokens whenever they are read: 0.02 for each time that an invoice collects. */
const usage: UsageReader = { ...NO_USAGE, read: async () => [{ currency: null, number: decimal('1000'), count: 1 }] }

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage })
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)

/** Since 1 January in a trial, and then on a plan with a fee of 31 a month ahead. */
async function trial(end: string): Promise<string> {
  setTime('2026-01-01T01:00:00Z')
  const { subscriptionId: other } = await billedSubscription(tenant, { start_at: '2026-01-01T00:00:00Z', fee: '31' })
  const [sold] = (await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${other}`))[
    'data'
  ]
  const { subscriptionId } = await billedSubscription(tenant, {
    start_at: '2026-01-01T00:00:00Z',
    schedule: async () => ({ type: 'TRIAL', end_at: end }),
    activate: false,
  })
  await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscriptionId,
    pricing_plan_version_id: sold.pricing_plan_version_id,
    start_at: end,
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscriptionId}`, { status: 'ACTIVE' })
  return subscriptionId
}

/** The plan of the trial charges nothing ahead, so without its type it is invoiced as a trial was then. */
const asThen = async (id: string, work: () => Promise<void>) => {
  const store = (type: string) =>
    api.sql(
      `update pricing_plan_schedules set type = $2 where pricing_plan_subscription_id = $1 and end_at is not null`,
      [id, type],
    )
  await store('DEFAULT')
  await work()
  await store('TRIAL')
}

async function billed(id: string, times: readonly string[]): Promise<void> {
  for (const time of times) {
    setTime(time)
    await runBilling({ database: api.database, usage }, tenant.tenant, id)
  }
}

/** What is billed: neither OPEN nor VOID. */
async function linesOf(id: string): Promise<string[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${id}&include_lines=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  const order = (invoice: Row): string => `${invoice['updated_to_final_at'] ?? 'open'} ${invoice['created_at']}`
  return data
    .filter(({ status }) => status !== 'VOID' && status !== 'OPEN')
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
    .flatMap(invoice => [
      `${invoice['status']} ${String(invoice['updated_to_final_at']).slice(0, 10)}`,
      ...(invoice['periods'] ?? []).flatMap(({ start_at, end_at, groups }: Row) =>
        groups.flatMap(({ lines }: Row) =>
          lines.map(
            (line: Row) =>
              `- ${line['description']} ${start_at.slice(0, 10)}..${end_at.slice(0, 10)} ${line['amount_excluding_tax'].quantity}`,
          ),
        ),
      ),
    ])
}

/** From the day after the upgrade to 2 March. */
async function afterUpgrade(id: string): Promise<string[]> {
  const days = ['01-02', '01-03', '01-15', '01-16', '02-01', '02-02', '02-15', '02-16', '03-01', '03-02']
  await billed(
    id,
    days.map(day => `2026-${day}T03:00:00Z`),
  )
  return await linesOf(id)
}

const FEBRUARY = [
  'FINAL 2026-02-02',
  '- Tokens 2026-01-15..2026-02-01 0.02',
  '- Platform fee 2026-02-01..2026-03-01 31.00',
]
const MARCH = [
  'FINAL 2026-03-02',
  '- Tokens 2026-02-01..2026-03-01 0.02',
  '- Platform fee 2026-03-01..2026-04-01 31.00',
]

test.each([
  [
    'FINAL stays, and each day is charged once',
    '2026-01-15T00:00:00Z',
    ['2026-01-01T02:00:00Z', '2026-01-02T02:00:00Z'],
    ['FINAL 2026-01-02', '- Platform fee 2026-01-15..2026-02-01 17.00', ...FEBRUARY, ...MARCH],
  ],
  [
    'a DRAFT becomes VOID, and its fee is charged when the trial ends',
    '2026-01-15T00:00:00Z',
    ['2026-01-01T02:00:00Z'],
    ['FINAL 2026-01-16', '- Platform fee 2026-01-15..2026-02-01 17.00', ...FEBRUARY, ...MARCH],
  ],
  [
    'OPEN becomes VOID where the trial lasts longer than its period',
    '2026-02-15T00:00:00Z',
    ['2026-01-01T02:00:00Z', '2026-01-02T02:00:00Z'],
    [
      'FINAL 2026-02-16',
      '- Platform fee 2026-02-15..2026-03-01 15.50',
      'FINAL 2026-03-02',
      '- Tokens 2026-02-15..2026-03-01 0.02',
      '- Platform fee 2026-03-01..2026-04-01 31.00',
    ],
  ],
])('what was invoiced since the first day of the trial: %s', async (_which, end, then, expected) => {
  const id = await trial(end)
  await asThen(id, () => billed(id, then))
  expect(await api.sql('select 1 from invoices where pricing_plan_subscription_id = $1', [id])).not.toEqual([])
  expect(await afterUpgrade(id)).toEqual(expected)
})
