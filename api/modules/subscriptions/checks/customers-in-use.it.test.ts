// What a subscription was judged by when it named a customer or a billing entity holds when that changes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, refusal } from '../../../testing/catalog.ts'
import type { TestTenant } from '../../../testing/harness.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { makeSchedule, succeed } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let tenant: TestTenant
let stop: () => Promise<void>
let entity: string
beforeAll(async () => {
  ;({ tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
  entity = (await tenant.seed.make(billingEntityResource)).id
})
afterAll(() => stop())

const SUBSCRIPTIONS = '/v1/pricing-plan-subscriptions'
const customer = async (more: object = {}): Promise<string> => {
  const body = { reference: tenant.seed.unique('customer'), type: 'ORGANIZATION', status: 'ACTIVE', ...more }
  return (await succeed(tenant, 'POST', '/v1/customers', body))['id']
}
async function draft(customer_id: string, more: object = {}): Promise<string> {
  const body = { customer_id, billing_entity_id: entity, billing_currency: 'EUR', ...more }
  const { id } = await succeed(tenant, 'POST', SUBSCRIPTIONS, body)
  await makeSchedule(tenant, id, '2026-03-01T00:00:00Z')
  return id
}
const patch = (path: string, body: object) => tenant.call('PATCH', path, body)
const activate = (id: string) => patch(`${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })

describe('a role that changes while the customer is DRAFT', () => {
  const changed = async (id: string, role: string) =>
    await succeed(tenant, 'PATCH', `/v1/customers/${id}`, { roles: [role], status: 'ACTIVE' })

  test('is judged again when a subscription becomes ACTIVE', async () => {
    const supplier = await customer({ status: 'DRAFT' })
    const own = await draft(supplier)
    const forwarded = await draft(await customer(), {
      variant: 'FORWARD_BILLING',
      forward_customer_id: supplier,
    })
    await changed(supplier, 'SELF_BILLING')
    const seller = await customer({ status: 'DRAFT', roles: ['SELLER'] })
    const sold = await draft(await customer(), { variant: 'SELLER', seller_details: { seller_customer_id: seller } })
    await changed(seller, 'DEFAULT')
    for (const [id, field] of [
      [own, 'variant'],
      [forwarded, 'forward_customer_id'],
      [sold, 'seller_details.seller_customer_id'],
    ] as const)
      expect(await activate(id)).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD', field } })
  })

  test('stays that of a seller for whom an ACTIVE subscription is billed', async () => {
    const seller = await customer({ status: 'DRAFT', roles: ['SELLER'] })
    const id = await draft(await customer(), { variant: 'SELLER', seller_details: { seller_customer_id: seller } })
    expect((await activate(id)).status).toBe(200)
    expect(await patch(`/v1/customers/${seller}`, { roles: ['DEFAULT'] })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_OPERATION', field: 'roles', resource_id: id },
    })
    await succeed(tenant, 'POST', `${SUBSCRIPTIONS}/${id}/cancel`, { type: 'NOW' })
    expect((await patch(`/v1/customers/${seller}`, { roles: ['DEFAULT'] })).status).toBe(200)
  })
})

test('a customer stays the child of a parent in whose group its subscription is', async () => {
  const [owner, other] = [await customer(), await customer()]
  const child = await customer({ parent_customer_ids: [owner] })
  const group = await succeed(tenant, 'POST', '/v1/pricing-plan-subscription-groups', {
    reference: tenant.seed.unique('group'),
    owner_customer_id: owner,
  })
  const id = await draft(child, { pricing_plan_subscription_group_id: group['id'] })
  const parents = (...parent_customer_ids: string[]) => patch(`/v1/customers/${child}`, { parent_customer_ids })
  expect((await parents(owner, other)).status).toBe(200)
  expect(await parents(other)).toMatchObject({
    status: 400,
    body: { code: 'INVALID_OPERATION', field: 'parent_customer_ids', resource_id: id },
  })
  await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { pricing_plan_subscription_group_id: null })
  expect((await parents(other)).status).toBe(200)
})

test('a customer that was forgotten as a DRAFT takes nothing new, and one that has a seat is not forgotten', async () => {
  const id = await draft(await customer())
  const item = await catalogOf(tenant).itemOf({ model_type: 'PER_SEAT' })
  const version = await tenant.seed.make(pricingPlanVersionResource)
  const config = { pricing_type: 'FLAT', bands: [{ amount: eur('10') }] }
  expect((await catalogOf(tenant).price(item, config, version)).status).toBe(201)
  const seated = await succeed(tenant, 'POST', SUBSCRIPTIONS, {
    customer_id: await customer(),
    billing_entity_id: entity,
    billing_currency: 'EUR',
  })
  await makeSchedule(tenant, seated['id'], '2026-03-01T00:00:00Z', { pricing_plan_version_id: version.id })
  const seat = { pricing_plan_subscription_id: seated['id'], product_item_id: item['id'] }
  const forgotten = await customer({ status: 'DRAFT' })
  const { id: assignment } = await succeed(tenant, 'POST', '/v1/seat-assignments', { ...seat, customer_id: forgotten })
  const forget = () => tenant.call('POST', `/v1/customers/${forgotten}/forget`)
  expect(await forget()).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION', resource_id: assignment } })
  const { start_at } = await succeed(tenant, 'GET', `/v1/seat-assignments/${assignment}`)
  await succeed(tenant, 'PATCH', `/v1/seat-assignments/${assignment}`, { end_at: start_at })
  expect((await forget()).status).toBe(200)
  const { customer_id } = await succeed(tenant, 'GET', `${SUBSCRIPTIONS}/${id}`)
  const forward = { customer_id, billing_entity_id: entity, billing_currency: 'EUR', variant: 'FORWARD_BILLING' }
  const line = { pricing_name: 'Hour', pricing_type: 'FIXED', pricing_band: { amount: eur('5') } }
  for (const [path, body, field] of [
    [SUBSCRIPTIONS, { ...forward, forward_customer_id: forgotten }, 'forward_customer_id'],
    ['/v1/seat-assignments', { ...seat, customer_id: forgotten }, 'customer_id'],
    ['/v1/invoices', { customer_id: forgotten, billing_entity_id: entity, lines: [line] }, 'customer_id'],
  ] as const) {
    const answer = await tenant.call('POST', path, body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD', field } })
    expect(answer.body['message']).toContain('is forgotten')
  }
})

test('a seat begins before the subscription ends', async () => {
  const item = await catalogOf(tenant).itemOf({ model_type: 'PER_SEAT' })
  const version = await tenant.seed.make(pricingPlanVersionResource)
  await catalogOf(tenant).price(item, { pricing_type: 'FLAT', bands: [{ amount: eur('10') }] }, version)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version.id}`, { status: 'ACTIVE' })
  const { id } = await succeed(tenant, 'POST', SUBSCRIPTIONS, {
    customer_id: await customer(),
    billing_entity_id: entity,
    billing_currency: 'EUR',
  })
  await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', { pricing_plan_version_id: version.id })
  expect((await activate(id)).status).toBe(200)
  const ends = '2026-05-01T00:00:00Z'
  await succeed(tenant, 'POST', `${SUBSCRIPTIONS}/${id}/cancel`, { type: 'DATE', cancel_at: ends })
  const occupy = async (start_at: string) =>
    refusal(
      await tenant.call('POST', '/v1/seat-assignments', {
        pricing_plan_subscription_id: id,
        product_item_id: item['id'],
        customer_id: await customer(),
        start_at,
      }),
    )
  expect(await occupy(ends)).toEqual([400, 'INVALID_FIELD', 'start_at'])
  expect((await occupy('2026-04-30T23:59:59Z'))[0]).toBe(201)
})

test('a billing entity is not ARCHIVED while it bills', async () => {
  const { id: seller } = await tenant.seed.make(billingEntityResource)
  const id = await draft(await customer(), { billing_entity_id: seller })
  expect((await activate(id)).status).toBe(200)
  const become = (status: string) => patch(`/v1/billing-entities/${seller}`, { status })
  expect((await become('DEPRECATED')).status).toBe(200)
  expect(await become('ARCHIVED')).toMatchObject({
    status: 400,
    body: { code: 'INVALID_OPERATION', field: 'status', resource_id: id },
  })
  await succeed(tenant, 'POST', `${SUBSCRIPTIONS}/${id}/cancel`, { type: 'NOW' })
  expect((await become('ARCHIVED')).status).toBe(200)
})
