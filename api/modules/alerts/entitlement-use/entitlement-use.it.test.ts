// What a customer has of a feature: real PostgreSQL and ClickHouse, time as the test sets it.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { realTime } from '../../../../shared/test-time.ts'
import { createTestClickHouse, type TestClickHouse } from '../../../../shared/testing/clickhouse.ts'
import { instantOf } from '../../../../shared/time.ts'
import { type ClickHouseClient, createClickHouse } from '../../../../shared/usage/clickhouse.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { type Billed, billedSubscription, succeed, useTokens } from '../../billing/testing/billed-subscription.ts'
import { createUsageReader, type UsageReader } from '../../billing/usage/usage-reader.ts'
import { grantTokens } from '../../catalog/features/testing/grant-tokens.ts'

let clickhouse: TestClickHouse
let client: ClickHouseClient
let api: ApiHarness
let tenant: TestTenant
let reads = 0
/** How far behind the clock what can be read is. */
let lagMs = 0

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
  const reader = createUsageReader({ client, jsm: undefined as never, partitions: 0 })
  const usage: UsageReader = {
    ...reader,
    read: (...of) => {
      reads += 1
      return reader.read(...of)
    },
    upToDateUntil: async clock => instantOf(realTime(clock.now()) - lagMs),
  }
  api = await startApi({ usage })
  tenant = api.tenants.aLive
})
afterAll(async () => {
  await api?.close()
  await client?.close()
  await clickhouse?.drop()
})
const setTime = (text: string): void => api.clock.set(Date.parse(text))
beforeEach(() => setTime('2026-03-20T12:00:00Z'))

type Granted = Billed & { readonly featureId: string }

/** A subscription since February 1 to which 1,000 tokens are granted. */
async function granted(): Promise<Granted> {
  const grant = grantTokens(tenant)
  const billed = await billedSubscription(tenant, { start_at: '2026-02-01T00:00:00Z', schedule: grant.schedule })
  return { ...billed, featureId: grant.featureId }
}
const useOf = ({ customerReference, featureId }: Granted): Promise<Row> =>
  succeed(tenant, 'GET', `/v1/customers/${customerReference}/entitlements/${featureId}`)
const use = (billed: Billed, tokens: string, timestamp: string) =>
  useTokens(client, tenant, { billed, tokens, timestamp })
const figures = ({ granted: own, used, left, resets_at }: Row) => [own.number, used?.number, left?.number, resets_at]

test('what is used of it in the billing period that runs, what is left, and when it resets; never below nothing', async () => {
  const own = await granted()
  await use(own, '900', '2026-02-11 00:00:00.000')
  await use(own, '300', '2026-03-11 00:00:00.000')
  const answer = await useOf(own)
  expect(answer).toMatchObject({
    customer_id: own.customerId,
    feature_id: own.featureId,
    as_of: '2026-03-20T12:00:00Z',
    age_ms: 0,
  })
  const march = ['1000', '300', '700', '2026-04-01T00:00:00Z']
  expect(answer['entitlements'].map(figures)).toEqual([march])
  expect(answer['pricing_plan_subscription_entitlements']).toMatchObject([
    { pricing_plan_subscription_id: own.subscriptionId },
  ])
  expect(answer['pricing_plan_subscription_entitlements'].map(figures)).toEqual([march])
  await use(own, '900', '2026-03-12 00:00:00.000')
  setTime('2026-03-20T12:00:01Z')
  expect((await useOf(own))['entitlements'].map(figures)).toEqual([['1000', '1200', '0', '2026-04-01T00:00:00Z']])
  setTime('2026-04-01T00:00:00Z')
  expect((await useOf(own))['entitlements'].map(figures)).toEqual([['1000', '0', '1000', '2026-05-01T00:00:00Z']])
})

test('what a price of the schedule counts on is used in a copy that is given a plan, too', async () => {
  const post = (url: string, body?: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const grant = grantTokens(tenant)
  const product = await post('products', { reference: tenant.seed.unique('own'), name: 'Own', status: 'ACTIVE' })
  const priced = async (model: object, config: object) => {
    const body = {
      reference: tenant.seed.unique('own'),
      name: 'Own',
      product_id: product['id'],
      status: 'ACTIVE',
      ...model,
    }
    const item = await post('product-items', body)
    return { product_ids: [product['id']], items: [{ product_item_ids: [item['id']], configs: [config] }] }
  }
  const eur = { quantity: '1', currency: 'EUR' }
  const billed = await billedSubscription(tenant, {
    start_at: '2026-02-01T00:00:00Z',
    calculation: { persist: true },
    schedule: async id => {
      const metered = { model_type: 'USAGE_BASED', usage_based: { meter_value_calculation_id: id } }
      const pricing = await priced(metered, { pricing_type: 'FLAT', bands: [{ amount: eur }] })
      const own = { pricing_plan_version_id: undefined, pricing_categories: [{ pricings: [pricing] }] }
      return { ...(await grant.schedule(id)), ...own, end_at: '2026-03-01T00:00:00Z' }
    },
  })
  const plan = await post('pricing-plans', { reference: tenant.seed.unique('plan') })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  const fee = await priced({ model_type: 'RECURRING' }, { pricing_type: 'FIXED', bands: [{ fixed_amount: eur }] })
  await post('pricings', { pricing_plan_version_id: version['id'], ...fee })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  const url = `pricing-plan-schedules?pricing_plan_subscription_id=${billed.subscriptionId}`
  const { data } = await succeed(tenant, 'GET', `/v1/${url}`)
  const copy = await post(`pricing-plan-schedules/${data[0].id}/copy`, {})
  const given = { pricing_plan_version_id: version['id'] }
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-schedules/${copy['id']}`, given)
  await post(`pricing-plan-schedules/${copy['id']}/activate`)
  await use(billed, '37', '2026-02-11 00:00:00.000')
  await use(billed, '3', '2026-03-11 00:00:00.000')
  const answer = await useOf({ ...billed, featureId: grant.featureId })
  expect(answer['entitlements'].map(figures)).toEqual([['1000', '40', '960', '2026-04-01T00:00:00Z']])
})

test('is answered from memory for a second at most, and says how old it is', async () => {
  const own = await granted()
  lagMs = 700
  const first = await useOf(own)
  expect([first['as_of'], first['age_ms']]).toEqual(['2026-03-20T11:59:59Z', 700])
  reads = 0
  await use(own, '10', '2026-03-11 00:00:00.000')
  api.clock.set(Date.parse('2026-03-20T12:00:00Z') + 200)
  const again = await useOf(own)
  expect([again['entitlements'].map(figures)[0]?.[1], again['age_ms'], reads]).toEqual(['0', 900, 0])
  lagMs = 0
  api.clock.set(Date.parse('2026-03-20T12:00:01Z'))
  const fresh = await useOf(own)
  expect([fresh['entitlements'].map(figures)[0]?.[1], fresh['age_ms'], reads]).toEqual(['10', 0, 1])
})

test('what nothing measures is granted, and what is not granted is not there', async () => {
  const own = await granted()
  const sso = await succeed(tenant, 'POST', '/v1/features', { reference: tenant.seed.unique('sso'), type: 'SWITCH' })
  const billed = await billedSubscription(tenant, {
    start_at: '2026-02-01T00:00:00Z',
    schedule: async () => ({ entitlements: [{ feature_id: sso['id'], switch: true }] }),
  })
  const answer = await useOf({ ...billed, featureId: sso['reference'] })
  expect(answer['entitlements']).toEqual([
    {
      granted: { number: null, switch: true, amount: null, enums: null, strings: null },
      used: null,
      left: null,
      resets_at: null,
    },
  ])
  expect(await useOf({ ...own, featureId: sso['id'] })).toMatchObject({
    entitlements: [],
    pricing_plan_subscription_entitlements: [],
  })
  const call = (customer: string, feature: string, of = tenant) =>
    of.call('GET', `/v1/customers/${customer}/entitlements/${feature}`)
  expect(refusal(await call('nobody', sso['id']))[1]).toBe('RESOURCE_NOT_FOUND')
  expect(refusal(await call(own.customerId, 'none'))[1]).toBe('RESOURCE_NOT_FOUND')
  expect((await call(own.customerId, own.featureId, api.tenants.bLive)).status).toBe(404)
})

test('of a customer who lives by a test clock is as new, in the time of the clock, and says how old it is in the time of the day', async () => {
  const inTest = api.tenants.aTest
  const grant = grantTokens(inTest)
  const start_at = '2026-02-01T00:00:00Z'
  const billed = await billedSubscription(inTest, { start_at, schedule: grant.schedule, activate: false })
  const living = { frozen_time: '2026-02-20T00:00:00Z', customer_ids: [billed.customerReference] }
  const clock = await succeed(inTest, 'POST', '/v1/test-clocks', living)
  await succeed(inTest, 'PATCH', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`, { status: 'ACTIVE' })
  const url = `/v1/customers/${billed.customerReference}/entitlements/${grant.featureId}`
  const read = async () => {
    const answer = await succeed(inTest, 'GET', url)
    return [...answer['entitlements'].flatMap(figures), answer['as_of'], answer['age_ms']]
  }
  const asOf = '2026-03-20T12:00:00Z'
  expect(await read()).toEqual(['1000', '0', '1000', '2026-03-01T00:00:00Z', asOf, 0])
  await useTokens(client, inTest, { billed, tokens: '10', timestamp: '2026-02-11 00:00:00.000' })
  setTime('2026-03-20T12:00:02Z')
  const later = '2026-03-20T12:00:02Z'
  expect(await read()).toEqual(['1000', '10', '990', '2026-03-01T00:00:00Z', later, 0])
  await succeed(inTest, 'POST', `/v1/test-clocks/${clock['id']}/advance`, { frozen_time: '2026-03-02T00:00:00Z' })
  expect(await read()).toEqual(['1000', '0', '1000', '2026-04-01T00:00:00Z', later, 0])
})
