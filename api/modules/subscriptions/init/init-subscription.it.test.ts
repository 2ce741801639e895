// `init` against a real database: what it makes, what it refuses by name, and what is left of a call that fails half-way.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestTenant } from '../../../testing/harness.ts'
import type { UserHarness } from '../../../testing/user-harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { type LifecycleRig, openLifecycleRig, PATH } from '../testing/lifecycle-rig.ts'
import { refusal } from '../testing/refusal.ts'
import { makeActiveSubscription, makeSchedule, makeVersion, succeed } from '../testing/seed-subscription.ts'

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
const count = async (): Promise<number> =>
  Number((await api.sql('select count(*) as n from pricing_plan_subscriptions'))[0]?.['n'])

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
    // Fourteen days by the clock of Amsterdam, where the entity is; it goes forward on the 29th.
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
      'a second schedule that starts before the first one',
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
