// Plans, through the api (semantics 0.6, 3.1).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import { pricingPlanResource } from './pricing-plan.ts'
import { pricingPlanVersionResource } from './pricing-plan-version.ts'

let api: ApiHarness
let a: TestTenant
let catalog: ReturnType<typeof catalogOf>
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  catalog = catalogOf(a)
})
afterAll(() => api?.close())

describe('plans', () => {
  test('a plan is created with its defaults, found by reference, and lists its versions', async () => {
    const reference = a.seed.unique('plan')
    const created = await a.call('POST', '/v1/pricing-plans', { reference, name: 'Standard' })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      object_type: 'PRICING_PLAN',
      reference,
      type: 'STANDARD',
      amount_type: 'EXCLUDING_TAX',
      variant: 'DEFAULT',
      pricing_plan_version_infos: [],
    })
    const version = await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: created.body['id'] })
    const read = await a.call('GET', `/v1/pricing-plans/${reference}`)
    expect(read.body['pricing_plan_version_infos']).toEqual([{ version: 1, id: version.body['id'], status: 'DRAFT' }])
  })

  test.each([
    ['currencies, which follow from its versions', { pricing_currencies: ['EUR'] }, 'pricing_currencies'],
    ['a customer of a plan for all', { customer_id: 'cust_1' }, 'customer_id'],
  ])('%s is refused by name', async (_name, over, field) => {
    const answer = await a.call('POST', '/v1/pricing-plans', { reference: a.seed.unique('plan'), ...over })
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', field])
  })

  test('a plan needs a reference', async () => {
    expect(refusal(await a.call('POST', '/v1/pricing-plans', { name: 'x' }))).toEqual([
      400,
      'MISSING_FIELD',
      'reference',
    ])
  })

  test('a CUSTOM plan is for one customer, for good', async () => {
    const [own, other] = [await a.seed.make(customerResource), await a.seed.make(customerResource)]
    const foreign = await api.tenants.bLive.seed.make(customerResource)
    const post = (given: object) =>
      a.call('POST', '/v1/pricing-plans', { reference: a.seed.unique('plan'), type: 'CUSTOM', ...given })
    expect(refusal(await post({}))).toEqual([400, 'MISSING_FIELD', 'customer_id'])
    expect(refusal(await post({ customer_id: foreign.id }))).toEqual([404, 'RESOURCE_NOT_FOUND', 'customer_id'])
    const plan = await post({ customer_id: own.id })
    expect([plan.status, plan.body['type'], plan.body['customer_id']]).toEqual([201, 'CUSTOM', own.id])
    const url = `/v1/pricing-plans/${plan.body['id']}`
    expect(refusal(await a.call('PATCH', url, { customer_id: other.id }))).toEqual([
      400,
      'INVALID_FIELD',
      'customer_id',
    ])
    expect(refusal(await a.call('PATCH', url, { type: 'STANDARD' }))).toEqual([400, 'INVALID_FIELD', 'type'])
    const listed = await a.call('GET', `/v1/pricing-plans?customer_id=${own.id}&type=CUSTOM`)
    expect(listed.body['data'].map((row: Row) => row['id'])).toEqual([plan.body['id']])
    expect(refusal(await a.call('DELETE', `/v1/customers/${own.id}`)).slice(0, 2)).toEqual([
      409,
      'COULD_NOT_DELETE_RESOURCE',
    ])
    const version = await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: plan.body['id'] })
    const scheduled = async (customer_id: string) => {
      const { billing_entity_id } = await a.seed.make(subscriptionResource)
      const subscription = await a.call('POST', '/v1/pricing-plan-subscriptions', {
        customer_id,
        billing_entity_id,
        billing_currency: 'EUR',
      })
      return await a.call('POST', '/v1/pricing-plan-schedules', {
        pricing_plan_subscription_id: subscription.body['id'],
        pricing_plan_version_id: version.body['id'],
        start_at: '2026-01-01T00:00:00Z',
      })
    }
    expect((await scheduled(own.id)).status).toBe(201)
    expect(refusal(await scheduled(other.id))).toEqual([400, 'INVALID_FIELD', 'pricing_plan_version_id'])
    const file = await a.call('GET', '/v1/catalog')
    expect(JSON.stringify(file.body)).not.toContain(plan.body['reference'])
  })

  test('are offered by the country of the customer: in searches, and to new schedules', async () => {
    const rule = (comparator: string, over: object = {}) => ({
      type: 'RESOURCE',
      resource: { type: 'CUSTOMER', field: 'COUNTRY', comparator, ...over },
    })
    const prefix = a.seed.unique('offered')
    const planOf = async (name: string, ...rules: object[]) => {
      const body = { reference: `${prefix}-${name}`, pricing_plan_selection_rules: rules }
      return await a.call('POST', '/v1/pricing-plans', body)
    }
    const field = 'pricing_plan_selection_rules.0.resource'
    expect(refusal(await planOf('x', rule('IN', { value: 'NL' })))).toEqual([400, 'INVALID_FIELD', `${field}.value`])
    expect(refusal(await planOf('x', rule('IN')))).toEqual([400, 'MISSING_FIELD', `${field}.values`])
    expect(refusal(await planOf('x', rule('EQUALS', { value: 'XX' })))).toEqual([
      400,
      'INVALID_FIELD',
      `${field}.value`,
    ])
    expect(refusal(await planOf('x', rule('CONTAINS', { value: 'N' })))).toEqual([
      400,
      'INVALID_FIELD',
      `${field}.comparator`,
    ])
    const nl = await planOf('nl', rule('EQUALS', { value: 'NL' }))
    await planOf('benelux', rule('IN', { values: ['NL', 'BE', 'LU'] }), rule('NOT_EQUALS', { value: 'LU' }))
    await planOf('rest', rule('NOT_IN', { values: ['NL'] }))
    await planOf('known', rule('NOT_EMPTY'))
    await planOf('unknown', rule('EMPTY'))
    await planOf('all')
    const offered = async (value: string) => {
      const search_fields = [{ name: 'reference', value: `${prefix}-`, wildcard_end: true }]
      const selection_rule_fields = [{ name: 'COUNTRY', value }]
      const { body } = await a.call('POST', '/v1/pricing-plans/search', { search_fields, selection_rule_fields })
      return body['data'].map((row: Row) => row['reference'].slice(prefix.length + 1)).sort()
    }
    expect(await offered('NL')).toEqual(['all', 'benelux', 'known', 'nl'])
    expect(await offered('LU')).toEqual(['all', 'known', 'rest'])
    expect(await offered('')).toEqual(['all', 'rest', 'unknown'])
    for (const name of ['CITY', 'constructor', '__proto__']) {
      const unknown = await a.call('POST', '/v1/pricing-plans/search', {
        selection_rule_fields: [{ name, value: 'Utrecht' }],
      })
      expect(refusal(unknown)).toEqual([400, 'INVALID_FIELD', 'selection_rule_fields.0.name'])
    }
    const version = await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: nl.body['id'] })
    const scheduled = async (country: string) => {
      const customer = await a.call('POST', '/v1/customers', {
        type: 'ORGANIZATION',
        organization: { legal_name: 'Acme', registered_address: { country } },
      })
      const { billing_entity_id } = await a.seed.make(subscriptionResource)
      const body = { customer_id: customer.body['id'], billing_entity_id, billing_currency: 'EUR' }
      const subscription = await a.call('POST', '/v1/pricing-plan-subscriptions', body)
      return await a.call('POST', '/v1/pricing-plan-schedules', {
        pricing_plan_subscription_id: subscription.body['id'],
        pricing_plan_version_id: version.body['id'],
        start_at: '2026-01-01T00:00:00Z',
      })
    }
    expect((await scheduled('NL')).status).toBe(201)
    expect(refusal(await scheduled('DE'))).toEqual([400, 'INVALID_FIELD', 'pricing_plan_version_id'])
  })

  test('are listed by the statuses of their versions, each once', async () => {
    const { version } = await catalog.activeVersion()
    const plan = await a.seed.make(pricingPlanResource)
    await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: plan['id'] })
    await a.call('POST', '/v1/pricing-plan-versions', { pricing_plan_id: plan['id'] })
    const none = await a.seed.make(pricingPlanResource)
    const list = async (...statuses: string[]) => {
      const query = statuses.map(status => `&statuses[]=${status}`).join('')
      const { body } = await a.call('GET', `/v1/pricing-plans?limit=100${query}`)
      const ids = body['data'].map((row: Row) => row['id'])
      return [version['pricing_plan_id'], plan['id'], none['id']].map(
        id => ids.filter((each: string) => each === id).length,
      )
    }
    expect(await list('ACTIVE')).toEqual([1, 0, 0])
    expect(await list('DRAFT')).toEqual([0, 1, 0])
    expect(await list('ACTIVE', 'DRAFT')).toEqual([1, 1, 0])
    const bad = await a.call('GET', '/v1/pricing-plans?statuses[]=LIVE')
    expect([bad.status, bad.body['code']]).toEqual([400, 'INVALID_FIELD'])
  })

  test('agent_context is stored, merged, bounded and cleared', async () => {
    const plan = await a.seed.make(pricingPlanResource)
    const patch = (guidance: unknown) => a.call('PATCH', `/v1/pricing-plans/${plan['id']}`, { agent_context: guidance })
    expect((await patch({ guidance: 'Sell it.' })).body['agent_context']).toEqual({ guidance: 'Sell it.' })
    expect(refusal(await patch({ guidance: 'x'.repeat(2_501) }))).toEqual([
      400,
      'INVALID_FIELD',
      'agent_context.guidance',
    ])
    expect((await patch(null)).body['agent_context']).toBe(null)
  })

  test('null clears a name, but neither what is required nor what has a default', async () => {
    const plan = await a.seed.make(pricingPlanResource)
    const url = `/v1/pricing-plans/${plan['id']}`
    expect((await a.call('PATCH', url, { name: null })).body['name']).toBe(null)
    expect(refusal(await a.call('PATCH', url, { reference: null }))).toEqual([400, 'INVALID_FIELD', 'reference'])
    await a.call('PATCH', url, { amount_type: 'INCLUDING_TAX' })
    expect((await a.call('PATCH', url, { amount_type: null })).body['amount_type']).toBe('EXCLUDING_TAX')
  })

  test('amount_type is fixed once a version is live', async () => {
    const { version } = await catalog.activeVersion()
    const answer = await a.call('PATCH', `/v1/pricing-plans/${version['pricing_plan_id']}`, {
      amount_type: 'INCLUDING_TAX',
    })
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'amount_type'])
  })

  test('a plan with versions is not deleted, one without is', async () => {
    const version = await a.seed.make(pricingPlanVersionResource)
    const answer = await a.call('DELETE', `/v1/pricing-plans/${version['pricing_plan_id']}`)
    expect([answer.status, answer.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
    const plan = await a.seed.make(pricingPlanResource)
    expect((await a.call('DELETE', `/v1/pricing-plans/${plan['id']}`)).status).toBe(200)
  })

  test('PUT finds a plan by its reference; search and order find it by name', async () => {
    const body = { reference: a.seed.unique('plan'), name: a.seed.unique('Aardvark') }
    expect((await a.call('PUT', '/v1/pricing-plans', body)).status).toBe(201)
    const again = await a.call('PUT', '/v1/pricing-plans', { ...body, description: 'Again.' })
    expect([again.status, again.body['description']]).toEqual([200, 'Again.'])
    const found = await a.call('POST', '/v1/pricing-plans/search', {
      search_fields: [{ name: 'name', value: body.name }],
    })
    expect(found.body['data']).toEqual([again.body])
    const first = await a.call('GET', '/v1/pricing-plans?order_by=name&order_direction=asc&limit=1')
    expect(first.body['data']).toEqual([again.body])
    const filter = await a.call('POST', '/v1/pricing-plans/search', { filter_fields: [{ name: 'status', value: 'x' }] })
    expect(refusal(filter)).toEqual([400, 'INVALID_FIELD', 'filter_fields.0.name'])
  })
})
