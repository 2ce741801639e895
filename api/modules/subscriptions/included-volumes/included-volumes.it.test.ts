// Included volumes of a schedule by the API: what is refused, what may change while it bills, and what follows it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
let schedule: string
let subscriptionId: string
let metered: string
let fee: string
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
  setTime('2026-03-10T00:00:00Z')
  subscriptionId = (await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '10' })).subscriptionId
  const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${subscriptionId}`)
  schedule = data[0].id
  const version = data[0].pricing_plan_version_id
  const [priced] = await api.sql('select items from pricings where pricing_plan_version_id = $1', [version])
  const { items } = priced as { items: { configs: [{ id: string }] }[] }
  ;[metered = '', fee = ''] = items.map(({ configs: [config] }) => config.id)
})
afterAll(() => api.close())

const SCHEDULES = '/v1/pricing-plan-schedules'
const setTime = (text: string): void => api.clock.set(Date.parse(text))
const patch = (included_volumes: unknown) => tenant.call('PATCH', `${SCHEDULES}/${schedule}`, { included_volumes })
const of = (more: object, id = metered) => ({ pricing_item_config_id: id, number: '1000', ...more })

test('are refused by name where they are of no usage, in another unit, or twice at a time', async () => {
  const entry = 'included_volumes.0'
  const cases: [unknown[], string, string?][] = [
    [[of({}, 'other')], `${entry}.pricing_item_config_id`, 'RESOURCE_NOT_FOUND'],
    [[of({}, fee)], `${entry}.pricing_item_config_id`],
    [[of({ number: null })], `${entry}.number`, 'MISSING_FIELD'],
    [[of({ number: '-1' })], `${entry}.number`],
    [[of({ amount: { quantity: '1', currency: 'EUR' } })], `${entry}.amount`],
    [[of({ count: '1' })], `${entry}.count`],
    [[of({ reset_type: 'NEVER' })], `${entry}.reset_type`],
    [[of({ start_at: '2026-02-01T00:00:00Z' })], `${entry}.start_at`],
    [[of({ start_at: '2026-05-01T00:00:00Z', end_at: '2026-04-01T00:00:00Z' })], `${entry}.end_at`],
    [[of({}), of({ start_at: '2026-05-01T00:00:00Z' })], 'included_volumes.1.start_at'],
    [
      [of({ end_at: '2026-05-01T00:00:00Z' }), of({ start_at: '2026-05-01T00:00:00Z', reset_type: 'SCHEDULE' })],
      'included_volumes.1.reset_type',
    ],
  ]
  for (const [given, field, code = 'INVALID_FIELD'] of cases)
    expect.soft(await patch(given), field).toMatchObject({ body: { code, field } })
})

test('may change for time that no FINAL invoice has billed, and go with a copy', async () => {
  const stated = [of({ end_at: '2026-04-16T00:00:00Z' }), of({ start_at: '2026-04-16T00:00:00Z', number: '0' })]
  expect(await patch(stated)).toMatchObject({ status: 200, body: { included_volumes: stated } })
  for (const time of ['2026-03-10T00:00:00Z', '2026-04-01T01:00:00Z', '2026-04-02T00:00:00Z']) {
    setTime(time)
    await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, subscriptionId)
  }
  const changed = [of({ end_at: '2026-04-16T00:00:00Z', number: '2000' }), ...stated.slice(1)]
  expect(await patch(changed)).toMatchObject({
    status: 400,
    body: { field: 'included_volumes.0.start_at', message: expect.stringContaining('FINAL') },
  })
  const ahead = [stated[0], of({ start_at: '2026-04-16T00:00:00Z', number: '5' })]
  expect((await patch(ahead)).status).toBe(200)
  const copy = await succeed(tenant, 'POST', `${SCHEDULES}/${schedule}/copy?set_previous_end_at=true`, {
    start_at: '2026-09-01T00:00:00Z',
  })
  expect(copy['included_volumes']).toEqual([{ pricing_item_config_id: metered, number: '5' }])
})

test('hold up the start of a draft that an earlier schedule would move past them', async () => {
  setTime('2026-03-10T00:00:00Z')
  const end_at = '2026-06-01T00:00:00Z'
  const billed = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    schedule: async () => ({ end_at }),
  })
  const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${billed.subscriptionId}`)
  const [first] = data
  const draft = await succeed(tenant, 'POST', `${SCHEDULES}/${first.id}/copy`, { start_at: end_at })
  const [priced] = await api.sql('select items from pricings where pricing_plan_version_id = $1', [
    first.pricing_plan_version_id,
  ])
  const { items } = priced as { items: { configs: [{ id: string }] }[] }
  const included_volumes = [of({ start_at: '2026-06-10T00:00:00Z' }, items[0]?.configs[0].id)]
  await succeed(tenant, 'PATCH', `${SCHEDULES}/${draft['id']}`, { included_volumes })
  const end = (end_at: string) => tenant.call('PATCH', `${SCHEDULES}/${first.id}?set_next_start_at=true`, { end_at })
  expect(await end('2026-06-20T00:00:00Z')).toMatchObject({
    status: 400,
    body: {
      field: 'end_at',
      resource_id: draft['id'],
      message: expect.stringContaining('included_volumes.0.start_at'),
    },
  })
  expect((await end('2026-06-10T00:00:00Z')).status).toBe(200)
})
