// What alerts may say, and that each has one event (semantics 9.3), through the api.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eur, refusal } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { succeed } from '../billing/testing/billed-subscription.ts'
import { seedInvoice } from '../billing/testing/seed-invoice.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { subscriptionResource } from '../subscriptions/subscription.ts'
import { alertRuleResource } from './alert-rule.ts'
import { alertRulesOf, overdue, RULES } from './testing/alert-rules-of.ts'

const ALERTS = '/v1/alerts'
let api: ApiHarness
let a: TestTenant
let rules: Awaited<ReturnType<typeof alertRulesOf>>
let subscription: Row
let invoice: Row

beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  rules = await alertRulesOf(a)
  subscription = await a.seed.make(subscriptionResource)
  invoice = await seedInvoice(api, a)
})
afterAll(() => api?.close())

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

  test('is reported, read, listed by customer with rule and customer, and emitted once', async () => {
    const by = await rules.rule({ type: 'ENTITLEMENT', entitlement: rules.entitlement({ number: '80' }) })
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
    const other = await rules.rule({ type: 'INVOICE', invoice: overdue() })
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
    const by = await rules.rule({ type: 'ENTITLEMENT', entitlement: rules.entitlement({ number: '80' }) })
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
    const [emitted] = await api.sql(
      `select count(*)::int as times from outbox where type = 'ALERT.CREATED' and object_id = $1`,
      [again.body['id']],
    )
    expect(emitted?.['times']).toBe(1)
    // Without a reference nothing says that it is the same.
    const free = await rules.rule({ type: 'ENTITLEMENT', entitlement: rules.entitlement({ number: '80' }) })
    const both = [await a.call('POST', ALERTS, report(free)), await a.call('POST', ALERTS, report(free))]
    expect(new Set(both.map(answer => answer.body['id'])).size).toBe(2)
  })

  test('is never changed or deleted, not even by a statement', async () => {
    const by = await rules.rule({ type: 'ENTITLEMENT', entitlement: rules.entitlement({ number: '80' }) })
    const { id } = (await a.call('POST', ALERTS, report(by))).body
    expect((await a.call('PATCH', `${ALERTS}/${id}`, { type: 'INVOICE' })).status).toBe(405)
    expect((await a.call('DELETE', `${ALERTS}/${id}`)).status).toBe(405)
    const [may] = await api.sql(
      `select has_table_privilege('millrace_app', 'alerts', 'update') as update, has_table_privilege('millrace_app', 'alerts', 'delete') as delete`,
    )
    expect(may).toEqual({ update: false, delete: false })
  })

  const data = 'alert_data.entitlement'
  let usual: Row
  beforeAll(async () => {
    usual = await a.seed.make(alertRuleResource)
  })

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
        alert_rule_id: (
          await rules.rule({ type: 'INVOICE', invoice: overdue(), customer_ids: [invoice['customer_id']] })
        )['id'],
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
          await rules.rule({ status: 'DRAFT', type: 'ENTITLEMENT', entitlement: rules.entitlement({ number: '1' }) })
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
    expect(refusal(await a.call('POST', ALERTS, { ...report(usual), ...(await over()) }))).toEqual([
      status,
      code,
      field,
    ])
  })

  test('of an invoice is of one that is there, and of that customer', async () => {
    const by = await rules.rule({ type: 'INVOICE', invoice: overdue() })
    const field = 'alert_data.invoice.id'
    const missing = ofInvoice(by, { alert_data: { invoice: { id: 'invo_nothing' } } })
    expect(refusal(await a.call('POST', ALERTS, missing))).toEqual([404, 'RESOURCE_NOT_FOUND', field])
    const foreign = ofInvoice(by, { customer_id: subscription['customer_id'] })
    expect(refusal(await a.call('POST', ALERTS, foreign))).toEqual([400, 'INVALID_FIELD', field])
  })
})
