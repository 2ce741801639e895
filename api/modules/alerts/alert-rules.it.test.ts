// What alert rules may say (semantics 9.3), through the api.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, refusal } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { succeed } from '../billing/testing/billed-subscription.ts'
import { featureResource } from '../catalog/features/feature.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { alertRulesOf, overdue, RULES } from './testing/alert-rules-of.ts'

let api: ApiHarness
let a: TestTenant
let rules: Awaited<ReturnType<typeof alertRulesOf>>
/** Ids: what of an AMOUNT feature is used is measured, of `plain` not. */
let features: Readonly<Record<'amount' | 'plain' | 'switch', string>>

beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  rules = await alertRulesOf(a)
  const feature = async (type: string, more: object = {}) =>
    (await succeed(a, 'POST', '/v1/features', { reference: a.seed.unique('f'), type, ...more }))['id']
  const money = (await catalogOf(a).moneyItem())['usage_based']
  features = {
    amount: await feature('AMOUNT', money),
    plain: await feature('NUMBER'),
    switch: await feature('SWITCH'),
  }
})
afterAll(() => api?.close())

describe('an alert rule', () => {
  test('is created, shown with customers and feature, listed, changed and deleted, each with its notice', async () => {
    const customer = await a.seed.make(customerResource)
    const made = await rules.post({
      type: 'ENTITLEMENT',
      customer_ids: [customer['id']],
      entitlement: rules.entitlement({ number: '5' }),
    })
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        object_type: 'ALERT_RULE',
        status: 'DRAFT',
        trigger_type: 'STATIC',
        invoice: null,
        customer_ids: [customer['id']],
      },
    ])
    expect(made.body['entitlement']).toEqual(rules.entitlement({ number: '5' }))
    const { id } = made.body
    expect(id).toMatch(/^alru_/)
    for (const expand of ['expand[]=customers&expand[]=entitlement.feature', 'expand[]=ALL']) {
      expect(await succeed(a, 'GET', `${RULES}/${id}?${expand}`)).toMatchObject({
        customers: [{ object_type: 'CUSTOMER', id: customer['id'] }],
        entitlement: { feature_id: rules.featureId, feature: { object_type: 'FEATURE', id: rules.featureId } },
      })
    }
    const ids = (await succeed(a, 'GET', `${RULES}?limit=100&order_by=reference`))['data'].map(
      (each: Row) => each['id'],
    )
    expect(ids).toContain(id)
    // Objects merge: what is not cleared stays, and two thresholds are none.
    const url = `${RULES}/${id}`
    const second = await a.call('PATCH', url, { entitlement: rules.entitlement({ percentage: '80' }) })
    expect(refusal(second)).toEqual([400, 'INVALID_FIELD', 'entitlement.threshold'])
    const patch = { trigger_type: 'DYNAMIC', entitlement: rules.entitlement({ percentage: '80', number: null }) }
    expect((await succeed(a, 'PATCH', url, patch))['entitlement']).toEqual(rules.entitlement({ percentage: '80' }))
    expect((await succeed(a, 'PATCH', url, { status: 'ACTIVE' }))['status']).toBe('ACTIVE')
    expect((await a.call('DELETE', url)).body['code']).toBe('COULD_NOT_DELETE_RESOURCE')
    expect(refusal(await a.call('PATCH', url, { status: 'DRAFT' }))).toEqual([400, 'INVALID_OPERATION', 'status'])
    for (const status of ['DEPRECATED', 'ACTIVE', 'ARCHIVED'])
      expect((await succeed(a, 'PATCH', url, { status }))['status']).toBe(status)
    const draft = (await rules.post({ type: 'INVOICE', invoice: overdue() })).body
    await succeed(a, 'DELETE', `${RULES}/${draft['id']}`)
    const events = await api.sql('select type from outbox where object_id = any($1) order by seq', [[id, draft['id']]])
    expect(events.map(event => event['type'])).toEqual(
      ['CREATED', 'UPDATED', 'UPDATED', 'UPDATED', 'UPDATED', 'UPDATED', 'CREATED', 'DELETED'].map(
        action => `ALERT_RULE.${action}`,
      ),
    )
  })

  test('takes the threshold its feature and its trigger call for', async () => {
    const taken = async (body: object) => (await rules.post({ type: 'ENTITLEMENT', ...body })).body['trigger_type']
    const amount = { feature_id: features.amount }
    expect(await taken({ entitlement: rules.entitlement({ percentage: '10' }) })).toBe('DYNAMIC')
    expect(await taken({ entitlement: rules.entitlement({ percentage: '10' }, amount), trigger_type: 'DYNAMIC' })).toBe(
      'DYNAMIC',
    )
    expect(await taken({ entitlement: rules.entitlement({ amount: eur('10') }, amount), trigger_type: 'STATIC' })).toBe(
      'STATIC',
    )
    for (const comparator of ['GREATER_THAN_OR_EQUALS', 'LESS_THAN', 'LESS_THAN_OR_EQUALS'])
      expect(await taken({ entitlement: rules.entitlement({ number: '0.5' }, { comparator }) })).toBe('STATIC')
  })

  const at = 'entitlement.threshold'
  test.each<[what: string, body: () => object, code: string, field: string]>([
    ['no type', () => ({ type: undefined, invoice: overdue() }), 'MISSING_FIELD', 'type'],
    [
      'no reference',
      () => ({ type: 'INVOICE', invoice: overdue(), reference: undefined }),
      'MISSING_FIELD',
      'reference',
    ],
    ['no entitlement of that type', () => ({ type: 'ENTITLEMENT' }), 'MISSING_FIELD', 'entitlement'],
    ['no invoice of that type', () => ({ type: 'INVOICE' }), 'MISSING_FIELD', 'invoice'],
    [
      'what belongs to the other type',
      () => ({ type: 'INVOICE', invoice: overdue(), entitlement: rules.entitlement({ number: '1' }) }),
      'INVALID_FIELD',
      'entitlement',
    ],
    [
      'a share of what an invoice grants',
      () => ({ type: 'INVOICE', trigger_type: 'DYNAMIC', invoice: overdue() }),
      'INVALID_FIELD',
      'trigger_type',
    ],
    [
      'late by less',
      () => ({ type: 'INVOICE', invoice: overdue('LESS_THAN') }),
      'INVALID_FIELD',
      'invoice.overdue.comparator',
    ],
    [
      'late by nothing',
      () => ({ type: 'INVOICE', invoice: overdue('GREATER_THAN', 0) }),
      'INVALID_FIELD',
      'invoice.overdue.threshold.value',
    ],
    ['no threshold', () => ({ entitlement: rules.entitlement({}) }), 'INVALID_FIELD', at],
    [
      'two thresholds',
      () => ({ entitlement: rules.entitlement({ number: '1', percentage: '1' }) }),
      'INVALID_FIELD',
      at,
    ],
    [
      'a STATIC share',
      () => ({ trigger_type: 'STATIC', entitlement: rules.entitlement({ percentage: '1' }) }),
      'INVALID_FIELD',
      `${at}.percentage`,
    ],
    [
      'a DYNAMIC number',
      () => ({ trigger_type: 'DYNAMIC', entitlement: rules.entitlement({ number: '1' }) }),
      'INVALID_FIELD',
      `${at}.number`,
    ],
    [
      'a share below nothing',
      () => ({ entitlement: rules.entitlement({ percentage: '-1' }) }),
      'INVALID_FIELD',
      `${at}.percentage`,
    ],
    [
      'money of a NUMBER',
      () => ({ entitlement: rules.entitlement({ amount: eur('1') }) }),
      'INVALID_FIELD',
      `${at}.amount`,
    ],
    [
      'a number of an AMOUNT',
      () => ({ entitlement: rules.entitlement({ number: '1' }, { feature_id: features.amount }) }),
      'INVALID_FIELD',
      `${at}.number`,
    ],
    [
      'a feature that nothing measures',
      () => ({ entitlement: rules.entitlement({ number: '1' }, { feature_id: features.plain }) }),
      'INVALID_FIELD',
      'entitlement.feature_id',
    ],
    [
      'a feature that is on or off',
      () => ({ entitlement: rules.entitlement({ percentage: '1' }, { feature_id: features.switch }) }),
      'INVALID_FIELD',
      'entitlement.feature_id',
    ],
    ['no number', () => ({ entitlement: rules.entitlement({ number: 'many' }) }), 'INVALID_FIELD', `${at}.number`],
  ])('is refused with %s', async (_what, body, code, field) => {
    expect(refusal(await rules.post({ type: 'ENTITLEMENT', ...body() }))).toEqual([400, code, field])
  })

  test('is refused by the name of a comparator that cannot be watched, with the list of those that can', async () => {
    for (const comparator of [
      'EQUALS',
      'NOT_EQUALS',
      'IN',
      'NOT_IN',
      'EMPTY',
      'NOT_EMPTY',
      'CONTAINS',
      'NOT_CONTAINS',
    ]) {
      const answer = await rules.post({
        type: 'ENTITLEMENT',
        entitlement: rules.entitlement({ number: '1' }, { comparator }),
      })
      expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'entitlement.comparator'])
      expect(answer.body['message']).toMatch(
        new RegExp(`^${comparator} .* GREATER_THAN, GREATER_THAN_OR_EQUALS, LESS_THAN, LESS_THAN_OR_EQUALS`),
      )
    }
  })

  test('names only what exists, and keeps its feature from being deleted', async () => {
    const missing = { feature_id: 'feat_nothing' }
    expect(
      refusal(await rules.post({ type: 'ENTITLEMENT', entitlement: rules.entitlement({ number: '1' }, missing) })),
    ).toEqual([404, 'RESOURCE_NOT_FOUND', 'entitlement.feature_id'])
    expect(refusal(await rules.post({ type: 'INVOICE', invoice: overdue(), customer_ids: ['cust_nothing'] }))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'customer_ids.0',
    ])
    const own = await a.seed.make(featureResource)
    const draft = (
      await rules.post({
        type: 'ENTITLEMENT',
        entitlement: rules.entitlement({ number: '1' }, { feature_id: own['id'] }),
      })
    ).body
    const remove = () => a.call('DELETE', `/v1/features/${own['id']}`)
    expect((await remove()).body['code']).toBe('COULD_NOT_DELETE_RESOURCE')
    await succeed(a, 'DELETE', `${RULES}/${draft['id']}`)
    expect((await remove()).status).toBe(200)
  })
})
