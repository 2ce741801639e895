// Subscriptions against a real database: what is accepted, what is refused and why, and what calls at once leave behind.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiHarness, TestTenant } from '../../testing/harness.ts'
import { noticeTypesOf } from '../../testing/notices.ts'
import { billingEntityResource } from '../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { refusal } from './testing/refusal.ts'
import {
  makeActiveSubscription,
  makeSchedule,
  makeSubscription,
  makeVersion,
  succeed,
} from './testing/seed-subscription.ts'
import { startAt } from './testing/start-at.ts'

let api: ApiHarness
let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

const PATH = '/v1/pricing-plan-subscriptions'
const NOW = Date.parse('2026-03-11T10:00:00Z')

describe('create', () => {
  test('fills what was left out from the platform and shows no internal column', async () => {
    const entity = await tenant.seed.make(billingEntityResource)
    const platform = { default_billing_entity_id: entity['id'], default_pricing_currency: 'USD' }
    await succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, platform)
    const customer = await tenant.seed.make(customerResource)
    const { status, body } = await tenant.call('POST', PATH, { customer_reference: customer['reference'] })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      object_type: 'PRICING_PLAN_SUBSCRIPTION',
      status: 'DRAFT',
      customer_id: customer['id'],
      customer_reference: customer['reference'],
      billing_entity_id: entity['id'],
      billing_currency: 'USD',
      billing_period: { type: 'MONTH', value: 1 },
      billing_time: 'CALENDAR',
      due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: 30 } },
      type: 'BILLING',
      variant: 'DEFAULT',
      init_invoice_on_hold: false,
      inactive_periods: [],
      pricing_plan_schedule_infos: [],
    })
    expect(body['id']).toMatch(/^ppsu_/)
    const [event] = await api.sql('select data from outbox where object_id = $1', [body['id']])
    for (const shown of [body, event?.['data']]) {
      expect(shown).not.toHaveProperty('next_billing_at')
      expect(shown).not.toHaveProperty('cancelled_at')
    }
  })

  test.each([
    [{ status: 'ACTIVE' }, 'status', 'INVALID_FIELD', 400],
    [{ type: 'TEMPLATE' }, 'customer_id', 'INVALID_FIELD', 400],
    [{ variant: 'FORWARD_BILLING' }, 'forward_customer_id', 'MISSING_FIELD', 400],
    [{ variant: 'SELLER' }, 'seller_details', 'MISSING_FIELD', 400],
    [{ sales_tax_percentage: '100.5' }, 'sales_tax_percentage', 'INVALID_FIELD', 400],
    [
      { due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE' } },
      'due_date_configuration.period',
      'MISSING_FIELD',
      400,
    ],
    [{ billing_period: { type: 'MONTH', value: 0 } }, 'billing_period.value', 'INVALID_FIELD', 400],
    [{ customer_id: 'cust_0000000000000000000000' }, 'customer_id', 'RESOURCE_NOT_FOUND', 404],
    [{ customer_id: null }, 'customer_id', 'MISSING_FIELD', 400],
    [{ customer_reference: 'nobody' }, 'customer_reference', 'RESOURCE_NOT_FOUND', 404],
    [{ combine: 'yes' }, 'combine', 'INVALID_FIELD', 400],
    [{ activated_at: '2026-01-01T00:00:00Z' }, 'activated_at', 'INVALID_FIELD', 400],
  ])('refuses %j by name', async (fault, field, code, status) => {
    const body = {
      customer_id: (await tenant.seed.make(customerResource))['id'],
      billing_entity_id: (await tenant.seed.make(billingEntityResource))['id'],
      billing_currency: 'EUR',
    }
    expect(await tenant.call('POST', PATH, { ...body, ...fault })).toMatchObject({ status, body: refusal(field, code) })
  })

  test('refuses a customer who is archived, and an id that contradicts the reference', async () => {
    const [one, other] = [await tenant.seed.make(customerResource), await tenant.seed.make(customerResource)]
    const body = { customer_id: one['id'], customer_reference: other['reference'], billing_currency: 'EUR' }
    expect((await tenant.call('POST', PATH, body)).body).toEqual(refusal('customer_reference'))
    await succeed(tenant, 'POST', `/v1/customers/${one['id']}/archive`)
    expect((await tenant.call('POST', PATH, { customer_id: one['id'], billing_currency: 'EUR' })).body).toEqual(
      refusal('customer_id'),
    )
  })
})

test('a DRAFT changes its parties by their references, also where an answer is sent back with one form changed', async () => {
  const [one, other] = [await tenant.seed.make(customerResource), await tenant.seed.make(customerResource)]
  const entity = await tenant.seed.make(billingEntityResource)
  const reference = tenant.seed.unique('put')
  const body = { reference, customer_reference: one['reference'], billing_currency: 'EUR' }
  const put = (more: object) => tenant.call('PUT', PATH, { ...body, ...more })
  const { id } = (await put({})).body
  const patch = (change: object) => tenant.call('PATCH', `${PATH}/${id}`, change)
  const by = { customer_reference: other['reference'] }
  expect(await put(by)).toMatchObject({ status: 200, body: { customer_id: other['id'], ...by } })
  expect((await patch({ ...by, customer_id: one['id'] })).body).toMatchObject({ customer_id: one['id'] })
  expect((await patch({ billing_entity_reference: entity['reference'] })).body).toMatchObject({
    billing_entity_id: entity['id'],
  })
  const third = await tenant.seed.make(customerResource)
  expect((await patch({ ...by, customer_id: third['id'] })).body).toEqual(refusal('customer_reference'))
  const live = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  expect((await tenant.call('PATCH', `${PATH}/${live}`, by)).body).toEqual(refusal('customer_reference'))
})

describe('a customer with a subscription', () => {
  const archive = (id: string) => tenant.call('POST', `/v1/customers/${id}/archive`)

  test('is archived once none of them is live', async () => {
    const id = await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z')
    const { customer_id } = await succeed(tenant, 'GET', `${PATH}/${id}`)
    expect(await archive(customer_id)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_OPERATION', resource_id: id },
    })
    const patched = await tenant.call('PATCH', `/v1/customers/${customer_id}`, { status: 'ARCHIVED' })
    expect(patched).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION', field: 'status' } })
    await succeed(tenant, 'POST', `${PATH}/${id}/cancel`, { type: 'NOW' })
    expect(await archive(customer_id)).toMatchObject({ status: 200, body: { status: 'ARCHIVED' } })
  })

  test('is never both archived and subscribed, when both are done at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const id = await makeSubscription(tenant)
      await makeSchedule(tenant, id, '2026-01-01T00:00:00Z')
      const { customer_id } = await succeed(tenant, 'GET', `${PATH}/${id}`)
      const [activated, archived] = await Promise.all([
        tenant.call('PATCH', `${PATH}/${id}`, { status: 'ACTIVE' }),
        archive(customer_id),
      ])
      expect([activated.status, archived.status].toSorted()).toEqual([200, 400])
    }
  })
})

describe('activation', () => {
  test('needs a schedule; its version and both parties must be ACTIVE', async () => {
    const id = await makeSubscription(tenant)
    const activate = () => tenant.call('PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
    expect(await activate()).toMatchObject({ status: 400, body: refusal('status', 'INVALID_OPERATION') })
    const version = await makeVersion(tenant, 'DRAFT')
    await makeSchedule(tenant, id, '2026-03-11T00:00:00Z', { pricing_plan_version_id: version })
    expect((await activate()).body).toEqual(refusal('pricing_plan_version_id'))
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version}`, { status: 'ACTIVE' })
    const { customer_id } = await succeed(tenant, 'GET', `${PATH}/${id}`)
    await succeed(tenant, 'POST', `/v1/customers/${customer_id}/deprecate`)
    expect((await activate()).body).toEqual(refusal('customer_id', 'INVALID_OPERATION'))
    await succeed(tenant, 'POST', `/v1/customers/${customer_id}/activate`)
    expect(await activate()).toMatchObject({ status: 200, body: { status: 'ACTIVE' } })
  })

  test('activates the draft schedules in the order of time, lists them, and is due at once', async () => {
    api.clock.set(NOW)
    const id = await makeSubscription(tenant)
    const late = await makeSchedule(tenant, id, '2026-06-01T00:00:00+02:00')
    const early = await makeSchedule(tenant, id, '2026-03-11T00:00:00+01:00', { end_at: '2026-05-31T22:00:00Z' })
    const body = await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE', name: 'Renamed' })
    expect(body).toMatchObject({ status: 'ACTIVE', name: 'Renamed', activated_at: '2026-03-11T10:00:00Z' })
    expect(body['pricing_plan_schedule_infos']).toMatchObject([
      { id: early, start_at: '2026-03-10T23:00:00Z', end_at: '2026-05-31T22:00:00Z' },
      { id: late, start_at: '2026-05-31T22:00:00Z', end_at: null },
    ])
    const order = await api.sql(
      "select object_id from outbox where object_id = any($1) and data->>'status' = 'ACTIVE' order by seq",
      [[early, late]],
    )
    expect(order.map(row => row['object_id'])).toEqual([early, late])
    expect(
      await api.sql('select next_billing_at = activated_at as due from pricing_plan_subscriptions where id = $1', [id]),
    ).toEqual([{ due: true }])
  })

  test('of two at once, one activates and both answer ACTIVE', async () => {
    const id = await makeSubscription(tenant)
    await makeSchedule(tenant, id, '2026-03-11T00:00:00Z')
    const activate = () => tenant.call('PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
    const answers = await Promise.all([activate(), activate(), activate()])
    expect(answers.map(({ status, body }) => [status, body['status']])).toEqual(Array(3).fill([200, 'ACTIVE']))
    const types = await noticeTypesOf(api, id)
    expect(types.filter(type => type.endsWith('.UPDATED'))).toHaveLength(1)
    expect(types.filter(type => type.endsWith('.ACTIVATED'))).toHaveLength(1)
  })

  test.each([
    ['billing_currency', 'USD'],
    ['billing_period', { type: 'YEAR', value: 1 }],
    ['billing_time', 'EXACT'],
    ['reference', 'other'],
  ])('freezes %s', async (name, value) => {
    const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    expect((await tenant.call('PATCH', `${PATH}/${id}`, { [name]: value })).body).toEqual(refusal(name))
  })

  test('leaves open what only describes', async () => {
    const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const patch = {
      name: 'N',
      purchase_order_number: null,
      due_date_configuration: { type: 'END_OF_THE_MONTH', period: null },
    }
    expect(await succeed(tenant, 'PATCH', `${PATH}/${id}`, patch)).toMatchObject({
      name: 'N',
      due_date_configuration: { type: 'END_OF_THE_MONTH' },
    })
  })

  test.each(['CANCELLED', 'VOID', 'DRAFT'])('no PATCH makes an ACTIVE one %s', async status => {
    const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const { body } = await tenant.call('PATCH', `${PATH}/${id}`, { status })
    expect(body).toEqual(refusal('status', 'INVALID_OPERATION'))
  })
})

describe('deletion and archiving', () => {
  test('a DRAFT goes with its schedules, and each deletion is an event', async () => {
    const id = await makeSubscription(tenant)
    const schedule = await makeSchedule(tenant, id, '2026-03-11T00:00:00Z')
    await succeed(tenant, 'DELETE', `${PATH}/${id}`)
    expect((await tenant.call('GET', `/v1/pricing-plan-schedules/${schedule}`)).status).toBe(404)
    expect((await tenant.call('GET', `${PATH}/${id}`)).status).toBe(404)
    expect(await noticeTypesOf(api, schedule)).toEqual([
      'PRICING_PLAN_SCHEDULE.CREATED',
      'PRICING_PLAN_SCHEDULE.DELETED',
    ])
    expect((await noticeTypesOf(api, id)).at(-1)).toBe('PRICING_PLAN_SUBSCRIPTION.DELETED')
  })

  test('an ACTIVE one is neither deleted nor archived, a cancelled one is archived once it has been billed', async () => {
    const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    expect(await tenant.call('DELETE', `${PATH}/${id}`)).toMatchObject({
      status: 409,
      body: { code: 'COULD_NOT_DELETE_RESOURCE' },
    })
    expect((await tenant.call('POST', `${PATH}/${id}/archive`)).body).toEqual(refusal('status', 'INVALID_OPERATION'))
    await succeed(tenant, 'POST', `${PATH}/${id}/cancel`, { type: 'NOW' })
    expect((await tenant.call('POST', `${PATH}/${id}/archive`)).body).toEqual(refusal('status', 'INVALID_OPERATION'))
    await api.sql('update pricing_plan_subscriptions set next_billing_at = null where id = $1', [id])
    expect(await succeed(tenant, 'POST', `${PATH}/${id}/archive`)).toMatchObject({ status: 'ARCHIVED' })
  })

  test('a customer with a subscription is not deleted', async () => {
    const customer = await succeed(tenant, 'POST', '/v1/customers', { type: 'INDIVIDUAL' })
    const entity = await tenant.seed.make(billingEntityResource)
    await succeed(tenant, 'POST', PATH, {
      customer_id: customer['id'],
      billing_entity_id: entity['id'],
      billing_currency: 'EUR',
    })
    expect(await tenant.call('DELETE', `/v1/customers/${customer['id']}`)).toMatchObject({
      status: 409,
      body: { code: 'COULD_NOT_DELETE_RESOURCE' },
    })
  })
})

describe('lists', () => {
  test('filter by customer, status and reference, and expand both parties', async () => {
    const id = await makeSubscription(tenant)
    const { customer_id, reference } = await succeed(tenant, 'GET', `${PATH}/${id}`)
    for (const query of [
      `customer_id=${customer_id}`,
      `reference=${reference}`,
      `customer_id=${customer_id}&statuses[]=DRAFT&status=DRAFT`,
    ]) {
      const { data } = await succeed(tenant, 'GET', `${PATH}?${query}&expand[]=customer&expand[]=billing_entity`)
      expect(data).toHaveLength(1)
      expect(data[0]).toMatchObject({
        id,
        customer: { id: customer_id },
        billing_entity: { object_type: 'BILLING_ENTITY' },
      })
    }
    expect((await succeed(tenant, 'GET', `${PATH}?customer_id=${customer_id}&status=ACTIVE`))['data']).toEqual([])
    expect((await tenant.call('GET', `${PATH}?combine=true`)).body).toEqual(refusal('combine'))
  })

  test('expand the version of each active schedule, by the name of the field too', async () => {
    const id = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    for (const name of ['pricing_plan_version_id', 'pricing_plan_version', 'ALL']) {
      const [info] = (await succeed(tenant, 'GET', `${PATH}/${id}?expand[]=${name}`))['pricing_plan_schedule_infos']
      expect(info.pricing_plan_version).toMatchObject({
        object_type: 'PRICING_PLAN_VERSION',
        id: info.pricing_plan_version_id,
        status: 'ACTIVE',
      })
    }
    expect((await tenant.call('GET', `${PATH}/${id}?expand[]=schedules`)).body).toEqual(refusal('expand'))
  })

  test('another environment sees nothing of it', async () => {
    const id = await makeSubscription(tenant)
    for (const other of [api.tenants.aTest, api.tenants.bLive]) {
      expect((await other.call('GET', `${PATH}/${id}`)).status).toBe(404)
      expect((await other.call('POST', `${PATH}/${id}/cancel`, { type: 'NOW' })).status).toBe(404)
    }
  })
})

describe('usage of one customer', () => {
  const onVersion = async (customer: string, version: string, more: object = {}) => {
    const id = await makeSubscription(tenant)
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { customer_id: customer })
    await makeSchedule(tenant, id, '2026-01-01T00:00:00Z', { pricing_plan_version_id: version, ...more })
    return id
  }
  const activate = (id: string) => tenant.call('PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })

  test('may be priced by several subscriptions at a time: each event belongs to one of them', async () => {
    const customer = (await tenant.seed.make(customerResource))['id']
    const version = await makeVersion(tenant)
    const ids = [await onVersion(customer, version), await onVersion(customer, version)]
    const answers = await Promise.all(ids.map(activate))
    expect(answers.map(answer => answer.status)).toEqual([200, 200])
  })

  test('of a customer that only sends events is its parents, so it is never billed itself', async () => {
    const parent = (await tenant.seed.make(customerResource))['id']
    const child = await succeed(tenant, 'POST', '/v1/customers', {
      type: 'INDIVIDUAL',
      status: 'ACTIVE',
      roles: ['PROCESSING_ONLY'],
      parent_customer_id: parent,
    })
    const id = await onVersion(child['id'], await makeVersion(tenant))
    expect((await activate(id)).body).toEqual(refusal('customer_id', 'INVALID_OPERATION'))
  })

  test.each([
    [{ type: 'INDIVIDUAL', individual: { residential_address: { country: 'US', state: 'NY' } } }, 400],
    [{ type: 'ORGANIZATION', organization: { registered_address: { country: 'US' }, tax_exempt: true } }, 200],
    [{ type: 'INDIVIDUAL', individual: { residential_address: { country: 'NL' } } }, 200],
  ])('in the US needs a sales tax percentage of whoever is taxed: %j', async (party, expected) => {
    const customer = await succeed(tenant, 'POST', '/v1/customers', { status: 'ACTIVE', ...party })
    const id = await onVersion(customer['id'], await makeVersion(tenant))
    const { billing_entity_id: entity } = await succeed(tenant, 'GET', `${PATH}/${id}`)
    await succeed(tenant, 'PATCH', `/v1/billing-entities/${entity}`, { registered_address: { country: 'US' } })
    const answer = await activate(id)
    expect(answer.status).toBe(expected)
    if (expected === 400) expect(answer.body).toEqual(refusal('sales_tax_percentage', 'MISSING_FIELD'))
  })
})
