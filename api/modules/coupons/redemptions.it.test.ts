// Who may redeem coupons and promotion codes, and what the schedule then has (semantics 2).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eur, refusal } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { productResource } from '../catalog/products/product.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../subscriptions/testing/seed-subscription.ts'
import { couponsOf } from './testing/coupons-of.ts'

let api: ApiHarness
let a: TestTenant
let of: ReturnType<typeof couponsOf>
let version: string
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  of = couponsOf(a)
  version = await makeVersion(a)
})
beforeEach(() => api.clock.set(Date.parse('2026-03-10T12:00:00Z')))
afterAll(() => api?.close())

const SCHEDULES = '/v1/pricing-plan-schedules'
const read = (resource: Row) =>
  succeed(a, 'GET', `/v1/${resource['object_type'] === 'COUPON' ? 'coupons' : 'promotion-codes'}/${resource['id']}`)
const used = async (resource: Row) => (await read(resource))['number_of_redemptions']
/** A DRAFT subscription with a schedule from 1 March 2026. */
async function scheduled(given: object = {}): Promise<{ subscription: string; url: string }> {
  const subscription = await makeSubscription(a)
  const schedule = await makeSchedule(a, subscription, '2026-03-01T00:00:00Z', {
    pricing_plan_version_id: version,
    ...given,
  })
  return { subscription, url: `${SCHEDULES}/${schedule}` }
}
const patch = (url: string, given: object) => a.call('PATCH', url, given)
const activate = (subscription: string) =>
  succeed(a, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription}`, { status: 'ACTIVE' })

describe('a schedule', () => {
  test('takes coupons by id and by code, shows them, and counts them once a subscription', async () => {
    const [first, second] = [await of.coupon(), await of.coupon({ discount: { type: 'AMOUNT', amount: eur('5') } })]
    const typed = await of.code(second, { code_format: 'abc-########' })
    const { subscription, url } = await scheduled({
      end_at: '2026-06-01T00:00:00Z',
      coupon_ids: [first['id']],
      promotion_codes: [typed['code'].toUpperCase()],
    })
    const shown = await succeed(a, 'GET', url)
    expect(shown['coupons']).toMatchObject([
      { id: first['id'], coupon_name: 'Welcome', promotion_code: null },
      { id: second['id'], promotion_code: typed['code'], promotion_code_resource_id: typed['id'] },
    ])
    expect(shown['coupon_discount']).toEqual({
      totals: [
        {
          ...{ start_at: '2026-03-01T00:00:00Z', end_at: null, percentage: '10' },
          ...{ coupon_id: first['id'], promotion_code_details: null },
        },
        {
          ...{ start_at: '2026-03-01T00:00:00Z', end_at: null, amount: eur('5'), coupon_id: second['id'] },
          promotion_code_details: { promotion_code_id: typed['id'], code: typed['code'] },
        },
      ],
    })
    expect([await used(first), await used(second), await used(typed)]).toEqual([1, 1, 1])
    await activate(subscription)
    const next = await succeed(a, 'POST', `${url}/migrate`, {
      pricing_plan_version_id: version,
      coupon_discount_behaviour: 'CARRY_OVER',
    })
    // The discount still counts from where it began.
    expect(next['coupons'].map((each: Row) => each['id'])).toEqual([first['id'], second['id']])
    expect(next['coupon_discount'].totals[0].start_at).toBe('2026-03-01T00:00:00Z')
    expect(await used(first)).toBe(1)
    const redemptions = await succeed(a, 'GET', `/v1/coupons/${second['reference']}/redemptions?expand[]=customer`)
    expect(redemptions['data']).toMatchObject([
      {
        coupon_id: second['id'],
        promotion_code_details: { promotion_code_id: typed['id'], code: typed['code'] },
        redeemed_at: '2026-03-10T12:00:00Z',
        pricing_plan_subscription_id: subscription,
        customer: { object_type: 'CUSTOMER' },
      },
    ])
    const ofCode = `/v1/promotion-codes/${typed['id']}/redemptions`
    expect((await succeed(a, 'GET', ofCode))['data']).toHaveLength(1)
    expect((await succeed(a, 'GET', `${ofCode}?customer_id=cust_other`))['data']).toEqual([])
  })

  test('that comes after another has no coupons of it by default', async () => {
    const one = await of.coupon()
    const { subscription, url } = await scheduled({ end_at: '2026-06-01T00:00:00Z', coupon_ids: [one['id']] })
    await activate(subscription)
    const next = await succeed(a, 'POST', `${url}/copy`, {})
    expect([next['coupon_ids'], next['coupons'], next['coupon_discount']]).toEqual([[], [], null])
  })

  test('cannot take what may not be redeemed', async () => {
    const { url } = await scheduled()
    const byId = (given: object, then?: string) => async () => {
      const made = await of.coupon(given)
      if (then) await succeed(a, 'POST', `/v1/coupons/${made['id']}/${then}`)
      return { coupon_ids: [made['id']] }
    }
    const byCode =
      (given: object, ofCoupon: object = {}) =>
      async () => ({
        promotion_codes: [(await of.code(await of.coupon(ofCoupon), given))['code']],
      })
    const other = await a.seed.make(customerResource)
    const cases: [string, () => Promise<object>, string][] = [
      ['DRAFT', byId({ status: 'DRAFT' }), 'coupon_ids.0'],
      ['INACTIVE', byId({}, 'deactivate'), 'coupon_ids.0'],
      ['too early', byId({ start_at: '2026-03-11T00:00:00Z' }), 'coupon_ids.0'],
      ['too late', byId({ end_at: '2026-03-10T12:00:00Z' }), 'coupon_ids.0'],
      [
        'another currency',
        byId({ discount: { type: 'AMOUNT', amount: { quantity: '1', currency: 'USD' } } }),
        'coupon_ids.0',
      ],
      ['unknown code', async () => ({ promotion_codes: ['no-such-code'] }), 'promotion_codes'],
      ['code DRAFT', byCode({ status: 'DRAFT' }), 'promotion_codes'],
      ['code too late', byCode({ end_at: '2026-03-01T00:00:00Z' }), 'promotion_codes'],
      ['code of others', byCode({ limited_to: { customer_ids: [other.id] } }), 'promotion_codes'],
      ['coupon of the code DRAFT', byCode({}, { status: 'DRAFT' }), 'promotion_codes'],
    ]
    for (const [name, given, field] of cases)
      expect((await patch(url, await given())).body, name).toMatchObject({ code: 'INVALID_FIELD', field })
    const twice = await of.coupon()
    const both = { coupon_ids: [twice['id']], promotion_codes: [(await of.code(twice))['code']] }
    expect(refusal(await patch(url, both))).toEqual([400, 'INVALID_FIELD', 'promotion_codes'])
    expect(refusal(await patch(url, { coupon_ids: ['coup_none'] }))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'coupon_ids.0',
    ])
  })

  test('of several at once that want the last redemption, one has it; deleting a draft gives it back', async () => {
    const last = await of.coupon({ maximum_redemptions: 1 })
    const drafts = await Promise.all([1, 2, 3].map(() => scheduled()))
    const wanted = { coupon_ids: [last['id']] }
    const answers = await Promise.all(drafts.map(({ url }) => patch(url, wanted)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400])
    expect(answers.find(({ status }) => status === 400)?.body['message']).toContain('was redeemed once, which is')
    expect(await used(last)).toBe(1)
    const [won, lost] = [200, 400].map(status => drafts[answers.findIndex(each => each.status === status)])
    if (!won || !lost) throw new Error('one has it')
    await succeed(a, 'DELETE', `/v1/pricing-plan-subscriptions/${won.subscription}`)
    expect(await used(last)).toBe(0)
    expect((await patch(lost.url, wanted)).status).toBe(200)
    // A draft that loses the coupon gives it back too; what a live schedule had stays counted.
    expect((await patch(lost.url, { coupon_ids: [] })).status).toBe(200)
    expect(await used(last)).toBe(0)
    expect((await patch(lost.url, wanted)).status).toBe(200)
    await activate(lost.subscription)
    expect((await patch(lost.url, { coupon_ids: [] })).status).toBe(200)
    expect(await used(last)).toBe(1)
    const fewer = await patch(`/v1/coupons/${last['id']}`, { maximum_redemptions: null })
    expect(fewer.body['maximum_redemptions']).toBe(null)
  })

  test('that is ACTIVE takes a coupon from now on, as it is then', async () => {
    const { subscription, url } = await scheduled()
    await activate(subscription)
    const one = await of.coupon({ duration: { type: 'PERIOD', period: { type: 'MONTH', value: 1 } } })
    const taken = await succeed(a, 'PATCH', url, { coupon_ids: [one['id']] })
    // Noon of the customer's day, a month later: in summer time.
    expect(taken['coupon_discount'].totals).toMatchObject([
      { start_at: '2026-03-10T12:00:00Z', end_at: '2026-04-10T11:00:00Z', percentage: '10' },
    ])
    await succeed(a, 'POST', `/v1/coupons/${one['id']}/archive`)
    api.clock.set(Date.parse('2026-03-20T00:00:00Z'))
    const still = await succeed(a, 'PATCH', url, { discount: { totals: [{ percentage: '1' }] } })
    expect(still['coupon_discount'].totals[0].start_at).toBe('2026-03-10T12:00:00Z')
  })

  test('of a template redeems nothing until a subscription is made from it', async () => {
    const one = await of.coupon({ maximum_redemptions: 1 })
    const entity = (await succeed(a, 'GET', `/v1/pricing-plan-subscriptions/${(await scheduled()).subscription}`))[
      'billing_entity_id'
    ]
    const template = await succeed(a, 'POST', '/v1/pricing-plan-subscriptions', {
      type: 'TEMPLATE',
      billing_entity_id: entity,
      billing_currency: 'EUR',
    })
    await makeSchedule(a, template['id'], '2026-03-01T00:00:00Z', {
      pricing_plan_version_id: version,
      coupon_ids: [one['id']],
    })
    await activate(template['id'])
    expect(await used(one)).toBe(0)
    const init = async () =>
      await a.call('POST', '/v1/pricing-plan-subscriptions/init', {
        template_pricing_plan_subscription_id: template['id'],
        customer_id: (await a.seed.make(customerResource)).id,
      })
    expect((await init()).status).toBe(200)
    expect(await used(one)).toBe(1)
    expect(refusal(await init())).toEqual([400, 'INVALID_FIELD', 'template_pricing_plan_subscription_id'])
  })
})

test('the preview of a subscription has the coupon', async () => {
  const one = await of.coupon({ name: 'Half', discount: { type: 'AMOUNT', amount: eur('5') } })
  const fee = await succeed(a, 'POST', '/v1/product-items', {
    product_id: (await a.seed.make(productResource)).id,
    reference: a.seed.unique('fee'),
    name: 'Fee',
    model_type: 'RECURRING',
    status: 'ACTIVE',
  })
  const plan = await succeed(a, 'POST', '/v1/pricing-plans', { reference: a.seed.unique('plan') })
  const made = await succeed(a, 'POST', '/v1/pricing-plan-versions', { pricing_plan_id: plan['id'] })
  await succeed(a, 'POST', '/v1/pricings', {
    pricing_plan_version_id: made['id'],
    product_ids: [fee['product_id']],
    items: [
      {
        product_item_ids: [fee['id']],
        configs: [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur('20') }] }],
      },
    ],
  })
  await succeed(a, 'PATCH', `/v1/pricing-plan-versions/${made['id']}`, { status: 'ACTIVE' })
  const { subscription } = await scheduled({ pricing_plan_version_id: made['id'], coupon_ids: [one['id']] })
  const preview = await succeed(a, 'POST', '/v1/invoices/preview', { pricing_plan_subscription_id: subscription })
  const lines = preview['invoice'].periods.flatMap((period: Row) =>
    period['groups'].flatMap((group: Row) => group['lines']),
  )
  expect(
    lines.map((line: Row) => [line['type'], line['amount_excluding_tax'].quantity, line['coupon_data'] ?? null]),
  ).toEqual([
    ['REVENUE', '20.00', null],
    ['DISCOUNT', '-5.00', { coupon_id: one['id'], coupon_name: 'Half' }],
  ])
})
