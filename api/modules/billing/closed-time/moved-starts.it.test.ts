// The start of a schedule that waits may move as long as no FINAL invoice has charged it ahead.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../run/run-billing.ts'
import { billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const SCHEDULES = '/v1/pricing-plan-schedules'
const setTime = (text: string): void => api.clock.set(Date.parse(text))

test('not once a FINAL invoice has charged the days after it', async () => {
  setTime('2026-04-01T01:00:00Z')
  const { subscriptionId } = await billedSubscription(tenant, { start_at: '2026-04-01T00:00:00Z', fee: '100' })
  const run = () => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)
  const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${subscriptionId}`)
  const [first] = data as Row[]
  const { id } = await succeed(tenant, 'POST', `${SCHEDULES}/${first?.['id']}/copy?set_previous_end_at=true`, {
    start_at: '2026-04-16T00:00:00Z',
  })
  await succeed(tenant, 'POST', `${SCHEDULES}/${id}/activate`)
  await run()
  const move = (start_at: string) => tenant.call('PATCH', `${SCHEDULES}/${id}?set_previous_end_at=true`, { start_at })
  // The invoice of April is a DRAFT, and is computed again.
  expect((await move('2026-04-19T00:00:00Z')).status).toBe(200)
  setTime('2026-04-02T01:00:00Z')
  await run()
  const url = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_lines=true`
  const april = (await succeed(tenant, 'GET', url))['data'].find(({ status }: Row) => status === 'FINAL')
  expect(april['periods'].map((period: Row) => [period['start_at'], period['amount_excluding_tax'].quantity])).toEqual([
    ['2026-04-01T00:00:00Z', '60.00'],
    ['2026-04-19T00:00:00Z', '40.00'],
  ])
  const refused = {
    code: 'INVALID_FIELD',
    field: 'start_at',
    message: expect.stringContaining('has charged the schedule'),
  }
  expect((await move('2026-04-22T00:00:00Z')).body).toMatchObject(refused)
  const end = await tenant.call('PATCH', `${SCHEDULES}/${first?.['id']}?set_next_start_at=true`, {
    end_at: '2026-04-22T00:00:00Z',
  })
  expect(end.body).toMatchObject({ ...refused, field: 'end_at' })
})

test('a subscription that has not begun may begin later, and is billed from then on', async () => {
  setTime('2026-05-20T00:00:00Z')
  const { subscriptionId } = await billedSubscription(tenant, { start_at: '2026-06-01T00:00:00Z', fee: '100' })
  const run = () => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)
  await run()
  const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${subscriptionId}`)
  await succeed(tenant, 'PATCH', `${SCHEDULES}/${data[0].id}`, { start_at: '2026-06-16T00:00:00Z' })
  for (const time of ['2026-06-02T00:00:00Z', '2026-06-16T01:00:00Z', '2026-06-17T01:00:00Z']) {
    setTime(time)
    await run()
  }
  const url = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&include_lines=true`
  const invoices: Row[] = (await succeed(tenant, 'GET', url))['data']
  const issued = invoices.filter(({ status }) => status === 'FINAL')
  expect(issued.map(each => each['invoice_amount_excluding_tax'].quantity)).toEqual(['50.00'])
  expect(invoices.filter(({ status }) => !['FINAL', 'OPEN', 'VOID'].includes(status))).toEqual([])
})
