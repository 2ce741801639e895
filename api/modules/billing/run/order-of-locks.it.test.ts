// Who waits for a subscription that another one has, holds nothing yet that the other one may need: two that each had something of the
// other would wait for each other until the database ends one of them.
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Answer, ApiHarness, TestTenant } from '../../../testing/harness.ts'
import { lockSubscription } from '../../subscriptions/billing-time/next-billing.ts'
import { makeSchedule, makeVersion, succeed } from '../../subscriptions/testing/seed-subscription.ts'
import { startAt } from '../../subscriptions/testing/start-at.ts'
import { untilItWaits } from '../../subscriptions/testing/until-it-waits.ts'

let api: ApiHarness
let tenant: TestTenant
let version: string
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
  version = await makeVersion(tenant)
})
afterAll(() => stop())

const S = '/v1/pricing-plan-subscriptions'
const CHARGE = '/v1/invoices/charge-on-demand-pricing-items'
type Given = Record<'id' | 'schedule' | 'customer' | 'next', string>

/** An ACTIVE subscription, and a DRAFT that is to take its place. */
async function given(): Promise<Given> {
  const customer = await succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('acme'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Acme', registered_address: { country: 'NL', city: 'Utrecht' } },
  })
  const entity = await succeed(tenant, 'POST', '/v1/billing-entities', {
    reference: tenant.seed.unique('main'),
    legal_name: 'Millrace',
    registered_address: { country: 'NL', city: 'Utrecht' },
  })
  const of = { customer_id: customer['id'], billing_entity_id: entity['id'], billing_currency: 'EUR' }
  const { id } = await succeed(tenant, 'POST', S, of)
  const schedule = await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', { pricing_plan_version_id: version })
  await succeed(tenant, 'PATCH', `${S}/${id}`, { status: 'ACTIVE' })
  const upgrade = { ...of, upgraded_from_pricing_plan_subscription_id: id }
  const { id: next } = await succeed(tenant, 'POST', S, upgrade)
  await makeSchedule(tenant, next, '2026-04-01T00:00:00Z', { pricing_plan_version_id: version })
  return { id, schedule, customer: customer['id'], next }
}

type Call = (given: Given) => Promise<Answer>
const CALLS: readonly [string, Call][] = [
  ['the activation of what takes its place', ({ next }) => tenant.call('PATCH', `${S}/${next}`, { status: 'ACTIVE' })],
  [
    'a charge on demand',
    ({ schedule }) =>
      tenant.call('POST', CHARGE, {
        pricing_plan_schedule_id: schedule,
        pricing_items: [{ pricing_item_id: 'prit_none' }],
      }),
  ],
  ['a change of its plan', ({ id }) => tenant.call('POST', `${S}/${id}/change-plan`, { pricing_plan_id: 'pric_none' })],
  ['a cancellation', ({ id }) => tenant.call('POST', `${S}/${id}/cancel`, { type: 'NOW' })],
]

test.each(CALLS)(
  '%s waits for the subscription and holds neither its customer nor its schedule',
  async (_name, call) => {
    const on = await given()
    const { answer, free } = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
      await lockSubscription(uow, idOf('ppsu', on.id))
      const sent = await untilItWaits(api, () => call(on))
      const { rows: customers } = await uow.tx.execute(
        sql`select from customers where id = ${on.customer} for share skip locked`,
      )
      const { rows: schedules } = await uow.tx.execute(
        sql`select from pricing_plan_schedules where id = ${on.schedule} for update skip locked`,
      )
      return { ...sent, free: [customers.length, schedules.length] }
    })
    expect((await answer).status).toBeLessThan(500)
    expect(free).toEqual([1, 1])
  },
)
