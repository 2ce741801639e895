// A schedule may be ACTIVE before its subscription is, whose terms can change until then: everything it states is judged again.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogOf, eur, refusal } from '../../../testing/catalog.ts'
import type { TestTenant } from '../../../testing/harness.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { makeSchedule, makeSubscription, succeed } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

test('seats that it states of a price by the month are refused once the subscription is billed by the year', async () => {
  const item = await catalogOf(tenant).itemOf({ model_type: 'PER_SEAT' })
  const version = await tenant.seed.make(pricingPlanVersionResource)
  const pricing = await succeed(tenant, 'POST', '/v1/pricings', {
    pricing_plan_version_id: version.id,
    product_ids: [item['product_id']],
    items: [
      {
        product_item_ids: [item['id']],
        billing_period_configs: ['MONTH', 'YEAR'].map(type => ({
          billing_period: { type, value: 1 },
          configs: [{ pricing_type: 'FLAT', default_seats_value: { number: '1' }, bands: [{ amount: eur('10') }] }],
        })),
      },
    ],
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version.id}`, { status: 'ACTIVE' })
  const [byMonth, byYear] = pricing['items'][0].billing_period_configs.map(
    (each: { configs: { id: string }[] }) => each.configs[0]?.id,
  )
  const id = await makeSubscription(tenant)
  const schedule = await makeSchedule(tenant, id, '2026-04-01T00:00:00Z', {
    pricing_plan_version_id: version.id,
    seats_values: [{ pricing_item_config_id: byMonth, number: '7' }],
  })
  await succeed(tenant, 'POST', `/v1/pricing-plan-schedules/${schedule}/activate`)
  const url = `/v1/pricing-plan-subscriptions/${id}`
  await succeed(tenant, 'PATCH', url, { billing_period: { type: 'YEAR', value: 1 } })
  const activate = () => tenant.call('PATCH', url, { status: 'ACTIVE' })
  const refused = await activate()
  expect(refusal(refused)).toEqual([404, 'RESOURCE_NOT_FOUND', 'seats_values.0.pricing_item_config_id'])
  // The request does not say the schedule that the field is of.
  expect(refused.body['message']).toContain(`The schedule ${schedule} cannot become ACTIVE.`)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-schedules/${schedule}`, {
    seats_values: [{ pricing_item_config_id: byYear, number: '7' }],
  })
  expect((await activate()).status).toBe(200)
})
