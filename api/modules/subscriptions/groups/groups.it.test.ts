// Groups of subscriptions, and what new subscriptions have by default of their platform.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { paymentAcceptorResource } from '../../parties/payment-acceptors/payment-acceptor.ts'

let api: ApiHarness
let a: TestTenant
let entityId: string
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aTest
  entityId = (await a.seed.make(billingEntityResource)).id
})
afterAll(() => api?.close())

const unique = (name: string): string => `${name}-${Math.random().toString(36).slice(2)}`
const SUBSCRIPTIONS = '/v1/pricing-plan-subscriptions'
const GROUPS = '/v1/pricing-plan-subscription-groups'
const GROUP = 'pricing_plan_subscription_group_id'

async function subscribed(more: object = {}, customerId?: string) {
  const customer_id = customerId ?? (await a.seed.make(customerResource)).id
  const body = { customer_id, billing_entity_id: entityId, billing_currency: 'EUR', ...more }
  return await a.call('POST', SUBSCRIPTIONS, body)
}
const newGroup = (more: object = {}) => a.call('POST', GROUPS, { reference: unique('group'), ...more })

describe('a group', () => {
  test('takes members from either side, shows them, and is found by them', async () => {
    const one = (await subscribed()).body['id']
    const made = await newGroup({ name: 'Departments', pricing_plan_subscription_ids: [one] })
    expect([made.status, made.body['pricing_plan_subscription_ids']]).toEqual([201, [one]])
    const group = made.body['id']
    const two = (await subscribed({ [GROUP]: group })).body['id']
    expect((await a.call('GET', `${GROUPS}/${group}`)).body['pricing_plan_subscription_ids']).toEqual([one, two])
    const listed = await a.call('GET', `${SUBSCRIPTIONS}?${GROUP}=${group}&expand[]=pricing_plan_subscription_group`)
    expect(listed.body['data']).toMatchObject([
      { id: expect.any(String), pricing_plan_subscription_group: { name: 'Departments' } },
      { [GROUP]: group },
    ])
    expect((await a.call('DELETE', `${GROUPS}/${group}`)).status).toBe(409)
    const left = await a.call('PATCH', `${GROUPS}/${group}`, { pricing_plan_subscription_ids: [two] })
    expect(left.body['pricing_plan_subscription_ids']).toEqual([two])
    expect((await a.call('GET', `${SUBSCRIPTIONS}/${one}`)).body[GROUP]).toBeNull()
    await a.call('PATCH', `${SUBSCRIPTIONS}/${two}`, { [GROUP]: null })
    expect((await a.call('DELETE', `${GROUPS}/${group}`)).status).toBe(200)
  })

  test('with an owner takes the owner and its children alone', async () => {
    const owner = (await a.seed.make(customerResource)).id
    const child = await a.call('POST', '/v1/customers', {
      reference: unique('child'),
      type: 'INDIVIDUAL',
      status: 'ACTIVE',
      parent_customer_ids: [owner],
    })
    const group = (await newGroup({ owner_customer_id: owner })).body['id']
    expect((await subscribed({ [GROUP]: group }, owner)).status).toBe(201)
    expect((await subscribed({ [GROUP]: group }, child.body['id'])).status).toBe(201)
    const listed = await a.call('GET', `${GROUPS}?owner_customer_id=${owner}&expand[]=owner_customer`)
    expect(listed.body['data']).toMatchObject([{ id: group, owner_customer: { id: owner } }])
    expect(
      (await a.call('GET', `${GROUPS}?created_at=[2020-01-01T00:00:00Z,2020-02-01T00:00:00Z]`)).body['data'],
    ).toEqual([])
    const stranger = await subscribed({ [GROUP]: group })
    expect(stranger.body).toMatchObject({ code: 'INVALID_FIELD', field: GROUP, resource_id: group })
    const foreign = (await subscribed()).body['id']
    const refused = await a.call('PATCH', `${GROUPS}/${group}`, { pricing_plan_subscription_ids: [foreign] })
    expect(refused.body).toMatchObject({ code: 'INVALID_FIELD', field: 'pricing_plan_subscription_ids.0' })
  })

  test('does not take a subscription out of another group, or one that is not there', async () => {
    const member = (await subscribed()).body['id']
    const first = (await newGroup({ pricing_plan_subscription_ids: [member] })).body['id']
    const field = 'pricing_plan_subscription_ids.0'
    const taken = await newGroup({ pricing_plan_subscription_ids: [member] })
    expect(taken.body).toMatchObject({ code: 'INVALID_FIELD', field, resource_id: first })
    const unknown = await newGroup({ pricing_plan_subscription_ids: ['ppsu_none'] })
    expect(unknown.body).toMatchObject({ code: 'RESOURCE_NOT_FOUND', field })
    expect((await subscribed({ [GROUP]: 'ppsg_none' })).body).toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
      field: GROUP,
    })
  })
})

describe('defaults of the platform', () => {
  const settings = 'default_pricing_plan_subscription_settings'
  const change = (value: unknown) => a.call('PATCH', `/v1/platforms/${a.tenant.platformId}`, { [settings]: value })

  test('fill what a subscription leaves out, and nothing of a copy', async () => {
    const before = (await subscribed({ reference: unique('before') })).body
    const changed = await change({
      billing_entity_id: entityId,
      billing_currency: 'USD',
      billing_time: 'EXACT',
      billing_period: { type: 'YEAR', value: 1 },
      initial_term: { type: 'YEAR', value: 1 },
      auto_renewal: false,
      init_invoice_on_hold: true,
      combine: true,
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    const customer_id = (await a.seed.make(customerResource)).id
    const bare = await a.call('POST', SUBSCRIPTIONS, { customer_id, billing_currency: 'EUR' })
    expect(bare.body).toMatchObject({
      billing_entity_id: entityId,
      billing_currency: 'EUR',
      billing_time: 'EXACT',
      billing_period: { type: 'YEAR', value: 1 },
      initial_term: { type: 'YEAR', value: 1 },
      auto_renewal: false,
      init_invoice_on_hold: true,
      combine: true,
    })
    const copy = await a.call('POST', `${SUBSCRIPTIONS}/${before['id']}/copy`, {})
    expect(copy.body).toMatchObject({
      billing_time: 'CALENDAR',
      initial_term: null,
      auto_renewal: true,
      combine: false,
    })
  })

  test('name payment acceptors, for subscriptions of their billing entity alone', async () => {
    const acceptor = await a.seed.make(paymentAcceptorResource)
    const { billing_entity_id } = acceptor
    const payment_acceptor_ids = [acceptor.id]
    const FIELD = `${settings}.payment_acceptor_ids.0`
    for (const [given, code] of [
      [{ billing_entity_id: entityId, payment_acceptor_ids }, 'INVALID_FIELD'],
      [{ billing_entity_id, payment_acceptor_ids: ['paya_0000000000000000000000'] }, 'RESOURCE_NOT_FOUND'],
    ] as const)
      expect((await change(given)).body).toMatchObject({ code, field: FIELD })
    expect((await change({ billing_entity_id, payment_acceptor_ids })).status).toBe(200)
    const ofNew = async (more: object) => (await subscribed(more)).body['payment_acceptor_ids']
    const { reference } = await a.seed.make(billingEntityResource)
    expect([
      await ofNew({ billing_entity_id }),
      await ofNew({ billing_entity_id: undefined }),
      await ofNew({}),
      await ofNew({ billing_entity_id: undefined, billing_entity_reference: reference }),
      await ofNew({ billing_entity_id, payment_acceptor_ids: [] }),
    ]).toEqual([payment_acceptor_ids, payment_acceptor_ids, [], [], []])
    // One that is ARCHIVED since is left out, and the platform can still be changed.
    for (const status of ['DEPRECATED', 'ARCHIVED'])
      await a.call('PATCH', `/v1/payment-acceptors/${acceptor.id}`, { status })
    expect(await ofNew({ billing_entity_id })).toEqual([])
    expect((await change({ combine: false })).status).toBe(200)
    expect((await change({ payment_acceptor_ids: null, billing_entity_id: entityId })).status).toBe(200)
    // It cannot be named anew.
    const again = await change({ billing_entity_id, payment_acceptor_ids })
    expect(again.body).toMatchObject({ code: 'INVALID_FIELD', field: FIELD })
  })

  test.each([
    [{ billing_entity_id: 'bien_none' }, 404, 'RESOURCE_NOT_FOUND', `${settings}.billing_entity_id`],
    [
      { due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE' } },
      400,
      'MISSING_FIELD',
      `${settings}.due_date_configuration.period`,
    ],
    [
      { initial_term: null, renewal_term: { type: 'YEAR', value: 1 } },
      400,
      'MISSING_FIELD',
      `${settings}.initial_term`,
    ],
    [{ combine: 'yes' }, 400, 'INVALID_FIELD', `${settings}.combine`],
  ])('%j is refused', async (value, status, code, field) => {
    const refused = await change(value)
    expect([refused.status, refused.body['code'], refused.body['field']]).toEqual([status, code, field])
  })
})
