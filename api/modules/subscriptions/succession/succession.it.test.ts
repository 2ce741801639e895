// What comes after a schedule, against a real database: copies, another version, and trials.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { refusal } from '../testing/refusal.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../testing/seed-subscription.ts'

let api: ApiHarness
let tenant: TestTenant
let version: string
let other: string
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  version = await makeVersion(tenant)
  other = await makeVersion(tenant)
})
afterAll(() => api.close())

const PATH = '/v1/pricing-plan-schedules'
const TEN = { percentage: '10' }
/** Half the price until May and a minimum until then, a tenth off for good, and something else from December on. */
const LIMITED = {
  discount: {
    totals: [
      { percentage: '50', end_at: '2026-05-01T00:00:00Z' },
      TEN,
      { percentage: '5', start_at: '2026-12-01T00:00:00Z' },
    ],
  },
  commitment: { totals: [{ amount: { quantity: '5', currency: 'EUR' }, end_at: '2026-05-01T00:00:00Z' }] },
}
/** A subscription with one schedule, and that schedule. */
async function scheduled(more: Record<string, unknown> = {}, activate = true) {
  const subscription = await makeSubscription(tenant)
  const schedule = await makeSchedule(tenant, subscription, '2026-03-01T00:00:00Z', {
    pricing_plan_version_id: version,
    ...more,
  })
  if (activate) await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription}`, { status: 'ACTIVE' })
  return { subscription, schedule }
}
const timeline = async (subscription: string) =>
  (
    await succeed(
      tenant,
      'GET',
      `${PATH}?pricing_plan_subscription_id=${subscription}&order_by=start_at&order_direction=asc`,
    )
  )['data'].map((row: Row) => [row['start_at'].slice(0, 10), row['end_at']?.slice(0, 10) ?? null, row['status']])

describe('migrate', () => {
  const migrate = (id: string, body: object, query = '') => tenant.call('POST', `${PATH}/${id}/migrate${query}`, body)

  test('is a DRAFT of the other version where the original ends, with what was agreed beside its prices', async () => {
    const ended = await scheduled({
      end_at: '2026-06-01T00:00:00Z',
      billing_period: { type: 'MONTH', value: 3 },
      discount: { totals: [{ percentage: '10' }] },
    })
    const { status, body } = await migrate(ended.schedule, { pricing_plan_version_id: other })
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        status: 'DRAFT',
        pricing_plan_version_id: other,
        start_at: '2026-06-01T00:00:00Z',
        end_at: null,
        billing_period: { type: 'MONTH', value: 3 },
        discount: { totals: [{ percentage: '10' }] },
      },
    })
    expect((await tenant.call('POST', `${PATH}/${body['id']}/activate`)).status).toBe(200)
  })

  test('within the original ends that there, and takes over its end', async () => {
    const { subscription, schedule } = await scheduled({ end_at: '2026-12-01T00:00:00Z' })
    const body = { pricing_plan_version_id: other, start_at: '2026-07-01T00:00:00Z' }
    expect((await migrate(schedule, body)).body).toEqual(refusal('start_at'))
    expect((await migrate(schedule, body, '?set_previous_end_at=true')).status).toBe(201)
    expect(await timeline(subscription)).toEqual([
      ['2026-03-01', '2026-07-01', 'ACTIVE'],
      ['2026-07-01', '2026-12-01', 'DRAFT'],
    ])
  })

  test('leaves out discounts on prices of the old version', async () => {
    const [pricing] = await api.sql('select id from pricings where pricing_plan_version_id = $1', [version])
    const ids = [pricing?.['id']]
    const discount = { pricings: [{ ids, percentage: '5' }], totals: [{ percentage: '10' }] }
    const { schedule } = await scheduled({ end_at: '2026-06-01T00:00:00Z', discount })
    const { body } = await migrate(schedule, { pricing_plan_version_id: other })
    expect(body['discount']).toEqual({ totals: [{ percentage: '10' }] })
  })

  test('leaves out discounts and minimums that have ended by then, or would start after its end', async () => {
    const { schedule } = await scheduled(LIMITED)
    const body = { pricing_plan_version_id: other, start_at: '2026-07-01T00:00:00Z', end_at: '2026-09-01T00:00:00Z' }
    const made = await migrate(schedule, body, '?set_previous_end_at=true')
    expect(made).toMatchObject({ status: 201, body: { discount: { totals: [TEN] }, commitment: { totals: [] } } })
  })

  test.each<[object, string, string]>([
    [{}, 'pricing_plan_version_id', 'MISSING_FIELD'],
    [{ pricing_plan_version_id: 'ppve_0000000000000000000000' }, 'pricing_plan_version_id', 'RESOURCE_NOT_FOUND'],
    [{ coupon_discount_behaviour: 'LATER' }, 'coupon_discount_behaviour', 'INVALID_FIELD'],
    [{ pricing_plan_version_id: 'another' }, 'start_at', 'MISSING_FIELD'],
  ])('refuses %j of a schedule without an end, by name', async (given, field, code) => {
    const { schedule } = await scheduled()
    const named = 'pricing_plan_version_id' in given && given.pricing_plan_version_id === 'another'
    const body = named ? { pricing_plan_version_id: other } : given
    expect((await migrate(schedule, body)).body).toEqual(refusal(field, code))
  })

  test('two at once: one is there, the other is refused', async () => {
    const { subscription, schedule } = await scheduled()
    const body = { pricing_plan_version_id: other, start_at: '2026-07-01T00:00:00Z' }
    const answers = await Promise.all([1, 2].map(() => migrate(schedule, body, '?set_previous_end_at=true')))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400])
    expect(await timeline(subscription)).toHaveLength(2)
  })
})

describe('copy', () => {
  const copy = (id: string, body: object, query = '') => tenant.call('POST', `${PATH}/${id}/copy${query}`, body)

  test('is a DRAFT of the same version that comes after', async () => {
    const { subscription, schedule } = await scheduled({ end_at: '2026-06-01T00:00:00Z' })
    expect(await copy(schedule, { end_at: '2026-09-01T00:00:00+02:00' })).toMatchObject({
      status: 201,
      body: { pricing_plan_version_id: version, start_at: '2026-06-01T00:00:00Z', end_at: '2026-08-31T22:00:00Z' },
    })
    expect(await timeline(subscription)).toEqual([
      ['2026-03-01', '2026-06-01', 'ACTIVE'],
      ['2026-06-01', '2026-08-31', 'DRAFT'],
    ])
  })

  test('leaves out discounts and minimums that have ended by then, or would start after its end', async () => {
    const { subscription, schedule } = await scheduled(LIMITED)
    const span = { start_at: '2026-07-01T00:00:00Z', end_at: '2026-09-01T00:00:00Z' }
    const made = await copy(schedule, span, '?set_previous_end_at=true')
    expect(made).toMatchObject({ status: 201, body: { discount: { totals: [TEN] }, commitment: { totals: [] } } })
    // The schedule that it cut short still states a discount for December, which a copy of the subscription leaves out.
    const { id } = await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${subscription}/copy`, {})
    const { data } = await succeed(tenant, 'GET', `${PATH}?pricing_plan_subscription_id=${id}`)
    const totals = data.map((row: Row) => row['discount'].totals.map((each: Row) => each['percentage']))
    expect(totals.toSorted()).toEqual([['10'], ['50', '10']])
  })

  test('indexes its prices, and once more those that are indexed', async () => {
    const { schedule } = await scheduled({ end_at: '2026-06-01T00:00:00Z' })
    const priceOf = async (id: string) => {
      const url = `${PATH}/${id}?include_combined_pricing_plan_version=true`
      const [category] = (await succeed(tenant, 'GET', url))['combined_pricing_plan_version'].pricing_categories
      return category.pricings[0].items[0].configs[0].bands[0].amount.quantity
    }
    const indexing_settings = { percentage: '10', rounding_mode: 'PRESERVE_SCALE' }
    const once = await copy(schedule, { end_at: '2026-09-01T00:00:00Z', indexing_settings })
    expect(once).toMatchObject({ status: 201, body: { override_pricings: [{ override: 'SPECIFIC' }] } })
    const twice = await copy(once.body['id'], { indexing_settings: { percentage: '10' } })
    expect([await priceOf(schedule), await priceOf(once.body['id']), await priceOf(twice.body['id'])]).toEqual([
      '0.015',
      '0.017',
      '0.0187',
    ])
  })

  describe('indexes', () => {
    const MONTH = { type: 'MONTH', value: 1 }
    const band = (quantity: string, currency = 'EUR') => ({ amount: { quantity, currency } })
    const euros = async (id: string) => {
      const url = `${PATH}/${id}?include_combined_pricing_plan_version=true`
      const [category] = (await succeed(tenant, 'GET', url))['combined_pricing_plan_version'].pricing_categories
      return category.pricings[0].items[0]
    }
    /** A schedule to 1 June on a plan with one price, and the copy of it. */
    async function copied(price: object, indexing_settings: object) {
      const item = await tenant.seed.make(productItemResource)
      const plan = await succeed(tenant, 'POST', '/v1/pricing-plans', { reference: tenant.seed.unique('plan') })
      const own = await succeed(tenant, 'POST', '/v1/pricing-plan-versions', { pricing_plan_id: plan['id'] })
      await succeed(tenant, 'POST', '/v1/pricings', {
        pricing_plan_version_id: own['id'],
        product_ids: [item['product_id']],
        items: [{ product_item_ids: [item['id']], ...price }],
      })
      await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${own['id']}`, { status: 'ACTIVE' })
      const { schedule } = await scheduled({ end_at: '2026-06-01T00:00:00Z', pricing_plan_version_id: own['id'] })
      const { status, body } = await copy(schedule, { indexing_settings })
      expect(status, JSON.stringify(body)).toBe(201)
      await succeed(tenant, 'POST', `${PATH}/${body['id']}/activate`)
      return body['id']
    }

    test.each<[string, object, string]>([
      ['0.0125', { percentage: '3.5', rounding_mode: 'PRESERVE_SCALE' }, '0.0129'],
      ['0.0125', { percentage: '3.5', rounding_mode: 'DECIMALS', number_of_decimals: 2 }, '0.01'],
      ['0.0125', { percentage: '3.5' }, '0.0129375'],
      // The places as they were given, zeros at the end too: 2.525.
      ['2.50', { percentage: '1', rounding_mode: 'PRESERVE_SCALE' }, '2.53'],
      ['100', { percentage: '-2.5', rounding_mode: 'PRESERVE_SCALE' }, '98'],
      ['100', { percentage: '2.5', rounding_mode: 'DECIMALS', number_of_decimals: 0 }, '103'],
    ])('%s by %j to %s', async (quantity, settings, expected) => {
      const configs = [{ pricing_type: 'FLAT', bands: [band(quantity)] }]
      expect((await euros(await copied({ configs }, settings))).configs[0].bands[0].amount.quantity).toBe(expected)
    })

    test('for a migration within the plan too, which takes no indexing of its own', async () => {
      const configs = [{ pricing_type: 'FLAT', bands: [band('0.0125')] }]
      const indexed = await copied({ configs }, { percentage: '3.5', rounding_mode: 'PRESERVE_SCALE' })
      const { pricing_plan_version_id: from, pricing_plan_id } = await succeed(tenant, 'GET', `${PATH}/${indexed}`)
      const made = { pricing_plan_id, copied_from_pricing_plan_version_id: from }
      const { id: next } = await succeed(tenant, 'POST', '/v1/pricing-plan-versions', made)
      await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${next}`, { status: 'ACTIVE' })
      const body = { pricing_plan_version_id: next, start_at: '2026-09-01T00:00:00Z' }
      const migrate = (more: object) =>
        tenant.call('POST', `${PATH}/${indexed}/migrate?set_previous_end_at=true`, { ...body, ...more })
      expect((await migrate({ indexing_settings: { percentage: '3.5' } })).body).toEqual(refusal('indexing_settings'))
      const moved = await migrate({})
      expect(moved.status, JSON.stringify(moved.body)).toBe(201)
      expect((await euros(moved.body['id'])).configs[0].bands[0].amount.quantity).toBe('0.0129')
    })

    test('each price of a plan that has several by currency and billing period', async () => {
      const price = (quantity: string, currency?: string) => [
        { pricing_type: 'FLAT', bands: [band(quantity, currency)] },
      ]
      const pricing_currency_configs = [
        { currency: 'EUR', configs: price('10') },
        { currency: 'USD', billing_period_configs: [{ billing_period: MONTH, configs: price('20', 'USD') }] },
      ]
      const item = await euros(await copied({ pricing_currency_configs }, { percentage: '5' }))
      expect(item.pricing_currency_configs).toMatchObject([
        { configs: [{ bands: [band('10.5')] }] },
        { billing_period_configs: [{ configs: [{ bands: [band('21', 'USD')] }] }] },
      ])
    })
  })

  test('refuses what it does not do, by name', async () => {
    const { schedule } = await scheduled()
    expect((await copy(schedule, {})).body).toEqual(refusal('start_at', 'MISSING_FIELD'))
    const indexing_settings = { percentage: '3', rounding_mode: 'DECIMALS' }
    expect(
      (await copy(schedule, { start_at: '2026-07-01T00:00:00Z', indexing_settings }, '?set_previous_end_at=true')).body,
    ).toEqual(refusal('indexing_settings.number_of_decimals', 'MISSING_FIELD'))
    const late = { start_at: '2026-07-01T00:00:00Z', end_at: '2026-06-01T00:00:00Z' }
    expect((await copy(schedule, late, '?set_previous_end_at=true')).body).toEqual(refusal('end_at'))
    expect(await copy('ppsc_0000000000000000000000', {})).toMatchObject({ status: 404 })
  })
})

test('a TRIAL comes before what it is a trial of', async () => {
  const { subscription, schedule } = await scheduled({ type: 'TRIAL', end_at: '2026-03-15T00:00:00Z' }, false)
  await succeed(tenant, 'POST', `${PATH}/${schedule}/migrate`, { pricing_plan_version_id: other })
  const active = await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription}`, { status: 'ACTIVE' })
  expect(active['pricing_plan_schedule_infos']).toHaveLength(2)
  const types = (await succeed(tenant, 'GET', `${PATH}?pricing_plan_subscription_id=${subscription}`))['data']
  expect(types.map((row: Row) => row['type']).toSorted()).toEqual(['DEFAULT', 'TRIAL'])
  const changed = await tenant.call('PATCH', `${PATH}/${schedule}`, { type: 'DEFAULT' })
  expect(changed).toMatchObject({ status: 400, body: refusal('type') })
})
