// Templates, copies, upserts and `init` against a real database: what they make, what they refuse by name, and what is left of a call
// that fails half-way.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestTenant } from '../../../testing/harness.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { makeActiveSubscription, makeSchedule, makeVersion, succeed } from '../testing/seed-subscription.ts'

let api: UserHarness
let tenant: TestTenant
let entity: string
beforeAll(async () => {
  api = await startApiWithUsers()
  tenant = api.tenants.aLive
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  entity = (await tenant.seed.make(billingEntityResource))['id']
})
afterAll(() => api.close())

const PATH = '/v1/pricing-plan-subscriptions'
const refusal = (field: string, code = 'INVALID_FIELD') => expect.objectContaining({ code, field })
const customer = async (): Promise<string> => (await tenant.seed.make(customerResource))['id']
const base = () => ({ billing_entity_id: entity, billing_currency: 'EUR' })
const post = (path: string, body: object = {}) => tenant.call('POST', `${PATH}${path}`, body)
const schedulesOf = async (id: string): Promise<Row[]> =>
  (
    await succeed(
      tenant,
      'GET',
      `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${id}&order_by=start_at&order_direction=asc`,
    )
  )['data']
const spans = async (id: string) =>
  (await schedulesOf(id)).map(row => [row['start_at'], row['end_at'] ?? null, row['status']])
const count = async (): Promise<number> =>
  Number((await api.sql('select count(*) as n from pricing_plan_subscriptions'))[0]?.['n'])

/** An ACTIVE template with two weeks on one version and then another one. */
async function makeTemplate(more: object = {}): Promise<string> {
  const { id } = await succeed(tenant, 'POST', PATH, { ...base(), type: 'TEMPLATE', name: 'Starter', ...more })
  const end_at = '2026-01-14T23:00:00Z'
  await makeSchedule(tenant, id, '2025-12-31T23:00:00Z', { end_at })
  await makeSchedule(tenant, id, end_at)
  await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
  return id
}

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

describe('init from a template', () => {
  const init = (body: object) => post('/init', body)

  test('answers an ACTIVE subscription whose schedules begin now and keep their lengths', async () => {
    const template = await makeTemplate()
    const { status, body } = await init({
      template_pricing_plan_subscription_id: template,
      customer_id: await customer(),
      status: 'ACTIVE',
      purchase_order_number: 'PO-7',
      combine: true,
      pricing_plan_subscription_start_at: '2026-03-19T23:00:00Z',
    })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { type: 'BILLING', status: 'ACTIVE', name: 'Starter', purchase_order_number: 'PO-7', combine: true },
    })
    expect(body['pricing_plan_subscription'].id).toBe(body['id'])
    expect(body['pricing_plan_schedules']).toHaveLength(2)
    // Fourteen days, although clocks go forward on the 29th: the entity lies in Amsterdam.
    expect(await spans(body['id'])).toEqual([
      ['2026-03-19T23:00:00Z', '2026-04-02T22:00:00Z', 'ACTIVE'],
      ['2026-04-02T22:00:00Z', null, 'ACTIVE'],
    ])
    // The template is as it was.
    expect((await spans(template))[0]).toEqual(['2025-12-31T23:00:00Z', '2026-01-14T23:00:00Z', 'ACTIVE'])
    const found = await succeed(tenant, 'GET', `${PATH}?start_at=[2026-03-19T23:00:00Z,2026-03-19T23:00:00Z]`)
    expect(found['data'].map((row: Row) => row['id'])).toContain(body['id'])
  })

  test('has the discounts and minimums of the template as long after its start as those are', async () => {
    const { id } = await succeed(tenant, 'POST', PATH, { ...base(), type: 'TEMPLATE' })
    const amount = { quantity: '5', currency: 'EUR' }
    await makeSchedule(tenant, id, '2025-12-31T23:00:00Z', {
      discount: { totals: [{ percentage: '50', end_at: '2026-03-31T22:00:00Z' }, { percentage: '10' }] },
      commitment: { totals: [{ amount, start_at: '2026-01-31T23:00:00Z' }] },
    })
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
    const { status, body } = await init({
      template_pricing_plan_subscription_id: id,
      customer_id: await customer(),
      pricing_plan_subscription_start_at: '2026-06-30T22:00:00Z',
    })
    // 90 and 31 days after 1 July.
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        pricing_plan_schedules: [
          {
            discount: { totals: [{ percentage: '50', end_at: '2026-09-28T22:00:00Z' }, { percentage: '10' }] },
            commitment: { totals: [{ amount, start_at: '2026-07-31T22:00:00Z' }] },
          },
        ],
      },
    })
  })

  test('takes units for prices of its schedules, and refuses other customizations by name', async () => {
    const template = await makeTemplate()
    const [first] = await api.sql(
      'select id from pricing_plan_schedules where pricing_plan_subscription_id = $1 order by start_at',
      [template],
    )
    const id = first?.['id']
    const member = 'pricing_plan_schedule_customizations'
    const of = (...customizations: object[]) => ({
      template_pricing_plan_subscription_id: template,
      [member]: customizations,
    })
    const units = [{ pricing_item_config_id: 'other', number: '2' }]
    const cases: [object, string, string?][] = [
      [of({ pricing_plan_schedule_id: id, units }), `${member}.0.units.0.pricing_item_config_id`, 'RESOURCE_NOT_FOUND'],
      [
        of({ pricing_plan_schedule_id: 'other', units: [] }),
        `${member}.0.pricing_plan_schedule_id`,
        'RESOURCE_NOT_FOUND',
      ],
      [
        of({ pricing_plan_schedule_id: id, units: [] }, { pricing_plan_schedule_id: id, units: [] }),
        `${member}.1.pricing_plan_schedule_id`,
      ],
      [of({ pricing_plan_schedule_id: id, units: [], seats_values: [] }), `${member}.0.seats_values`],
    ]
    for (const [body, field, code = 'INVALID_FIELD'] of cases)
      expect.soft((await init({ ...body, customer_id: await customer() })).body, field).toEqual(refusal(field, code))
    const made = await init({ ...of({ pricing_plan_schedule_id: id, units: [] }), customer_id: await customer() })
    expect(made).toMatchObject({ status: 200, body: { pricing_plan_schedules: [{ units: [] }, { units: [] }] } })
  })

  test.each([
    [{ billing_time: 'EXACT' }, 'billing_time'],
    [{ sales_tax_percentage: '5' }, 'sales_tax_percentage'],
    [{ initial_term: { type: 'YEAR', value: 1 } }, 'initial_term'],
    [{ pricing_plan_subscription: { name: 'Mine' } }, 'pricing_plan_subscription'],
    [{ pricing_plan_schedules: [{}] }, 'pricing_plan_schedules'],
    [{ customer: { type: 'ORGANIZATION' } }, 'customer'],
    [{ whatever: 1 }, 'whatever'],
  ])('refuses %j by name and makes nothing', async (given, field) => {
    const template = await makeTemplate()
    const before = await count()
    const answer = await init({
      template_pricing_plan_subscription_id: template,
      customer_id: await customer(),
      ...given,
    })
    expect(answer).toMatchObject({ status: 400, body: refusal(field) })
    expect(await count()).toBe(before)
  })

  test('refuses what is no ACTIVE template, and a template without a customer', async () => {
    const live = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const field = 'template_pricing_plan_subscription_id'
    expect((await init({ [field]: live, customer_id: await customer() })).body).toEqual(refusal(field))
    expect(await init({ [field]: 'ppsu_0000000000000000000000' })).toMatchObject({
      status: 404,
      body: refusal(field, 'RESOURCE_NOT_FOUND'),
    })
    expect((await init({ [field]: await makeTemplate() })).body).toEqual(refusal('customer_id', 'MISSING_FIELD'))
  })
})

describe('init in full', () => {
  const init = (body: object) => post('/init', body)

  test.each([
    ['the end of the first', { end_at: '2026-04-01T00:00:00Z' }, {}],
    ['the start of the second', {}, { start_at: '2026-04-01T00:00:00Z' }],
    ['both, in any offset', { end_at: '2026-04-01T02:00:00+02:00' }, { start_at: '2026-04-01T00:00:00Z' }],
  ])('creates customer, subscription and schedules by %s, and activates them', async (_by, first, second) => {
    const version = await makeVersion(tenant)
    const reference = tenant.seed.unique('new')
    const { status, body } = await init({
      customer: { reference, type: 'ORGANIZATION', status: 'ACTIVE', organization: { legal_name: 'New' } },
      pricing_plan_subscription: { ...base(), status: 'ACTIVE' },
      pricing_plan_schedules: [
        { pricing_plan_version_id: version, ...first },
        { pricing_plan_version_id: version, ...second },
      ],
      pricing_plan_subscription_start_at: '2026-03-01T00:00:00Z',
    })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        status: 'ACTIVE',
        customer: { reference, object_type: 'CUSTOMER' },
        pricing_plan_subscription_start_at: '2026-03-01T00:00:00Z',
        enabled_pricings: [],
        entitlements_summary: { entitlements: [] },
      },
    })
    expect(await spans(body['id'])).toEqual([
      ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', 'ACTIVE'],
      ['2026-04-01T00:00:00Z', null, 'ACTIVE'],
    ])
  })

  test.each<[string, (version: string) => Promise<object>, string, string]>([
    ['no subscription', async () => ({}), 'pricing_plan_subscription', 'MISSING_FIELD'],
    [
      'a field of a template form',
      async () => ({ customer_id: 'x', pricing_plan_subscription: {} }),
      'customer_id',
      'INVALID_FIELD',
    ],
    [
      'a faulty subscription',
      async () => ({
        pricing_plan_subscription: { ...base(), customer_id: await customer(), sales_tax_percentage: '101' },
      }),
      'pricing_plan_subscription.sales_tax_percentage',
      'INVALID_FIELD',
    ],
    [
      'a customer twice',
      async () => ({
        customer: { type: 'ORGANIZATION' },
        pricing_plan_subscription: { ...base(), customer_id: await customer() },
      }),
      'pricing_plan_subscription.customer_id',
      'INVALID_FIELD',
    ],
    [
      'a second schedule that lies before the first',
      async version => ({
        pricing_plan_subscription: { ...base(), customer_id: await customer() },
        pricing_plan_schedules: [
          { pricing_plan_version_id: version },
          { pricing_plan_version_id: version, start_at: '2025-01-01T00:00:00Z' },
        ],
      }),
      'pricing_plan_schedules.1.end_at',
      'INVALID_FIELD',
    ],
    [
      'a schedule that leaves a gap after the one before',
      async version => ({
        pricing_plan_subscription: { ...base(), customer_id: await customer() },
        pricing_plan_schedules: [
          { pricing_plan_version_id: version, end_at: '2026-12-01T00:00:00Z' },
          { pricing_plan_version_id: version, start_at: '2027-01-01T00:00:00Z' },
        ],
      }),
      'pricing_plan_schedules.1.start_at',
      'INVALID_FIELD',
    ],
    [
      'a schedule that says no start, after one without an end',
      async version => ({
        pricing_plan_subscription: { ...base(), customer_id: await customer() },
        pricing_plan_schedules: [{ pricing_plan_version_id: version }, { pricing_plan_version_id: version }],
      }),
      'pricing_plan_schedules.1.start_at',
      'MISSING_FIELD',
    ],
    [
      'another start',
      async version => ({
        pricing_plan_subscription: { ...base(), customer_id: await customer() },
        pricing_plan_subscription_start_at: '2026-03-01T00:00:00Z',
        pricing_plan_schedules: [{ pricing_plan_version_id: version, start_at: '2026-03-02T00:00:00Z' }],
      }),
      'pricing_plan_schedules.0.start_at',
      'INVALID_FIELD',
    ],
  ])('refuses %s by its place, and keeps nothing', async (_title, bodyOf, field, code) => {
    const body = await bodyOf(await makeVersion(tenant))
    const before = await count()
    expect(await init(body)).toMatchObject({ status: 400, body: refusal(field, code) })
    expect(await count()).toBe(before)
  })

  test('needs the permission of each thing that it makes', async () => {
    const permissions = ['PRICING_PLAN_SUBSCRIPTION.CREATE', 'PRICING_PLAN_SUBSCRIPTION.UPDATE']
    const call = async (more: string[]) => {
      const role = await succeed(tenant, 'POST', '/v1/roles', {
        name: tenant.seed.unique('Some'),
        permissions: [...permissions, ...more],
      })
      const userId = await api.administrator(tenant.tenant)
      await api.sql('update user_memberships set role_ids = $2 where user_id = $1', [userId, [role['id']]])
      return api.as(userId, tenant.tenant)
    }
    const body = {
      customer: { type: 'ORGANIZATION', status: 'ACTIVE' },
      pricing_plan_subscription: base(),
      pricing_plan_schedules: [{ pricing_plan_version_id: await makeVersion(tenant) }],
    }
    const init = async (...more: string[]) => await (await call(more))('POST', `${PATH}/init`, body)
    expect((await init()).body).toEqual(refusal('pricing_plan_schedules', 'USER_NOT_ALLOWED'))
    const schedules = 'PRICING_PLAN_SCHEDULE.CREATE'
    expect((await init(schedules)).body).toEqual(refusal('customer', 'USER_NOT_ALLOWED'))
    // Who may not view customers is shown none.
    const made = await init(schedules, 'CUSTOMER.CREATE')
    expect(made).toMatchObject({ status: 200, body: { customer: null, entitlements_summary: null } })
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
