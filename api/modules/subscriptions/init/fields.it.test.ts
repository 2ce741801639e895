// `init` on top of a template, field by field: each that it takes is on the subscription, and every other one that a subscription, a
// schedule or the full form has is refused by its name.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import { makeSchedule, succeed } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'
import { CUSTOMIZATIONS, InitBody, membersOf, ON_TOP_OF_TEMPLATE, WITHOUT_TEMPLATE } from './schema.ts'

const PATH = '/v1/pricing-plan-subscriptions'
const FIELD = 'template_pricing_plan_subscription_id'

let api: ApiHarness
let tenant: TestTenant
let stop: () => Promise<void>
let template: string
const ids = { customer: '', other: '', entity: '', field: '' }
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
  ids.customer = (await tenant.seed.make(customerResource))['id']
  ids.other = (await tenant.seed.make(customerResource))['id']
  ids.entity = (await tenant.seed.make(billingEntityResource))['id']
  ids.field = tenant.seed.unique('field')
  const field = { reference: ids.field, resource_type: 'PRICING_PLAN_SUBSCRIPTION', type: 'STRING' }
  await succeed(tenant, 'POST', '/v1/custom-fields', field)
  const words = { name: 'Starter', description: 'Two weeks', purchase_order_number: 'PO-1', combine: false }
  const own = { billing_entity_id: (await tenant.seed.make(billingEntityResource))['id'], billing_currency: 'EUR' }
  template = (await succeed(tenant, 'POST', PATH, { ...own, ...words, type: 'TEMPLATE' }))['id']
  await makeSchedule(tenant, template, '2026-01-01T00:00:00Z')
  await succeed(tenant, 'PATCH', `${PATH}/${template}`, { status: 'ACTIVE' })
})
afterAll(() => stop())

const init = (more: object) =>
  tenant.call('POST', `${PATH}/init`, { [FIELD]: template, customer_id: ids.customer, ...more })

describe('on top of a template', () => {
  const VALUES: Readonly<Record<(typeof ON_TOP_OF_TEMPLATE)[number], () => unknown>> = {
    customer_id: () => ids.other,
    variant: () => 'FORWARD_BILLING',
    forward_customer_id: () => ids.other,
    billing_entity_id: () => ids.entity,
    billing_currency: () => 'USD',
    combine: () => true,
    custom_fields: () => [{ reference: ids.field, value: 'x' }],
    purchase_order_number: () => 'PO-7',
    name: () => 'Own',
    description: () => 'Own words',
    display_invoice_sub_lines_per_processing_only_customer: () => true,
    reference: () => tenant.seed.unique('own'),
    status: () => 'ACTIVE',
  }

  test.each(ON_TOP_OF_TEMPLATE)('%s is what the subscription has', async name => {
    const value = VALUES[name]()
    // Either of the two is nothing without the other.
    const forward = name === 'variant' || name === 'forward_customer_id'
    const pair = forward ? { variant: 'FORWARD_BILLING', forward_customer_id: ids.other } : {}
    const { status, body } = await init({ ...pair, [name]: value })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { type: 'BILLING', name: 'Starter', ...pair, [name]: value },
    })
  })

  test('none of them changes nothing of the template, and what is not given is its own', async () => {
    const before = await succeed(tenant, 'GET', `${PATH}/${template}`)
    const { body } = await init({})
    const kept = [
      'name',
      'description',
      'purchase_order_number',
      'combine',
      'billing_entity_id',
      'billing_currency',
      'billing_period',
    ]
    for (const name of kept) expect([name, body[name]]).toEqual([name, before[name]])
    expect(body).toMatchObject({ status: 'DRAFT', variant: 'DEFAULT', reference: null, custom_fields: [] })
    expect(await succeed(tenant, 'GET', `${PATH}/${template}`)).toEqual(before)
  })

  const TAKEN: readonly string[] = [...ON_TOP_OF_TEMPLATE, FIELD, CUSTOMIZATIONS, 'pricing_plan_subscription_start_at']
  const others = new Set(
    [
      ...Object.keys(membersOf(subscriptionResource.createBody)),
      ...Object.keys(membersOf(scheduleResource.createBody)),
      ...Object.keys(membersOf(InitBody)),
      ...WITHOUT_TEMPLATE,
      'id',
      'invoice',
      'payment_method',
      'unheard_of',
    ].filter(name => !TAKEN.includes(name)),
  )
  /** Where no value of another kind is refused for what it is. */
  const VALID: Readonly<Record<string, unknown>> = {
    customer: { type: 'INDIVIDUAL' },
    pricing_plan_subscription: { billing_currency: 'EUR' },
    pricing_plan_schedules: [{ pricing_plan_version_id: 'ppve_0000000000000000000000' }],
    enabled_pricings: [],
    first_payment: { amount: { quantity: '1', currency: 'EUR' } },
  }

  test.each([...others])('%s is refused by its name, and nothing is made', async name => {
    const count = async () => await api.sql('select count(*) as n from pricing_plan_subscriptions')
    const before = await count()
    expect(await init({ [name]: VALID[name] ?? 'x', status: 'ACTIVE' })).toMatchObject({
      status: 400,
      body: {
        code: 'INVALID_FIELD',
        field: name,
        message: expect.stringContaining('not accepted on top of a template'),
      },
    })
    expect(await count()).toEqual(before)
  })
})

describe('without a template', () => {
  test('the subscription may say that it is BILLING, and no other type', async () => {
    const own = { customer_id: ids.customer, billing_entity_id: ids.entity, billing_currency: 'EUR' }
    const sent = (type: string) => tenant.call('POST', `${PATH}/init`, { pricing_plan_subscription: { ...own, type } })
    expect(await sent('BILLING')).toMatchObject({ status: 200, body: { type: 'BILLING' } })
    for (const type of ['QUOTE', 'TEMPLATE'])
      expect((await sent(type)).body).toMatchObject({ code: 'INVALID_FIELD', field: 'pricing_plan_subscription.type' })
  })

  test.each([...ON_TOP_OF_TEMPLATE, CUSTOMIZATIONS])('%s is refused beside the subscription', async name => {
    const given: Readonly<Record<string, unknown>> = {
      variant: 'DEFAULT',
      combine: true,
      display_invoice_sub_lines_per_processing_only_customer: true,
      custom_fields: [],
      status: 'DRAFT',
      billing_currency: 'EUR',
      [CUSTOMIZATIONS]: [{ pricing_plan_schedule_id: 'x', units: [] }],
    }
    const pricing_plan_subscription = {
      customer_id: ids.customer,
      billing_entity_id: ids.entity,
      billing_currency: 'EUR',
    }
    const body = { pricing_plan_subscription, [name]: given[name] ?? 'x' }
    expect(await tenant.call('POST', `${PATH}/init`, body)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_FIELD', field: name },
    })
  })
})
