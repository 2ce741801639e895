// Entitlements of pricings and schedules, and what a customer has by them (semantics 2), through the api.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTenant } from '../../../../shared/database/database.ts'
import { instantOf } from '../../../../shared/time.ts'
import { eur, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptionResource } from '../subscription.ts'
import { makeSchedule, succeed } from '../testing/seed-subscription.ts'
import { entitlementsOfPlatform } from './entitlements-of.ts'
import { loadEntitlements } from './load-entitlements.ts'

const NOW = Date.parse('2026-03-11T10:00:00Z')
let api: ApiHarness
let a: TestTenant
/** One feature of each type. */
let feature: Readonly<Record<'seats' | 'sso' | 'models' | 'budget' | 'region', Row>>
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  api.clock.set(NOW)
  const make = (type: string, more: object = {}) =>
    succeed(a, 'POST', '/v1/features', { reference: a.seed.unique(type.toLowerCase()), type, ...more })
  feature = {
    seats: await make('NUMBER'),
    sso: await make('SWITCH'),
    models: await make('ENUM', { enum_values: ['small', 'large', 'huge'] }),
    budget: await make('AMOUNT'),
    region: await make('STRING'),
  }
})
afterAll(() => api?.close())

type Name = keyof typeof feature
const to = (name: Name, value: object) => ({ feature_id: feature[name]['id'], ...value })
const shown = (name: Name, value: object) => ({
  feature_id: feature[name]['id'],
  feature_reference: feature[name]['reference'],
  ...{ override: false, overwrite: false, number: null, switch: null, amount: null, enum: null, string: null },
  ...value,
})

/** A DRAFT version and a pricing of it, with these entitlements. */
async function priced(entitlements: readonly object[], version?: Row): Promise<{ version: Row; pricing: Row }> {
  const into = version ?? (await a.seed.make(pricingPlanVersionResource))
  const item = await a.seed.make(productItemResource)
  const pricing = await succeed(a, 'POST', '/v1/pricings', {
    pricing_plan_version_id: into['id'],
    product_ids: [item['product_id']],
    entitlements,
  })
  return { version: into, pricing }
}
const activate = (version: Row) =>
  succeed(a, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })

/** An ACTIVE subscription of the customer on a version that grants this. */
async function subscribe(customer: Row, plan: readonly object[], schedule: object = {}): Promise<string> {
  const { version } = await priced(plan)
  await activate(version)
  const draft = await a.seed.make(subscriptionResource)
  const url = `/v1/pricing-plan-subscriptions/${draft['id']}`
  await succeed(a, 'PATCH', url, { customer_id: customer['id'] })
  await makeSchedule(a, draft['id'], '2026-03-01T00:00:00Z', { pricing_plan_version_id: version['id'], ...schedule })
  await succeed(a, 'PATCH', url, { status: 'ACTIVE' })
  return draft['id']
}

describe('the entitlements of a pricing', () => {
  test('name features by id or reference, show both, and expand them', async () => {
    const given = [
      to('seats', { number: '5' }),
      { feature_reference: feature.sso['reference'], switch: true, overwrite: true },
      to('models', { enum: 'large' }),
      to('budget', { amount: eur('12.50'), override: true }),
      to('region', { string: 'eu' }),
    ]
    const expected = [
      shown('seats', { number: '5' }),
      shown('sso', { switch: true, overwrite: true }),
      shown('models', { enum: 'large' }),
      shown('budget', { amount: eur('12.50'), override: true }),
      shown('region', { string: 'eu' }),
    ]
    const { pricing, version } = await priced(given)
    expect(pricing['entitlements']).toEqual(expected)
    const url = `/v1/pricings/${pricing['id']}`
    const expanded = (await succeed(a, 'GET', `${url}?expand[]=feature`))['entitlements']
    expect(expanded[0]).toEqual({ ...expected[0], feature: expect.objectContaining(feature.seats) })
    // What was shown may be sent back as it is.
    expect((await succeed(a, 'PATCH', url, { entitlements: expanded }))['entitlements']).toEqual(expected)
    expect((await succeed(a, 'PATCH', url, { display_order: 1 }))['entitlements']).toEqual(expected)
    const copy = await succeed(a, 'POST', '/v1/pricing-plan-versions', {
      pricing_plan_id: version['pricing_plan_id'],
      copied_from_pricing_plan_version_id: version['id'],
    })
    expect(copy['pricing_categories'][0].pricings[0].entitlements).toEqual(expected)
    const whole = await succeed(a, 'GET', `/v1/pricing-plan-versions/${version['id']}?expand[]=feature`)
    expect(whole['pricing_categories'][0].pricings[0].entitlements[0].feature).toMatchObject(feature.seats)
    expect((await succeed(a, 'PATCH', url, { entitlements: null }))['entitlements']).toEqual([])
  })

  test('are checked by the type of their feature, naming the place', async () => {
    const { pricing } = await priced([])
    const patch = async (...entitlements: object[]) =>
      refusal(await a.call('PATCH', `/v1/pricings/${pricing['id']}`, { entitlements }))
    const seats = to('seats', { number: '5' })
    const cases: [object[], number, string, string][] = [
      [[seats, to('sso', { number: '1' })], 400, 'INVALID_FIELD', '1.number'],
      [[seats, to('sso', {})], 400, 'MISSING_FIELD', '1.switch'],
      [[to('seats', { number: '1', string: 'x' })], 400, 'INVALID_FIELD', '0.string'],
      [[to('seats', { number: '1e3' })], 400, 'INVALID_FIELD', '0.number'],
      [[to('models', { enum: 'tiny' })], 400, 'INVALID_FIELD', '0.enum'],
      [[to('budget', { amount: { quantity: '1' } })], 400, 'MISSING_FIELD', '0.amount.currency'],
      [[to('seats', { number: '1', limit: '2' })], 400, 'INVALID_FIELD', '0.limit'],
      [[{ number: '5' }], 400, 'MISSING_FIELD', '0.feature_id'],
      [[{ feature_id: 'feat_nothing', number: '5' }], 404, 'RESOURCE_NOT_FOUND', '0.feature_id'],
      [[{ feature_reference: 'nothing', number: '5' }], 404, 'RESOURCE_NOT_FOUND', '0.feature_reference'],
      [[{ ...seats, feature_reference: feature.sso['reference'] }], 400, 'INVALID_FIELD', '0.feature_reference'],
      [[seats, { feature_reference: feature.seats['reference'], number: '1' }], 400, 'INVALID_FIELD', '1'],
    ]
    // What another tenant, or the other environment, has is not there either.
    for (const stranger of [api.tenants.bLive, api.tenants.aTest]) {
      const { id } = await succeed(stranger, 'POST', '/v1/features', { reference: 'theirs', type: 'NUMBER' })
      cases.push([[{ feature_id: id, number: '1' }], 404, 'RESOURCE_NOT_FOUND', '0.feature_id'])
    }
    for (const [entitlements, status, code, place] of cases) {
      expect(await patch(...entitlements)).toEqual([status, code, `entitlements.${place}`])
    }
  })

  test('are fixed with their version', async () => {
    const { version, pricing } = await priced([to('seats', { number: '5' })])
    await activate(version)
    const patched = await a.call('PATCH', `/v1/pricings/${pricing['id']}`, { entitlements: [] })
    expect(refusal(patched)).toEqual([400, 'INVALID_OPERATION', 'pricing_plan_version_id'])
  })

  test('keep the feature they grant, and the value of it', async () => {
    const own = await succeed(a, 'POST', '/v1/features', {
      reference: a.seed.unique('tier'),
      type: 'ENUM',
      enum_values: ['low', 'high'],
    })
    const url = `/v1/features/${own['id']}`
    const { pricing } = await priced([{ feature_id: own['id'], enum: 'high' }])
    const values = async (...enum_values: string[]) => await a.call('PATCH', url, { enum_values })
    expect(refusal(await values('low'))).toEqual([400, 'INVALID_FIELD', 'enum_values'])
    expect((await values('high', 'top')).status).toBe(200)
    const refused = await a.call('DELETE', url)
    expect([refused.status, refused.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
    expect(refused.body['message']).toContain(pricing['id'])
    await succeed(a, 'PATCH', `/v1/pricings/${pricing['id']}`, { entitlements: [] })
    await succeed(a, 'DELETE', url)
  })
})

test('a feature is granted or deleted, whoever comes first, and never both', async () => {
  const { pricing } = await priced([])
  for (let round = 0; round < 10; round += 1) {
    const own = await succeed(a, 'POST', '/v1/features', { reference: a.seed.unique('race'), type: 'SWITCH' })
    const entitlements = [{ feature_id: own['id'], switch: true }]
    const [deleted, granted] = await Promise.all([
      a.call('DELETE', `/v1/features/${own['id']}`),
      a.call('PATCH', `/v1/pricings/${pricing['id']}`, { entitlements }),
    ])
    expect(['200 404', '409 200']).toContain(`${deleted.status} ${granted.status}`)
  }
})

test('a schedule has entitlements while it is DRAFT, and they keep their features too', async () => {
  const own = await succeed(a, 'POST', '/v1/features', { reference: a.seed.unique('hours'), type: 'NUMBER' })
  const { version } = await priced([])
  await activate(version)
  const subscription = (await a.seed.make(subscriptionResource))['id']
  const more = { pricing_plan_version_id: version['id'], entitlements: [{ feature_id: own['id'], number: '8' }] }
  const id = await makeSchedule(a, subscription, '2026-03-01T00:00:00Z', more)
  const url = `/v1/pricing-plan-schedules/${id}`
  const expanded = await succeed(a, 'GET', `${url}?expand[]=feature`)
  expect(expanded['entitlements']).toMatchObject([{ feature_reference: own['reference'], number: '8', feature: own }])
  expect((await a.call('DELETE', `/v1/features/${own['id']}`)).body['message']).toContain(id)
  const wrong = await a.call('PATCH', url, { entitlements: [to('sso', { number: '1' })] })
  expect(refusal(wrong)).toEqual([400, 'INVALID_FIELD', 'entitlements.0.number'])
  const changed = await succeed(a, 'PATCH', url, { entitlements: [to('sso', { switch: false })] })
  expect(changed['entitlements']).toEqual([shown('sso', { switch: false })])
  await succeed(a, 'POST', `${url}/activate`)
  const late = await a.call('PATCH', url, { entitlements: [] })
  expect(refusal(late)).toEqual([400, 'INVALID_FIELD', 'entitlements'])
})

describe('what a customer is entitled to', () => {
  const of = async (customer: Row) => await succeed(a, 'GET', `/v1/customers/${customer['reference']}/entitlements`)
  const grant = (name: Name, value: object) => ({
    feature_id: feature[name]['id'],
    feature_reference: feature[name]['reference'],
    ...{ override: false, overwrite: false, number: null, switch: null, amount: null, enums: null, strings: null },
    ...value,
  })
  const byReference = (grants: Row[]) =>
    grants.toSorted((x, y) => (x['feature_reference'] < y['feature_reference'] ? -1 : 1))

  test('is nothing without a subscription, and not found without a customer', async () => {
    const customer = await a.seed.make(customerResource)
    expect(await of(customer)).toEqual({ entitlements: [], pricing_plan_subscription_entitlements: [] })
    expect((await a.call('GET', '/v1/customers/nobody/entitlements')).status).toBe(404)
  })

  test('is what its ACTIVE subscriptions grant now, merged and one by one', async () => {
    const customer = await a.seed.make(customerResource)
    const plan = [to('seats', { number: '5' }), to('models', { enum: 'small' }), to('budget', { amount: eur('10') })]
    const first = await subscribe(customer, plan, {
      entitlements: [to('seats', { number: '2.5' }), to('models', { enum: 'huge', override: true })],
    })
    const second = await subscribe(customer, [to('seats', { number: '1' }), to('sso', { switch: true })])
    // Neither a schedule that has not begun, nor one that is over, nor a subscription that is not ACTIVE counts.
    await subscribe(customer, [to('seats', { number: '100' })], { start_at: '2026-04-01T00:00:00Z' })
    await subscribe(customer, [to('seats', { number: '1000' })], { end_at: '2026-03-11T10:00:00Z' })
    const gone = await subscribe(customer, [to('seats', { number: '10000' })])
    await succeed(a, 'POST', `/v1/pricing-plan-subscriptions/${gone}/cancel`, { type: 'NOW' })
    const models = grant('models', { enums: ['huge'], override: true })
    const budget = grant('budget', { amount: eur('10') })
    expect(await of(customer)).toEqual({
      entitlements: byReference([grant('seats', { number: '8.5' }), models, budget, grant('sso', { switch: true })]),
      pricing_plan_subscription_entitlements: [
        {
          pricing_plan_subscription_id: first,
          entitlements: byReference([grant('seats', { number: '7.5' }), models, budget]),
        },
        {
          pricing_plan_subscription_id: second,
          entitlements: byReference([grant('seats', { number: '1' }), grant('sso', { switch: true })]),
        },
      ],
    })
  })

  test('is read for many subscriptions at once, and by nobody else', async () => {
    const customers = [await a.seed.make(customerResource), await a.seed.make(customerResource)]
    const ids: string[] = []
    for (const customer of customers) ids.push(await subscribe(customer, [to('region', { string: 'eu' })]))
    const load = (tenant: TestTenant, at = NOW) =>
      readTenant(api.database, tenant.tenant, uow =>
        loadEntitlements(uow, { subscriptionIds: [...ids, 'ppsu_nothing'] }, instantOf(at)),
      )
    expect(await load(a)).toEqual(
      ids.map((subscriptionId, index) => ({
        subscriptionId,
        customerId: customers[index]?.['id'],
        grants: [grant('region', { strings: ['eu'] })],
      })),
    )
    expect(await load(a, Date.parse('2026-02-01T00:00:00Z'))).toEqual([])
    expect(await load(api.tenants.bLive)).toEqual([])
    expect(await load(api.tenants.aTest)).toEqual([])
  })
})

describe('what all customers of a platform are entitled to', () => {
  const url = () => `/v1/platforms/${a.tenant.platformId}/entitlements`

  test('is the sum over their subscriptions, in this tenant alone', async () => {
    const seats = async () => {
      const all = await succeed(a, 'GET', url())
      const own: Row[] = all['entitlements']
      return Number(own.find(({ feature_id }) => feature_id === feature.seats['id'])?.['number'] ?? 0)
    }
    const before = await seats()
    const ids: string[] = []
    for (const number of ['3', '4'])
      ids.push(await subscribe(await a.seed.make(customerResource), [to('seats', { number })]))
    expect(await seats()).toBe(before + 7)
    const listed: Row[] = (await succeed(a, 'GET', url()))['pricing_plan_subscription_entitlements']
    expect(listed.map(each => each['pricing_plan_subscription_id'])).toEqual(expect.arrayContaining(ids))
    const empty = { entitlements: [], pricing_plan_subscription_entitlements: [] }
    expect(await succeed(api.tenants.aTest, 'GET', url())).toEqual(empty)
    expect(refusal(await api.tenants.bLive.call('GET', url())).slice(0, 2)).toEqual([404, 'RESOURCE_NOT_FOUND'])
  })

  test('is of each customer what it has in its own time', async () => {
    const own = api.tenants.bTest
    const { id: feature_id } = await succeed(own, 'POST', '/v1/features', {
      reference: own.seed.unique('f'),
      type: 'SWITCH',
    })
    const draft = await own.seed.make(subscriptionResource)
    const customer_ids = [draft['customer_id']]
    await succeed(own, 'POST', '/v1/test-clocks', { frozen_time: '2026-02-10T00:00:00Z', customer_ids })
    const entitlements = [{ feature_id, switch: true }]
    await makeSchedule(own, draft['id'], '2026-02-01T00:00:00Z', { end_at: '2026-03-01T00:00:00Z', entitlements })
    await succeed(own, 'PATCH', `/v1/pricing-plan-subscriptions/${draft['id']}`, { status: 'ACTIVE' })
    const all = await succeed(own, 'GET', `/v1/platforms/${own.tenant.platformId}/entitlements`)
    expect(all).toEqual(await succeed(own, 'GET', `/v1/customers/${draft['customer_id']}/entitlements`))
    expect(all['entitlements']).toMatchObject([{ feature_id, switch: true }])
  })

  test('is refused when one answer cannot list them', async () => {
    const read = readTenant(api.database, a.tenant, uow => entitlementsOfPlatform(uow, 1))
    await expect(read).rejects.toMatchObject({ code: 'INVALID_OPERATION' })
  })
})
