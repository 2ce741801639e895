// The rules of alert rules and alerts (semantics 9.3), through the api.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, eur, refusal } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { succeed } from '../billing/testing/billed-subscription.ts'
import { seedInvoice } from '../billing/testing/seed-invoice.ts'
import { featureResource } from '../catalog/features/feature.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { subscriptionResource } from '../subscriptions/subscription.ts'
import { alertRuleResource } from './alert-rule.ts'

const RULES = '/v1/alert-rules'
const ALERTS = '/v1/alerts'
let api: ApiHarness
let a: TestTenant
/** Ids: what of a NUMBER feature is used is measured, of `plain` not. */
let features: Readonly<Record<'number' | 'amount' | 'plain' | 'switch', string>>
let subscription: Row
let invoice: Row

beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  const feature = async (type: string, more: object = {}) =>
    (await succeed(a, 'POST', '/v1/features', { reference: a.seed.unique('f'), type, ...more }))['id']
  const money = (await catalogOf(a).moneyItem())['usage_based']
  features = {
    number: (await a.seed.make(featureResource))['id'],
    amount: await feature('AMOUNT', money),
    plain: await feature('NUMBER'),
    switch: await feature('SWITCH'),
  }
  subscription = await a.seed.make(subscriptionResource)
  invoice = await seedInvoice(api, a)
})
afterAll(() => api?.close())

const entitlement = (threshold: object, more: object = {}) => ({
  feature_id: features.number,
  comparator: 'GREATER_THAN',
  threshold,
  ...more,
})
const overdue = (comparator = 'GREATER_THAN', value = 14) => ({
  variant: 'OVERDUE',
  overdue: { comparator, threshold: { type: 'DAY', value } },
})
const post = (body: object) => a.call('POST', RULES, { reference: a.seed.unique('rule'), ...body })
const rule = async (body: object): Promise<Row> => {
  const answer = await post({ status: 'ACTIVE', ...body })
  expect(answer.status).toBe(201)
  return answer.body
}

describe('an alert rule', () => {
  test('is created, shown with customers and feature, listed, changed and deleted, each with its notice', async () => {
    const customer = await a.seed.make(customerResource)
    const made = await post({
      type: 'ENTITLEMENT',
      customer_ids: [customer['id']],
      entitlement: entitlement({ number: '5' }),
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
    expect(made.body['entitlement']).toEqual(entitlement({ number: '5' }))
    const { id } = made.body
    expect(id).toMatch(/^alru_/)
    for (const expand of ['expand[]=customers&expand[]=entitlement.feature', 'expand[]=ALL']) {
      expect(await succeed(a, 'GET', `${RULES}/${id}?${expand}`)).toMatchObject({
        customers: [{ object_type: 'CUSTOMER', id: customer['id'] }],
        entitlement: { feature_id: features.number, feature: { object_type: 'FEATURE', id: features.number } },
      })
    }
    const ids = (await succeed(a, 'GET', `${RULES}?limit=100&order_by=reference`))['data'].map(
      (each: Row) => each['id'],
    )
    expect(ids).toContain(id)
    // Objects merge: what is not cleared stays, and two thresholds are none.
    const url = `${RULES}/${id}`
    const second = await a.call('PATCH', url, { entitlement: entitlement({ percentage: '80' }) })
    expect(refusal(second)).toEqual([400, 'INVALID_FIELD', 'entitlement.threshold'])
    const patch = { trigger_type: 'DYNAMIC', entitlement: entitlement({ percentage: '80', number: null }) }
    expect((await succeed(a, 'PATCH', url, patch))['entitlement']).toEqual(entitlement({ percentage: '80' }))
    expect((await succeed(a, 'PATCH', url, { status: 'ACTIVE' }))['status']).toBe('ACTIVE')
    expect((await a.call('DELETE', url)).body['code']).toBe('COULD_NOT_DELETE_RESOURCE')
    expect(refusal(await a.call('PATCH', url, { status: 'DRAFT' }))).toEqual([400, 'INVALID_OPERATION', 'status'])
    for (const status of ['DEPRECATED', 'ACTIVE', 'ARCHIVED'])
      expect((await succeed(a, 'PATCH', url, { status }))['status']).toBe(status)
    const draft = (await post({ type: 'INVOICE', invoice: overdue() })).body
    await succeed(a, 'DELETE', `${RULES}/${draft['id']}`)
    const events = await api.sql('select type from outbox where object_id = any($1) order by seq', [[id, draft['id']]])
    expect(events.map(event => event['type'])).toEqual(
      ['CREATED', 'UPDATED', 'UPDATED', 'UPDATED', 'UPDATED', 'UPDATED', 'CREATED', 'DELETED'].map(
        action => `ALERT_RULE.${action}`,
      ),
    )
  })

  test('takes the threshold its feature and its trigger call for', async () => {
    const taken = async (body: object) => (await post({ type: 'ENTITLEMENT', ...body })).body['trigger_type']
    const amount = { feature_id: features.amount }
    expect(await taken({ entitlement: entitlement({ percentage: '10' }) })).toBe('DYNAMIC')
    expect(await taken({ entitlement: entitlement({ percentage: '10' }, amount), trigger_type: 'DYNAMIC' })).toBe(
      'DYNAMIC',
    )
    expect(await taken({ entitlement: entitlement({ amount: eur('10') }, amount), trigger_type: 'STATIC' })).toBe(
      'STATIC',
    )
    for (const comparator of ['GREATER_THAN_OR_EQUALS', 'LESS_THAN', 'LESS_THAN_OR_EQUALS'])
      expect(await taken({ entitlement: entitlement({ number: '0.5' }, { comparator }) })).toBe('STATIC')
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
      () => ({ type: 'INVOICE', invoice: overdue(), entitlement: entitlement({ number: '1' }) }),
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
    ['no threshold', () => ({ entitlement: entitlement({}) }), 'INVALID_FIELD', at],
    ['two thresholds', () => ({ entitlement: entitlement({ number: '1', percentage: '1' }) }), 'INVALID_FIELD', at],
    [
      'a STATIC share',
      () => ({ trigger_type: 'STATIC', entitlement: entitlement({ percentage: '1' }) }),
      'INVALID_FIELD',
      `${at}.percentage`,
    ],
    [
      'a DYNAMIC number',
      () => ({ trigger_type: 'DYNAMIC', entitlement: entitlement({ number: '1' }) }),
      'INVALID_FIELD',
      `${at}.number`,
    ],
    [
      'a share below nothing',
      () => ({ entitlement: entitlement({ percentage: '-1' }) }),
      'INVALID_FIELD',
      `${at}.percentage`,
    ],
    ['money of a NUMBER', () => ({ entitlement: entitlement({ amount: eur('1') }) }), 'INVALID_FIELD', `${at}.amount`],
    [
      'a number of an AMOUNT',
      () => ({ entitlement: entitlement({ number: '1' }, { feature_id: features.amount }) }),
      'INVALID_FIELD',
      `${at}.number`,
    ],
    [
      'a feature that nothing measures',
      () => ({ entitlement: entitlement({ number: '1' }, { feature_id: features.plain }) }),
      'INVALID_FIELD',
      'entitlement.feature_id',
    ],
    [
      'a feature that is on or off',
      () => ({ entitlement: entitlement({ percentage: '1' }, { feature_id: features.switch }) }),
      'INVALID_FIELD',
      'entitlement.feature_id',
    ],
    ['no number', () => ({ entitlement: entitlement({ number: 'many' }) }), 'INVALID_FIELD', `${at}.number`],
  ])('is refused with %s', async (_what, body, code, field) => {
    expect(refusal(await post({ type: 'ENTITLEMENT', ...body() }))).toEqual([400, code, field])
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
      const answer = await post({ type: 'ENTITLEMENT', entitlement: entitlement({ number: '1' }, { comparator }) })
      expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'entitlement.comparator'])
      expect(answer.body['message']).toMatch(
        new RegExp(`^${comparator} .* GREATER_THAN, GREATER_THAN_OR_EQUALS, LESS_THAN, LESS_THAN_OR_EQUALS`),
      )
    }
  })

  test('names only what exists, and keeps its feature from being deleted', async () => {
    const missing = { feature_id: 'feat_nothing' }
    expect(refusal(await post({ type: 'ENTITLEMENT', entitlement: entitlement({ number: '1' }, missing) }))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'entitlement.feature_id',
    ])
    expect(refusal(await post({ type: 'INVOICE', invoice: overdue(), customer_ids: ['cust_nothing'] }))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'customer_ids.0',
    ])
    const own = await a.seed.make(featureResource)
    const draft = (
      await post({ type: 'ENTITLEMENT', entitlement: entitlement({ number: '1' }, { feature_id: own['id'] }) })
    ).body
    const remove = () => a.call('DELETE', `/v1/features/${own['id']}`)
    expect((await remove()).body['code']).toBe('COULD_NOT_DELETE_RESOURCE')
    await succeed(a, 'DELETE', `${RULES}/${draft['id']}`)
    expect((await remove()).status).toBe(200)
  })
})

describe('an alert', () => {
  /** A report by the rule, of what its fixture would say. */
  const report = (by: Row, more: object = {}) => ({
    platform_id: a.tenant.platformId,
    alert_rule_id: by['id'],
    customer_id: subscription['customer_id'],
    type: 'ENTITLEMENT',
    alert_data: {
      entitlement: {
        pricing_plan_subscription_id: subscription['id'],
        entitlement_value: { number: '100' },
        threshold_value: { number: '80' },
        used_value: { number: '80.000000000001' },
      },
    },
    ...more,
  })
  const ofInvoice = (by: Row, more: object = {}) =>
    report(by, {
      type: 'INVOICE',
      customer_id: invoice['customer_id'],
      alert_data: {
        invoice: {
          id: invoice['id'],
          overdue: { due_date: '2026-03-01T01:00:00+01:00', overdue_period: { type: 'DAY', value: 15 } },
        },
      },
      ...more,
    })

  test('is reported, read, listed by customer with rule and customer, and told of once', async () => {
    const by = await rule({ type: 'ENTITLEMENT', entitlement: entitlement({ number: '80' }) })
    const body = report(by, { data_trigger_reference: 'march' })
    const made = await a.call('POST', ALERTS, body)
    expect([made.status, made.body]).toMatchObject([201, { object_type: 'ALERT', ...body }])
    const { id } = made.body
    expect(id).toMatch(/^aler_/)
    expect(await succeed(a, 'GET', `${ALERTS}/${id}`)).toEqual(made.body)
    const listed = await succeed(
      a,
      'GET',
      `${ALERTS}?customer_id=${body.customer_id}&expand[]=alert_rule&expand[]=customer&limit=1`,
    )
    expect(listed).toMatchObject({
      limit: 1,
      total_number_of_pages: 1,
      data: [{ id, alert_rule: { id: by['id'] }, customer: { id: body.customer_id } }],
    })
    expect((await succeed(a, 'GET', `${ALERTS}?customer_id=${invoice['customer_id']}`))['data']).toEqual([])
    const other = await rule({ type: 'INVOICE', invoice: overdue() })
    const late = await a.call('POST', ALERTS, ofInvoice(other))
    expect([late.status, late.body['alert_data'].invoice.overdue.due_date]).toEqual([201, '2026-03-01T00:00:00Z'])
    const events = await api.sql('select type, data from outbox where object_id = any($1) order by seq', [
      [id, late.body['id']],
    ])
    expect(events.map(event => [event['type'], event['data'].id])).toEqual([
      ['ALERT.CREATED', id],
      ['ALERT.CREATED', late.body['id']],
    ])
  })

  test('that is reported again, or twice at once, is the one that is there, also when its rule is over', async () => {
    const by = await rule({ type: 'ENTITLEMENT', entitlement: entitlement({ number: '80' }) })
    const body = report(by, { data_trigger_reference: 'once' })
    const answers = await Promise.all(Array.from({ length: 6 }, () => a.call('POST', ALERTS, body)))
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201))
    expect(new Set(answers.map(answer => answer.body['id'])).size).toBe(1)
    await succeed(a, 'PATCH', `${RULES}/${by['id']}`, { status: 'ARCHIVED' })
    const again = await a.call('POST', ALERTS, {
      ...body,
      alert_data: { entitlement: { pricing_plan_subscription_id: 'x' } },
    })
    expect([again.status, again.body]).toEqual([201, answers[0]?.body])
    const [told] = await api.sql(
      `select count(*)::int as times from outbox where type = 'ALERT.CREATED' and object_id = $1`,
      [again.body['id']],
    )
    expect(told?.['times']).toBe(1)
    // Without a reference nothing says that it is the same.
    const free = await rule({ type: 'ENTITLEMENT', entitlement: entitlement({ number: '80' }) })
    const both = [await a.call('POST', ALERTS, report(free)), await a.call('POST', ALERTS, report(free))]
    expect(new Set(both.map(answer => answer.body['id'])).size).toBe(2)
  })

  test('is never changed or deleted, not even by a statement', async () => {
    const by = await rule({ type: 'ENTITLEMENT', entitlement: entitlement({ number: '80' }) })
    const { id } = (await a.call('POST', ALERTS, report(by))).body
    expect((await a.call('PATCH', `${ALERTS}/${id}`, { type: 'INVOICE' })).status).toBe(405)
    expect((await a.call('DELETE', `${ALERTS}/${id}`)).status).toBe(405)
    const [may] = await api.sql(
      `select has_table_privilege('millrace_app', 'alerts', 'update') as update, has_table_privilege('millrace_app', 'alerts', 'delete') as delete`,
    )
    expect(may).toEqual({ update: false, delete: false })
  })

  const data = 'alert_data.entitlement'
  test.each<[what: string, over: () => Promise<object> | object, status: number, code: string, field: string]>([
    [
      'another platform',
      () => ({ platform_id: api.tenants.bLive.tenant.platformId }),
      404,
      'RESOURCE_NOT_FOUND',
      'platform_id',
    ],
    ['no platform', () => ({ platform_id: undefined }), 400, 'MISSING_FIELD', 'platform_id'],
    ['no data', () => ({ alert_data: undefined }), 400, 'MISSING_FIELD', 'alert_data'],
    ['a rule that is not there', () => ({ alert_rule_id: 'alru_nothing' }), 404, 'RESOURCE_NOT_FOUND', 'alert_rule_id'],
    ['a customer that is not there', () => ({ customer_id: 'cust_nothing' }), 404, 'RESOURCE_NOT_FOUND', 'customer_id'],
    [
      'a customer the rule does not name',
      async () => ({
        alert_rule_id: (await rule({ type: 'INVOICE', invoice: overdue(), customer_ids: [invoice['customer_id']] }))[
          'id'
        ],
        type: 'INVOICE',
      }),
      400,
      'INVALID_FIELD',
      'customer_id',
    ],
    [
      'a rule that is not ACTIVE',
      async () => ({
        alert_rule_id: (
          await rule({ status: 'DRAFT', type: 'ENTITLEMENT', entitlement: entitlement({ number: '1' }) })
        )['id'],
      }),
      400,
      'INVALID_OPERATION',
      'alert_rule_id',
    ],
    ['the other type', () => ({ type: 'INVOICE' }), 400, 'INVALID_FIELD', 'type'],
    ['data of nothing', () => ({ alert_data: {} }), 400, 'MISSING_FIELD', data],
    [
      'data of the other type',
      () => ({ alert_data: { invoice: { id: invoice['id'] } } }),
      400,
      'INVALID_FIELD',
      'alert_data.invoice',
    ],
    [
      'a subscription that is not there',
      () => ({ alert_data: { entitlement: { pricing_plan_subscription_id: 'ppsu_nothing' } } }),
      404,
      'RESOURCE_NOT_FOUND',
      `${data}.pricing_plan_subscription_id`,
    ],
    [
      "another customer's subscription",
      async () => ({ customer_id: (await a.seed.make(customerResource))['id'] }),
      400,
      'INVALID_FIELD',
      `${data}.pricing_plan_subscription_id`,
    ],
    [
      'money used of a NUMBER',
      () => ({
        alert_data: {
          entitlement: { pricing_plan_subscription_id: subscription['id'], used_value: { amount: eur('1') } },
        },
      }),
      400,
      'INVALID_FIELD',
      `${data}.used_value`,
    ],
  ])('is refused with %s', async (_what, over, status, code, field) => {
    const by = await a.seed.make(alertRuleResource)
    expect(refusal(await a.call('POST', ALERTS, { ...report(by), ...(await over()) }))).toEqual([status, code, field])
  })

  test('of an invoice is of one that is there, and of that customer', async () => {
    const by = await rule({ type: 'INVOICE', invoice: overdue() })
    const field = 'alert_data.invoice.id'
    const missing = ofInvoice(by, { alert_data: { invoice: { id: 'invo_nothing' } } })
    expect(refusal(await a.call('POST', ALERTS, missing))).toEqual([404, 'RESOURCE_NOT_FOUND', field])
    const foreign = ofInvoice(by, { customer_id: subscription['customer_id'] })
    expect(refusal(await a.call('POST', ALERTS, foreign))).toEqual([400, 'INVALID_FIELD', field])
  })
})
