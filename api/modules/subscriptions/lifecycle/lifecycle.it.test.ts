// Templates, copies and upserts against a real database: what they make, and what they refuse by name.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestTenant } from '../../../testing/harness.ts'
import type { UserHarness } from '../../../testing/user-harness.ts'
import { type LifecycleRig, openLifecycleRig, PATH } from '../testing/lifecycle-rig.ts'
import { refusal } from '../testing/refusal.ts'
import { makeActiveSubscription, makeSchedule, succeed } from '../testing/seed-subscription.ts'

let rig: LifecycleRig
let api: UserHarness
let tenant: TestTenant
beforeAll(async () => {
  rig = await openLifecycleRig()
  ;({ api, tenant } = rig)
})
afterAll(() => api.close())

const customer = (): Promise<string> => rig.customer()
const base: LifecycleRig['base'] = () => rig.base()
const post: LifecycleRig['post'] = (path, body) => rig.post(path, body)
const spans: LifecycleRig['spans'] = id => rig.spans(id)
const makeTemplate: LifecycleRig['makeTemplate'] = more => rig.makeTemplate(more)

describe('types', () => {
  test('a TEMPLATE has no customer, is activated and archived, and is never billed', async () => {
    const id = await makeTemplate()
    expect(await succeed(tenant, 'GET', `${PATH}/${id}`)).toMatchObject({
      type: 'TEMPLATE',
      status: 'ACTIVE',
      customer_id: null,
    })
    const [row] = await api.sql('select next_billing_at from pricing_plan_subscriptions where id = $1', [id])
    expect(row?.['next_billing_at']).toBeNull()
    expect((await post(`/${id}/cancel`, { type: 'NOW' })).body).toMatchObject({ code: 'INVALID_OPERATION' })
    expect((await post(`/${id}/void`)).body).toMatchObject({ code: 'INVALID_OPERATION' })
    expect(await post(`/${id}/archive`)).toMatchObject({ status: 200, body: { status: 'ARCHIVED' } })
  })

  test.each([
    [{ type: 'TEMPLATE', customer_id: 'a customer' }, 'customer_id', 'INVALID_FIELD'],
    [{ type: 'QUOTE' }, 'customer_id', 'MISSING_FIELD'],
    [{ customer_id: 'a customer', renewal_term: { type: 'YEAR', value: 1 } }, 'initial_term', 'MISSING_FIELD'],
  ])('refuses %j', async (given, field, code) => {
    const body = { ...base(), ...given, ...('customer_id' in given ? { customer_id: await customer() } : {}) }
    expect(await tenant.call('POST', PATH, body)).toMatchObject({ status: 400, body: refusal(field, code) })
  })

  test('a QUOTE stays DRAFT, and an ACTIVE subscription is not archived', async () => {
    const quote = await succeed(tenant, 'POST', PATH, { ...base(), type: 'QUOTE', customer_id: await customer() })
    await makeSchedule(tenant, quote['id'], '2026-03-01T00:00:00Z')
    const activated = await tenant.call('PATCH', `${PATH}/${quote['id']}`, { status: 'ACTIVE' })
    expect(activated).toMatchObject({ status: 400, body: refusal('status', 'INVALID_OPERATION') })
    const live = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    expect(await post(`/${live}/archive`)).toMatchObject({ status: 400, body: refusal('status', 'INVALID_OPERATION') })
  })
})

describe('copy', () => {
  test('is a DRAFT with the same terms and schedules, to be changed on its own', async () => {
    const id = await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z')
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { purchase_order_number: 'PO-1' })
    const reference = tenant.seed.unique('copy')
    const { status, body } = await post(`/${id}/copy`, { reference })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'DRAFT', reference, purchase_order_number: 'PO-1', activated_at: null, inactive_periods: [] },
    })
    expect(await spans(body['id'])).toEqual([['2026-01-01T00:00:00Z', null, 'DRAFT']])
    const other = await customer()
    await succeed(tenant, 'PATCH', `${PATH}/${body['id']}`, { customer_id: other, status: 'ACTIVE' })
    expect((await post(`/${id}/copy`, { reference })).status).toBe(409)
    expect((await post('/ppsu_0000000000000000000000/copy')).status).toBe(404)
  })

  test('takes custom fields along, but for those that hold each value once', async () => {
    const field = (unique_value: boolean) =>
      succeed(tenant, 'POST', '/v1/custom-fields', {
        reference: tenant.seed.unique('region'),
        resource_type: 'PRICING_PLAN_SUBSCRIPTION',
        name: 'Region',
        type: 'string',
        unique_value,
      })
    const [shared, unique] = [await field(false), await field(true)]
    const { id } = await succeed(tenant, 'POST', PATH, {
      ...base(),
      customer_id: await customer(),
      custom_fields: [
        { id: shared['id'], value: 'north' },
        { id: unique['id'], value: 'one' },
      ],
    })
    const copy = await succeed(tenant, 'POST', `${PATH}/${id}/copy`, {})
    expect(copy['custom_fields']).toMatchObject([{ id: shared['id'], value: 'north' }])
  })
})

test('a copy redeems the coupons once more, or leaves them out, and says so where they cannot be redeemed', async () => {
  const { id: coupon } = await succeed(tenant, 'POST', '/v1/coupons', {
    reference: tenant.seed.unique('launch'),
    name: 'Launch',
    status: 'ACTIVE',
    discount: { type: 'PERCENTAGE', percentage: '10' },
    duration: { type: 'FOREVER' },
    maximum_redemptions: 2,
  })
  const { id } = await succeed(tenant, 'POST', PATH, { ...base(), customer_id: await customer() })
  await makeSchedule(tenant, id, '2026-01-01T00:00:00Z', { coupon_ids: [coupon] })
  const coupons = async (of: string) =>
    (await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${of}`))['data'][0]
      .coupon_ids
  expect(await coupons((await post(`/${id}/copy`, {})).body['id'])).toEqual([coupon])
  const refused = await post(`/${id}/copy`, {})
  expect(refused).toMatchObject({
    status: 400,
    body: { code: 'INVALID_FIELD', field: 'coupon_discount_behaviour', message: expect.stringContaining('NONE') },
  })
  const without = await post(`/${id}/copy`, { coupon_discount_behaviour: 'NONE' })
  expect(await coupons(without.body['id'])).toEqual([])
})

describe('PUT', () => {
  test('creates, then changes and activates the one with this reference', async () => {
    const reference = tenant.seed.unique('put')
    const body = { ...base(), reference, customer_id: await customer() }
    const created = await tenant.call('PUT', PATH, body)
    expect(created).toMatchObject({ status: 201, body: { status: 'DRAFT' } })
    const { id } = created.body
    expect((await tenant.call('PUT', PATH, { ...body, status: 'ACTIVE' })).body).toEqual(
      refusal('status', 'INVALID_OPERATION'),
    )
    await makeSchedule(tenant, id, '2026-03-01T00:00:00Z')
    const activated = await tenant.call('PUT', PATH, { ...body, name: 'Named', status: 'ACTIVE' })
    expect(activated).toMatchObject({ status: 200, body: { id, status: 'ACTIVE', name: 'Named' } })
    expect((await tenant.call('PUT', PATH, { ...body, type: 'QUOTE' })).body).toEqual(refusal('type'))
    expect((await tenant.call('PUT', PATH, { ...body, billing_currency: 'USD' })).body).toEqual(
      refusal('billing_currency'),
    )
  })
})
