// Grants for seats (semantics 6, worked example K): one for each assignment, or one for the paid seats together.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { grantingPlans, quantity, SEATS, type Subscribed } from '../testing/granting-plans.ts'

let api: ApiHarness
let tenant: TestTenant
let plans: Awaited<ReturnType<typeof grantingPlans>>
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  plans = await grantingPlans(api, tenant)
})
afterAll(() => api?.close())

describe('PER_SEAT', () => {
  const perSeat = (quantity: string) => ({ ...SEATS, wallet_grants: [plans.fixed(quantity, { source: 'PER_SEAT' })] })
  const seat = (subscription: Subscribed, start_at: string, customer_id: string) =>
    plans.post('seat-assignments', {
      pricing_plan_subscription_id: subscription.id,
      product_item_id: subscription.items[0]?.['id'],
      customer_id,
      start_at,
    })

  test('K: one grant for each assignment, prorated, for its occupant; beyond the paid seats over_granted', async () => {
    const config = { ...perSeat('100'), default_seats_value: { number: '3' } }
    const subscription = await plans.subscribed([{ model: 'PER_SEAT', config }])
    const people = await Promise.all([1, 2, 3, 4].map(() => plans.customer()))
    for (const person of people) await seat(subscription, '2026-03-01T00:00:00Z', person)
    await plans.run(subscription)
    const grants = await plans.grantsOf(subscription)
    expect(grants.map(quantity)).toEqual(['100', '100', '100', '100'])
    expect(grants.map(grant => grant['source'])).toEqual(['PER_SEAT', 'PER_SEAT', 'PER_SEAT', 'PER_SEAT'])
    expect(grants.map(grant => grant['seat'].customer_id).toSorted()).toEqual(people.toSorted())
    expect(grants.flatMap(grant => grant['over_granted'] ?? [])).toEqual([{ credits: plans.credit('100') }])
    const wallet = { id: grants[0]?.['wallet_id'] }
    const { body } = await tenant.call('POST', `/v1/wallets/${wallet.id}/balance`, {})
    expect(body).toMatchObject({
      balance: { credits: plans.credit('400') },
      over_granted: { credits: plans.credit('100') },
    })
    const over = grants.find(grant => grant['over_granted'])
    expect(body.customer_details).toHaveLength(4)
    expect(body.customer_details.find((each: Row) => each['customer_id'] === over?.['seat'].customer_id)).toMatchObject(
      {
        balance: { credits: plans.credit('100') },
        over_granted: { credits: plans.credit('100') },
      },
    )
  })

  test('an assignment since 11 March has 21 of 31 days; one that ends keeps its share, and one that never was nothing', async () => {
    const subscription = await plans.subscribed([{ model: 'PER_SEAT', config: perSeat('100') }])
    await plans.run(subscription)
    plans.setTime('2026-03-11T00:00:00Z')
    const assignment = await seat(subscription, '2026-03-11T00:00:00Z', await plans.customer())
    await plans.run(subscription)
    expect((await plans.grantsOf(subscription)).map(quantity)).toEqual([expect.stringMatching(/^67\.741935/)])
    plans.setTime('2026-03-15T00:00:00Z')
    const until = (end_at: string | null) =>
      succeed(tenant, 'PATCH', `/v1/seat-assignments/${assignment['id']}`, { end_at })
    await until('2026-03-21T00:00:00Z')
    await plans.run(subscription)
    const [shorter] = await plans.grantsOf(subscription)
    expect(shorter && quantity(shorter)).toMatch(/^32\.2580/)
    expect(await plans.of.balance({ id: shorter?.['wallet_id'] } as Row, '2026-03-15T00:00:00Z')).toMatch(/^32\.2580/)
    await until(null)
    await plans.run(subscription)
    expect((await plans.grantsOf(subscription)).map(quantity)).toEqual([expect.stringMatching(/^67\.741935/)])
  })

  test('SEAT_POOL grants for the paid seats together', async () => {
    const config = {
      ...SEATS,
      default_seats_value: { number: '3' },
      wallet_grants: [plans.fixed('100', { source: 'SEAT_POOL' })],
    }
    const subscription = await plans.subscribed([{ model: 'PER_SEAT', config }])
    await plans.run(subscription)
    expect(
      (await plans.grantsOf(subscription)).map(grant => [quantity(grant), grant['source'], grant['seat']]),
    ).toEqual([['300', 'SEAT_POOL', null]])
  })
})
