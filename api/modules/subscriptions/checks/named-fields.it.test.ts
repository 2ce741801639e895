// A refusal names a field of the request, or none: never one that only what the request starts from has.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur } from '../../../testing/catalog.ts'
import type { Answer, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import {
  makeActiveSubscription,
  makeSchedule,
  makeSubscription,
  makeVersion,
  succeed,
} from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

const SUBSCRIPTIONS = '/v1/pricing-plan-subscriptions'
const SCHEDULES = '/v1/pricing-plan-schedules'
const MARCH = '2026-03-01T00:00:00Z'
const MONTH = { type: 'MONTH', value: 1 }
const YEAR = { type: 'YEAR', value: 1 }
const refused = ({ status, body }: Answer) => ({ status, code: body['code'], field: body['field'] })
const deprecate = (version: string) =>
  succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version}`, { status: 'DEPRECATED' })

/** An ACTIVE template with one schedule. */
async function activeTemplate() {
  const { id: billing_entity_id } = await tenant.seed.make(billingEntityResource)
  const template = await succeed(tenant, 'POST', SUBSCRIPTIONS, {
    type: 'TEMPLATE',
    billing_entity_id,
    billing_currency: 'EUR',
  })
  const version = await makeVersion(tenant)
  const schedule = await makeSchedule(tenant, template['id'], MARCH, { pricing_plan_version_id: version })
  await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${template['id']}`, { status: 'ACTIVE' })
  return { template, version, schedule }
}

test('what is copied has a version that is not sold any more: the refusal names the schedule, and no field', async () => {
  const id = await makeSubscription(tenant)
  const version = await makeVersion(tenant)
  const schedule = await makeSchedule(tenant, id, MARCH, { pricing_plan_version_id: version })
  await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
  await deprecate(version)
  const of = { code: 'INVALID_OPERATION', resource_id: schedule }
  for (const [call, body, advice] of [
    [`${SUBSCRIPTIONS}/${id}/copy`, {}, 'Create a subscription instead'],
    [
      `${SCHEDULES}/${schedule}/copy`,
      { start_at: '2026-05-01T00:00:00Z' },
      `/v1/pricing-plan-schedules/${schedule}/migrate`,
    ],
  ] as const) {
    const answer = await tenant.call('POST', call, body)
    expect(answer).toMatchObject({ status: 400, body: { ...of, message: expect.stringContaining(advice) } })
    expect(answer.body['field']).toBeUndefined()
  }
})

test('a template whose version is not sold any more is what is wrong with the request', async () => {
  const { template, version, schedule } = await activeTemplate()
  await deprecate(version)
  const other = await succeed(tenant, 'GET', `${SUBSCRIPTIONS}/${await makeSubscription(tenant)}`)
  for (const customizations of [[], [{ pricing_plan_schedule_id: schedule, units: [] }]]) {
    const answer = await tenant.call('POST', `${SUBSCRIPTIONS}/init`, {
      template_pricing_plan_subscription_id: template['id'],
      customer_id: other['customer_id'],
      ...(customizations.length === 0 ? {} : { pricing_plan_schedule_customizations: customizations }),
    })
    const field = 'template_pricing_plan_subscription_id'
    expect(refused(answer)).toEqual({ status: 400, code: 'INVALID_FIELD', field })
    expect(answer.body['message']).toContain(schedule)
  }
})

test('a plan without a price for the billing period that is kept is what is wrong with a change of plan', async () => {
  const catalog = catalogOf(tenant)
  const item = await catalog.itemOf({})
  const sold = async (periods: readonly Row[]): Promise<Row> => {
    const version = await tenant.seed.make(pricingPlanVersionResource)
    const billing_period_configs = periods.map(billing_period => ({
      billing_period,
      configs: [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur('12') }] }],
    }))
    await succeed(tenant, 'POST', '/v1/pricings', {
      pricing_plan_version_id: version.id,
      product_ids: [item['product_id']],
      items: [{ product_item_ids: [item['id']], billing_period_configs }],
    })
    return await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version.id}`, { status: 'ACTIVE' })
  }
  const [both, monthly] = [await sold([MONTH, YEAR]), await sold([MONTH])]
  await succeed(tenant, 'POST', '/v1/pricing-plan-groups', {
    reference: tenant.seed.unique('group'),
    status: 'ACTIVE',
    pricing_plan_ids: [both['pricing_plan_id'], monthly['pricing_plan_id']],
    upgrade_type: 'IMMEDIATE',
    downgrade_type: 'IMMEDIATE',
  })
  const id = await makeSubscription(tenant)
  await makeSchedule(tenant, id, MARCH, { pricing_plan_version_id: both['id'], billing_period: YEAR })
  await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
  const change = (body: object) => tenant.call('POST', `${SUBSCRIPTIONS}/${id}/change-plan`, body)
  const answer = await change({ pricing_plan_id: monthly['pricing_plan_id'] })
  expect(refused(answer)).toEqual({ status: 400, code: 'INVALID_FIELD', field: 'pricing_plan_id' })
  // What it says can be done is done.
  expect(answer.body['message']).toContain('move to that period within its plan first')
  await succeed(tenant, 'POST', `${SUBSCRIPTIONS}/${id}/change-plan`, {
    pricing_plan_id: both['pricing_plan_id'],
    billing_period: MONTH,
    start_at: '2026-03-12T00:00:00Z',
  })
  expect((await change({ pricing_plan_id: monthly['pricing_plan_id'], start_at: '2026-03-13T00:00:00Z' })).status).toBe(
    201,
  )
})

test('a renewal term is refused for an ACTIVE subscription that has no initial term', async () => {
  const id = await makeActiveSubscription(tenant, MARCH)
  const answer = await tenant.call('PATCH', `${SUBSCRIPTIONS}/${id}`, { renewal_term: MONTH })
  expect(refused(answer)).toEqual({ status: 400, code: 'INVALID_FIELD', field: 'renewal_term' })
})

test('a customer or a billing entity that is gone is refused under the name by which it was given', async () => {
  const customer = await tenant.seed.make(customerResource)
  const entity = await tenant.seed.make(billingEntityResource)
  const [archived, retired] = [await tenant.seed.make(customerResource), await tenant.seed.make(billingEntityResource)]
  await succeed(tenant, 'POST', `/v1/customers/${archived.id}/archive`)
  for (const status of ['DEPRECATED', 'ARCHIVED'])
    await succeed(tenant, 'PATCH', `/v1/billing-entities/${retired.id}`, { status })
  const create = (more: object) => tenant.call('POST', SUBSCRIPTIONS, { billing_currency: 'EUR', ...more })
  const by = (party: Row) => party['reference']
  for (const [body, field] of [
    [{ customer_reference: by(archived), billing_entity_id: entity.id }, 'customer_reference'],
    [{ customer_id: archived.id, billing_entity_id: entity.id }, 'customer_id'],
    [{ customer_id: customer.id, billing_entity_reference: by(retired) }, 'billing_entity_reference'],
    [{ customer_id: customer.id, billing_entity_id: retired.id }, 'billing_entity_id'],
  ] as const)
    expect(refused(await create(body))).toEqual({ status: 400, code: 'INVALID_FIELD', field })
})

describe('what is refused when init activates has the path that the body gives it', () => {
  const init = (body: object) => tenant.call('POST', `${SUBSCRIPTIONS}/init`, body)
  const US = { registered_address: { country: 'US', state: 'NY' } }

  test('in full', async () => {
    const planned = await makeVersion(tenant, 'DRAFT')
    const version = await makeVersion(tenant)
    const customer = { type: 'ORGANIZATION', status: 'ACTIVE', organization: US }
    const entity = await succeed(tenant, 'POST', '/v1/billing-entities', {
      reference: tenant.seed.unique('entity'),
      legal_name: 'Issuer Inc.',
      ...US,
    })
    const terms = { billing_entity_id: entity['id'], billing_currency: 'EUR', status: 'ACTIVE' }
    const taxed = { ...terms, sales_tax_percentage: '8' }
    const schedules = [{ pricing_plan_version_id: version, start_at: MARCH, end_at: '2026-04-01T00:00:00Z' }]
    for (const [body, field] of [
      [
        { customer, pricing_plan_subscription: terms, pricing_plan_schedules: schedules },
        'pricing_plan_subscription.sales_tax_percentage',
      ],
      [{ customer, pricing_plan_subscription: taxed }, 'pricing_plan_subscription.status'],
      [
        {
          customer: { ...customer, status: 'DRAFT' },
          pricing_plan_subscription: taxed,
          pricing_plan_schedules: schedules,
        },
        'customer',
      ],
      [
        {
          customer,
          pricing_plan_subscription: taxed,
          pricing_plan_schedules: [...schedules, { pricing_plan_version_id: planned }],
        },
        'pricing_plan_schedules.1.pricing_plan_version_id',
      ],
    ] as const)
      expect(refused(await init(body)).field).toBe(field)
  })

  test('from a template, whose schedules are in no body', async () => {
    const { template } = await activeTemplate()
    const field = 'template_pricing_plan_subscription_id'
    // No exchange rate is needed before it is activated.
    const { id: customer_id } = await tenant.seed.make(customerResource)
    const body = { [field]: template['id'], customer_id, billing_currency: 'ISK', status: 'ACTIVE' }
    expect(refused(await init(body)).field).toBe(field)
  })
})
