// Pauses with a real database: what they refuse, which subscription gets usage during a pause, and what invoices charge
// (semantics 4.1).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../../shared/database/database.ts'
import { at } from '../../../../../shared/time.ts'
import { refusal } from '../../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { loadAttribution } from '../../../subscriptions/attribution/load-attribution.ts'
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

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const run = ({ subscriptionId }: Billed) =>
  runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)
const call = ({ subscriptionId }: Billed, verb: string, body?: object) =>
  tenant.call('POST', `/v1/pricing-plan-subscriptions/${subscriptionId}/${verb}`, body)
/** A fee of 100 a month in advance since March. */
const feeOfMarch = async (): Promise<Billed> => {
  setTime('2026-03-01T01:00:00Z')
  return await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
}
async function totals(billed: Billed): Promise<string[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&include_lines=true`
  const data: Row[] = (await succeed(tenant, 'GET', url))['data']
  return data.map(invoice => `${invoice['status']} ${invoice['invoice_amount_excluding_tax'].quantity}`).toSorted()
}

describe('pause and resume', () => {
  test('of a running pause ends it; of a future pause cancels it', async () => {
    const billed = await feeOfMarch()
    setTime('2026-03-11T10:00:00Z')
    const paused = await call(billed, 'pause')
    expect(paused).toMatchObject({
      status: 200,
      body: { status: 'ACTIVE', inactive_periods: [{ type: 'PAUSE', start_at: '2026-03-11T10:00:00Z', end_at: null }] },
    })
    expect(refusal(await call(billed, 'pause'))).toEqual([400, 'INVALID_FIELD', 'start_at'])
    setTime('2026-03-16T10:00:00Z')
    const resumed = await call(billed, 'resume')
    const first = { type: 'PAUSE', start_at: '2026-03-11T10:00:00Z', end_at: '2026-03-16T10:00:00Z' }
    expect(resumed.body['inactive_periods']).toEqual([first])
    expect(refusal(await call(billed, 'resume')).slice(0, 2)).toEqual([400, 'INVALID_OPERATION'])
    const ahead = { start_at: '2026-04-01T00:00:00+02:00', end_at: '2026-05-01T00:00:00Z' }
    expect((await call(billed, 'pause', ahead)).body['inactive_periods']).toHaveLength(2)
    expect((await call(billed, 'resume')).body['inactive_periods']).toEqual([first])
  })

  test('refuses what it cannot do, by field', async () => {
    const billed = await feeOfMarch()
    setTime('2026-03-11T10:00:00Z')
    await call(billed, 'pause', { start_at: '2026-04-01T00:00:00Z', end_at: '2026-04-10T00:00:00Z' })
    const cases: [object, string][] = [
      [{ start_at: '2026-03-11T09:00:00Z' }, 'start_at'],
      [{ start_at: '2026-05-01T00:00:00Z', end_at: '2026-05-01T00:00:00Z' }, 'end_at'],
      [{ start_at: '2026-04-05T00:00:00Z', end_at: '2026-04-20T00:00:00Z' }, 'start_at'],
      [{}, 'start_at'],
      [{ end_at: '2026-04-02T00:00:00Z' }, 'start_at'],
      [{ type: 'CANCEL' }, 'type'],
    ]
    for (const [body, field] of cases)
      expect(refusal(await call(billed, 'pause', body))).toEqual([400, 'INVALID_FIELD', field])
    await call(billed, 'cancel', { type: 'DATE', cancel_at: '2026-06-01T00:00:00Z' })
    const after = { start_at: '2026-06-02T00:00:00Z', end_at: '2026-06-03T00:00:00Z' }
    expect(refusal(await call(billed, 'pause', after))).toEqual([400, 'INVALID_FIELD', 'start_at'])
    const undone = await call(billed, 'cancel', { type: 'UNDO' })
    expect(undone.body['inactive_periods']).toHaveLength(1)
    await call(billed, 'cancel', { type: 'NOW' })
    expect(refusal(await call(billed, 'pause')).slice(0, 2)).toEqual([400, 'INVALID_OPERATION'])
  })

  test('two at once: one is made, the other is refused', async () => {
    const billed = await feeOfMarch()
    const answers = await Promise.all([1, 2].map(() => call(billed, 'pause')))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
  })
})

test('usage during a pause does not belong to the subscription; usage before and after it does', async () => {
  const billed = await feeOfMarch()
  await call(billed, 'pause', { start_at: '2026-03-11T00:00:00Z', end_at: '2026-03-21T00:00:00Z' })
  const { subscriptions } = await inTenant(api.database, tenant.tenant, SERVICE, uow =>
    loadAttribution(uow, { customerIds: [billed.customerId], with: 'CHILDREN' }),
  )
  expect(subscriptions[0]?.held.map(({ start_ms, end_ms }) => [start_ms, end_ms])).toEqual([
    [at('2026-03-01T00:00:00Z'), at('2026-03-11T00:00:00Z')],
    [at('2026-03-21T00:00:00Z'), null],
  ])
})

test('a fee in advance: FINAL charges stay, later charges are for the days that are left', async () => {
  const billed = await feeOfMarch()
  await run(billed)
  setTime('2026-03-05T00:00:00Z')
  await run(billed)
  expect(await totals(billed)).toEqual(['FINAL 100.00', 'OPEN 100.00'])
  // In force before April is charged: 15 of 30 days.
  await call(billed, 'pause', { start_at: '2026-04-16T00:00:00Z' })
  await run(billed)
  expect(await totals(billed)).toEqual(['FINAL 100.00', 'OPEN 50.00'])
  for (const time of ['2026-04-01T01:00:00Z', '2026-04-05T00:00:00Z', '2026-05-01T01:00:00Z', '2026-05-05T00:00:00Z']) {
    setTime(time)
    await run(billed)
  }
  // The invoice that would bill May bills nothing, and is kept without a number.
  expect(await totals(billed)).toEqual(['ARCHIVED 0.00', 'FINAL 100.00', 'FINAL 50.00', 'OPEN 0.00'])
  setTime('2026-05-22T00:00:00Z')
  await call(billed, 'resume')
  await run(billed)
  // Resumed on 22 May: 10 of its 31 days, and June.
  expect((await totals(billed)).at(-1)).toBe('OPEN 132.26')
})

test.each<[string, [verb: string, body: object], [verb: string, body: object]]>([
  ['UNDO', ['cancel', { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z' }], ['cancel', { type: 'UNDO' }]],
  ['resume', ['pause', { start_at: '2026-04-16T00:00:00Z' }], ['resume', {}]],
])('days of a fee in advance that %s gives back are charged once', async (_name, [stop, until], [undo, body]) => {
  const billed = await feeOfMarch()
  await succeedIn(billed, stop, until)
  for (const time of ['2026-04-01T01:00:00Z', '2026-04-05T00:00:00Z']) {
    setTime(time)
    await run(billed)
  }
  // April was charged for 15 of its 30 days.
  const before = await totals(billed)
  expect(before).toContain('FINAL 50.00')
  await succeedIn(billed, undo, body)
  for (const time of ['2026-04-06T00:00:00Z', '2026-05-01T01:00:00Z', '2026-05-05T00:00:00Z', '2026-06-01T01:00:00Z']) {
    setTime(time)
    await run(billed)
  }
  expect((await totals(billed)).filter(total => !before.includes(total)).slice(0, 2)).toEqual([
    'DRAFT 100.00',
    'FINAL 150.00',
  ])
})

const succeedIn = async (billed: Billed, verb: string, body: object): Promise<void> => {
  expect((await call(billed, verb, body)).status).toBe(200)
}
