// A customer is attached to a test clock beside the first activation of its subscription: the subscription lives in the time of the clock,
// or the customer is not attached.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../shared/database/database.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import { billedSubscription, succeed } from '../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../billing/testing/no-usage.ts'
import { attachCustomers } from '../subscriptions/test-clocks/store-clocks.ts'
import { untilItWaits } from '../subscriptions/testing/until-it-waits.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  api.clock.set(Date.parse('2026-11-22T10:00:00Z'))
})
afterAll(() => api.close())

const FROZEN = '2025-01-01T00:00:00Z'
const given = () => billedSubscription(tenant, { start_at: FROZEN, fee: '100', activate: false })
const activate = (id: string) => tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })

test('an activation that comes while the customer is being attached happens in the time of the clock', async () => {
  const { subscriptionId, customerReference } = await given()
  const clock = await succeed(tenant, 'POST', '/v1/test-clocks', { frozen_time: FROZEN })
  const sent = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
    await attachCustomers(uow, clock['id'], [customerReference])
    return await untilItWaits(api, () => activate(subscriptionId))
  })
  expect(await sent.answer).toMatchObject({ status: 200, body: { status: 'ACTIVE', activated_at: FROZEN } })
})

test('of the two at once, one is refused or both live in one time', async () => {
  for (let round = 0; round < 4; round += 1) {
    const { subscriptionId, customerReference } = await given()
    const body = { frozen_time: FROZEN, customer_ids: [customerReference] }
    const [clock, activated] = await Promise.all([
      tenant.call('POST', '/v1/test-clocks', body),
      activate(subscriptionId),
    ])
    expect(activated.status).toBe(200)
    if (clock.status === 201) expect(activated.body['activated_at']).toBe(FROZEN)
    else expect(clock).toMatchObject({ status: 400, body: { field: 'customer_ids.0' } })
  }
})
