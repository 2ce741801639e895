// A PATCH of a subscription or its schedule while a billing run makes an invoice FINAL. Before the run holds them, the invoice follows the
// change. Once it does, the change waits: the FINAL invoice is without it, and the next one has it, or it is refused by its field.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import type { Answer, ApiHarness, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { startAt } from '../../subscriptions/testing/start-at.ts'
import { untilItWaits } from '../../subscriptions/testing/until-it-waits.ts'
import { billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'
import { runBilling } from './run-billing.ts'

let api: ApiHarness
let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

const S = '/v1/pricing-plan-subscriptions'
const H = '/v1/pricing-plan-schedules'
const at = (time: string): void => api.clock.set(instantOf(Date.parse(time)))

type Given = { readonly id: string; readonly schedule: string }
type Patch = (given: Given) => Promise<Answer>

/** Its invoices in their order, in short. */
async function invoicesOf({ id }: Given): Promise<Row[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${id}&include_lines=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  return data.toSorted((a, b) => (a['billing_period_date'] < b['billing_period_date'] ? -1 : 1))
}

/** A run on 3 April that makes the invoice of 1 April FINAL, with the PATCH sent when the run is at `moment`. */
async function beside(moment: 'billing.before-invoice' | 'invoices.before-commit', patch: Patch) {
  at('2026-03-11T10:00:00Z')
  const { subscriptionId: id } = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
  const [{ id: schedule }] = (await succeed(tenant, 'GET', `${H}?pricing_plan_subscription_id=${id}`))['data']
  const given = { id, schedule }
  const deps = { database: api.database, usage: NO_USAGE }
  at('2026-04-01T01:00:00Z')
  await runBilling(deps, tenant.tenant, id)
  at('2026-04-03T00:00:00Z')
  const sent: Promise<Answer>[] = []
  const failpoint = async (name: string): Promise<void> => {
    if (name === moment && sent.length === 0) sent.push((await untilItWaits(api, () => patch(given))).answer)
  }
  await runBilling({ ...deps, failpoint }, tenant.tenant, id)
  const [answer] = await Promise.all(sent)
  const [, closed] = await invoicesOf(given)
  await runBilling(deps, tenant.tenant, id)
  const [first, same, open, ...more] = await invoicesOf(given)
  expect([first?.['status'], same?.['status'], open?.['status'], more]).toEqual(['FINAL', 'FINAL', 'OPEN', []])
  // A FINAL invoice never changes.
  expect(same).toEqual(closed)
  const verified = await succeed(tenant, 'POST', `/v1/invoices/${closed?.['id']}/verify`)
  expect(verified).toMatchObject({ identical: true, differences: [] })
  return { answer, closed, open }
}

const PATCHES: readonly [string, Patch, (invoice: Row | undefined) => unknown, before: unknown, after: unknown][] = [
  [
    'the PO number',
    ({ id }) => tenant.call('PATCH', `${S}/${id}`, { purchase_order_number: 'PO-7' }),
    invoice => invoice?.['purchase_order_number'] ?? null,
    null,
    'PO-7',
  ],
  [
    'when an invoice is due',
    ({ id }) =>
      tenant.call('PATCH', `${S}/${id}`, {
        due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: 5 } },
      }),
    invoice =>
      invoice?.['due_date'] && (Date.parse(invoice['due_date']) - Date.parse(invoice['invoice_date'])) / 86_400_000,
    30,
    5,
  ],
  [
    'the end of the schedule',
    ({ schedule }) => tenant.call('PATCH', `${H}/${schedule}`, { end_at: '2026-04-16T00:00:00Z' }),
    invoice => invoice?.['tax_summary'].base_amount.quantity,
    '100.00',
    '50.00',
  ],
]

describe('a change that comes while usage is read', () => {
  test.each(PATCHES)('of %s is on the invoice that becomes FINAL', async (_name, patch, shown, _before, after) => {
    const { answer, closed } = await beside('billing.before-invoice', patch)
    expect(answer?.status, JSON.stringify(answer?.body)).toBe(200)
    expect(shown(closed)).toEqual(after)
  })

  test('of a discount too', async () => {
    const discount = { totals: [{ percentage: '10' }] }
    const { answer, closed } = await beside('billing.before-invoice', ({ schedule }) =>
      tenant.call('PATCH', `${H}/${schedule}`, { discount }),
    )
    expect([answer?.status, closed?.['tax_summary'].base_amount.quantity]).toEqual([200, '90.00'])
  })
})

describe('a change that comes while the invoice is being made FINAL', () => {
  test.each(PATCHES.slice(0, 2))('of %s is on the next one', async (_name, patch, shown, before, after) => {
    const { answer, closed, open } = await beside('invoices.before-commit', patch)
    expect(answer?.status, JSON.stringify(answer?.body)).toBe(200)
    expect([shown(closed), shown(open)]).toEqual([before, after])
  })

  test('of the end of the schedule leaves what was charged ahead, and ends it', async () => {
    const { answer, closed, open } = await beside('invoices.before-commit', ({ schedule }) =>
      tenant.call('PATCH', `${H}/${schedule}`, { end_at: '2026-04-16T00:00:00Z' }),
    )
    expect(answer?.status, JSON.stringify(answer?.body)).toBe(200)
    expect([closed, open].map(invoice => invoice?.['tax_summary'].base_amount.quantity)).toEqual(['100.00', '0.00'])
  })
})

test('a run whose inputs change each time tries five times, over 0.75 s at least, and the next one finishes', async () => {
  at('2026-03-11T10:00:00Z')
  const { subscriptionId: id } = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
  const attempts: number[] = []
  const failpoint = async (name: string): Promise<void> => {
    if (name !== 'billing.before-invoice') return
    attempts.push(performance.now())
    // Past the api, whose own work would take time between the attempts.
    const statement = 'update pricing_plan_subscriptions set purchase_order_number = $2 where id = $1'
    await api.sql(statement, [id, `PO-${attempts.length}`])
  }
  const deps = { database: api.database, usage: NO_USAGE }
  await expect(runBilling({ ...deps, failpoint }, tenant.tenant, id)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  })
  const [first = 0] = attempts
  expect(attempts).toHaveLength(5)
  expect((attempts.at(-1) ?? 0) - first).toBeGreaterThan(740)
  await runBilling(deps, tenant.tenant, id)
  expect((await invoicesOf({ id, schedule: '' }))[0]?.['purchase_order_number']).toBe('PO-5')
})
