// Coupons and promotion codes through the api: what they are (semantics 2).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eur, refusal } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { productResource } from '../catalog/products/product.ts'
import { succeed } from '../subscriptions/testing/seed-subscription.ts'
import { couponsOf, FOREVER, PERCENT } from './testing/coupons-of.ts'

let api: ApiHarness
let a: TestTenant
let of: ReturnType<typeof couponsOf>
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  of = couponsOf(a)
})
afterAll(() => api?.close())

const patch = (url: string, given: object) => a.call('PATCH', url, given)

describe('coupons', () => {
  test('have what they give, are listed by status, and keep it once they are live', async () => {
    const product = await a.seed.make(productResource)
    const made = await of.coupon({ limited_to: { product_ids: [product.id] }, maximum_redemptions: 5 })
    expect(made).toMatchObject({
      object_type: 'COUPON',
      status: 'ACTIVE',
      discount: PERCENT,
      duration: FOREVER,
      limited_to: { product_ids: [product.id] },
      number_of_redemptions: 0,
    })
    const url = `/v1/coupons/${made['reference']}`
    const expanded = await succeed(a, 'GET', `${url}?expand[]=products`)
    expect(expanded['limited_to'].products[0].id).toBe(product.id)
    expect((await patch(url, { name: 'Hello', end_at: '2027-01-01T00:00:00Z' })).body['name']).toBe('Hello')
    for (const [field, value] of [
      ['discount', { type: 'PERCENTAGE', percentage: '20' }],
      ['duration', { type: 'ONE_TIME' }],
      ['limited_to', null],
      ['reference', 'other'],
    ] as const)
      expect(refusal(await patch(url, { [field]: value }))).toEqual([400, 'INVALID_FIELD', field])
    expect(refusal(await a.call('DELETE', `/v1/products/${product.id}`)).slice(0, 2)).toEqual([
      409,
      'COULD_NOT_DELETE_RESOURCE',
    ])
    for (const [verb, status] of [
      ['deactivate', 'INACTIVE'],
      ['activate', 'ACTIVE'],
      ['deprecate', 'DEPRECATED'],
      ['archive', 'ARCHIVED'],
    ] as const)
      expect((await succeed(a, 'POST', `${url}/${verb}`))['status']).toBe(status)
    expect(refusal(await a.call('POST', `${url}/activate`))).toEqual([400, 'INVALID_OPERATION', 'status'])
    const listed = await succeed(a, 'GET', `/v1/coupons?statuses[]=ARCHIVED&reference=${made['reference']}`)
    expect(listed['data']).toHaveLength(1)
  })

  test('that contradict themselves are refused with the field', async () => {
    const amount = (quantity: string, more: object = {}) => ({ type: 'AMOUNT', amount: eur(quantity), ...more })
    const value = await succeed(a, 'POST', '/v1/meter-values', {
      reference: a.seed.unique('v'),
      name: 'V',
      type: 'NUMBER',
      status: 'ACTIVE',
    })
    const usage = (given: object) => ({ discount: { type: 'USAGE', usage: { meter_value_id: value['id'], ...given } } })
    const foreign = await api.tenants.bLive.seed.make(productResource)
    const condition = (currency: string) => ({
      comparator: 'GREATER_THAN',
      value: { amount: { quantity: '1', currency } },
    })
    const cases: [object, string, string][] = [
      [{ discount: { type: 'PERCENTAGE' } }, 'MISSING_FIELD', 'discount.percentage'],
      [{ discount: { ...PERCENT, amount: eur('1') } }, 'INVALID_FIELD', 'discount.amount'],
      [{ discount: { type: 'PERCENTAGE', percentage: '0' } }, 'INVALID_FIELD', 'discount.percentage'],
      [{ discount: { type: 'PERCENTAGE', percentage: '100.01' } }, 'INVALID_FIELD', 'discount.percentage'],
      [{ discount: amount('0') }, 'INVALID_FIELD', 'discount.amount.quantity'],
      [{ discount: { type: 'AMOUNT' } }, 'MISSING_FIELD', 'discount.amount'],
      [
        { discount: amount('5', { condition: condition('USD') }) },
        'INVALID_FIELD',
        'discount.condition.value.amount.currency',
      ],
      [usage({}), 'MISSING_FIELD', 'discount.usage.number'],
      [usage({ number: '5', amount: eur('5') }), 'INVALID_FIELD', 'discount.usage.amount'],
      [usage({ number: '-5' }), 'INVALID_FIELD', 'discount.usage.number'],
      [usage({ amount: eur('5') }), 'INVALID_FIELD', 'discount.usage.amount'],
      [usage({ meter_value_id: 'metv_none', number: '5' }), 'RESOURCE_NOT_FOUND', 'discount.usage.meter_value_id'],
      [{ duration: { type: 'PERIOD' } }, 'MISSING_FIELD', 'duration.period'],
      [{ duration: { type: 'FOREVER', period: { type: 'MONTH', value: 1 } } }, 'INVALID_FIELD', 'duration.period'],
      [{ start_at: '2026-02-01T00:00:00Z', end_at: '2026-02-01T00:00:00Z' }, 'INVALID_FIELD', 'end_at'],
      [{ limited_to: { product_ids: [foreign.id] } }, 'RESOURCE_NOT_FOUND', 'limited_to.product_ids.0'],
      [{ maximum_redemptions: 0 }, 'INVALID_FIELD', 'maximum_redemptions'],
      [{ status: 'INACTIVE' }, 'INVALID_FIELD', 'status'],
      [{ reference: 'with space' }, 'INVALID_FIELD', 'reference'],
    ]
    for (const [given, errorCode, field] of cases)
      expect((await a.call('POST', '/v1/coupons', of.body(given))).body, field).toMatchObject({
        code: errorCode,
        field,
      })
  })
})

describe('promotion codes', () => {
  test('are given or generated, once for each tenant whatever their case', async () => {
    const one = await of.coupon()
    const text = a.seed.unique('Spring').replaceAll(/[^0-9A-Za-z]/g, '')
    const given = await of.code(one, { code: text })
    expect(given).toMatchObject({ object_type: 'PROMOTION_CODE', code: text, number_of_redemptions: 0 })
    const post = (more: object) => a.call('POST', '/v1/promotion-codes', { coupon_id: one['id'], ...more })
    expect(refusal(await post({ code: text.toUpperCase() }))).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'code'])
    expect((await of.code(one, { code_format: 'SUM-####-x' }))['code']).toMatch(/^SUM-[0-9A-Z]{4}-x$/)
    expect((await of.code(one))['code']).toMatch(/^[0-9A-Z]{10}$/)
    const found = await succeed(a, 'GET', `/v1/promotion-codes?code=${text.toLowerCase()}`)
    expect(found['data'].map((row: Row) => row['id'])).toEqual([given['id']])
    expect((await succeed(a, 'GET', `/v1/promotion-codes?coupon_id=${one['id']}`))['data']).toHaveLength(3)
    for (const [more, expected] of [
      [{ code: 'A', code_format: '##' }, [400, 'INVALID_FIELD', 'code_format']],
      [{ code_format: 'NOTHING' }, [400, 'INVALID_FIELD', 'code_format']],
      [{ code: 'with space' }, [400, 'INVALID_FIELD', 'code']],
      [{ coupon_id: 'coup_none' }, [404, 'RESOURCE_NOT_FOUND', 'coupon_id']],
      [{ limited_to: { customer_ids: ['cust_none'] } }, [404, 'RESOURCE_NOT_FOUND', 'limited_to.customer_ids.0']],
    ] as const)
      expect(refusal(await post(more))).toEqual(expected)
    await succeed(a, 'POST', `/v1/coupons/${one['id']}/archive`)
    expect(refusal(await post({}))).toEqual([400, 'INVALID_FIELD', 'coupon_id'])
  })

  test('are read, and say who redeemed them, by their code in any case', async () => {
    const one = await of.coupon()
    const text = a.seed.unique('Summer')
    const made = await of.code(one, { code: text })
    for (const name of [text, text.toUpperCase(), text.toLowerCase(), made['id']]) {
      expect((await succeed(a, 'GET', `/v1/promotion-codes/${name}`))['id']).toBe(made['id'])
      expect((await succeed(a, 'GET', `/v1/promotion-codes/${name}/redemptions`))['data']).toEqual([])
    }
    expect((await succeed(a, 'POST', `/v1/promotion-codes/${text.toUpperCase()}/deactivate`))['status']).toBe(
      'INACTIVE',
    )
    const unknown = await a.call('GET', `/v1/promotion-codes/${text}x`)
    expect([unknown.status, unknown.body['code']]).toEqual([404, 'RESOURCE_NOT_FOUND'])
    expect((await api.tenants.bLive.call('GET', `/v1/promotion-codes/${text}`)).status).toBe(404)
    const like = await a.call('POST', '/v1/promotion-codes', { coupon_id: one['id'], code: made['id'] })
    expect(refusal(like)).toEqual([400, 'INVALID_FIELD', 'code'])
  })

  test('a format whose codes are all taken is refused', async () => {
    const one = await of.coupon()
    const prefix = a.seed.unique('F').replaceAll(/[^0-9A-Za-z]/g, '')
    const first = await of.code(one, { code: `${prefix}A` })
    // The other 35 are copies of it.
    await api.sql(
      `insert into promotion_codes
       select (jsonb_populate_record(p, jsonb_build_object('id', p.id || last, 'code', left(p.code, -1) || last))).*
       from promotion_codes p, unnest(string_to_array('BCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', null)) last where id = $1`,
      [first['id']],
    )
    const answer = await a.call('POST', '/v1/promotion-codes', { coupon_id: one['id'], code_format: `${prefix}#` })
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'code_format'])
  })
})
