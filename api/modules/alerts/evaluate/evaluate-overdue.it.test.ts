// What rules find of invoices that are not paid: real PostgreSQL, time as the test sets it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import { silentLogger } from '../../../../shared/process/logger.ts'
import { eur } from '../../../testing/catalog.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import {
  type Billed,
  type BilledOptions,
  billedSubscription,
  succeed,
} from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { grantTokens } from '../../catalog/features/testing/grant-tokens.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { alertOverdue } from './alert-overdue.ts'
import { evaluateAlerts } from './evaluate-alerts.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startOwnApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const evaluate = () => alertOverdue(api.database, tenant.tenant)
const rule = (body: object): Promise<Row> =>
  succeed(tenant, 'POST', '/v1/alert-rules', { reference: tenant.seed.unique('rule'), status: 'ACTIVE', ...body })
const alertsOf = async (by: Row): Promise<Row[]> =>
  (await succeed(tenant, 'GET', '/v1/alerts?limit=100'))['data'].filter(
    (alert: Row) => alert['alert_rule_id'] === by['id'],
  )
const overdue = (comparator: string, type: string, value: number, more: object = {}) =>
  rule({
    type: 'INVOICE',
    invoice: { variant: 'OVERDUE', overdue: { comparator, threshold: { type, value } } },
    ...more,
  })

/** The FINAL invoice of February, over 15.00 or over nothing, due on March 14 in the zone of its customer. */
async function finalInvoice(
  options: Partial<BilledOptions> = {},
  tokens = '1000000',
): Promise<Billed & { readonly invoice: Row }> {
  setTime('2026-02-10T00:00:00Z')
  const billed = await billedSubscription(tenant, {
    start_at: '2026-02-01T00:00:00Z',
    subscription: {
      due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: 14 } },
    },
    ...options,
  })
  const read = async () => [{ currency: null, number: decimal(tokens), count: 1 }]
  const run = () =>
    runBilling({ database: api.database, usage: { ...NO_USAGE, read } }, tenant.tenant, billed.subscriptionId)
  await run()
  setTime('2026-03-01T09:00:00Z')
  await run()
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}`
  const [invoice] = (await succeed(tenant, 'GET', url))['data'].filter((each: Row) => each['status'] === 'FINAL')
  return { ...billed, invoice }
}

test('an invoice sets a rule off once, when it is late by the calendar, and its customer is looked at', async () => {
  const { invoice, customerId } = await finalInvoice()
  expect([invoice['payment_status'], invoice['due_date']]).toEqual(['UNPAID', '2026-03-14T00:00:00Z'])
  const [more, asMuch, month, other] = [
    await overdue('GREATER_THAN', 'DAY', 5),
    await overdue('GREATER_THAN_OR_EQUALS', 'DAY', 5, { customer_ids: [customerId] }),
    await overdue('GREATER_THAN_OR_EQUALS', 'MONTH', 1),
    await overdue('GREATER_THAN', 'DAY', 5, { customer_ids: [(await tenant.seed.make(customerResource))['id']] }),
  ]
  const lateAt = async (time: string): Promise<number[]> => {
    setTime(time)
    await evaluate()
    return await Promise.all([more, asMuch, month, other].map(async by => (await alertsOf(by)).length))
  }
  expect(await lateAt('2026-03-18T23:59:59Z')).toEqual([0, 0, 0, 0])
  expect(await lateAt('2026-03-19T00:00:00Z')).toEqual([0, 1, 0, 0])
  expect(await lateAt('2026-03-20T00:00:00Z')).toEqual([1, 1, 0, 0])
  expect(await lateAt('2026-04-14T00:00:00Z')).toEqual([1, 1, 1, 0])
  expect(await alertsOf(more)).toMatchObject([
    {
      customer_id: customerId,
      type: 'INVOICE',
      data_trigger_reference: invoice['id'],
      alert_data: {
        invoice: {
          id: invoice['id'],
          overdue: { due_date: '2026-03-14T00:00:00Z', overdue_period: { type: 'DAY', value: 6 } },
        },
      },
    },
  ])
  const found = await Promise.all([evaluate(), evaluate()])
  expect(found).toEqual([0, 0])
})

test('an invoice is not late once it is paid, nor when it asks for nothing', async () => {
  const [paid, nothing] = [await finalInvoice(), await finalInvoice({ bands: [{ amount: eur('0') }] })]
  await succeed(tenant, 'PATCH', `/v1/invoices/${paid.invoice['id']}`, { payment_status: 'PAID' })
  expect([nothing.invoice['status'], nothing.invoice['invoice_amount_including_tax']]).toEqual(['FINAL', eur('0.00')])
  const by = await overdue('GREATER_THAN', 'DAY', 1, { customer_ids: [paid.customerId, nothing.customerId] })
  setTime('2026-06-01T00:00:00Z')
  expect(await evaluate()).toBe(0)
  expect(await alertsOf(by)).toEqual([])
})

test('an overdue invoice makes an alert also while usage cannot be read', async () => {
  const grant = grantTokens(tenant)
  const { customerId } = await finalInvoice({ schedule: grant.schedule })
  const by = await overdue('GREATER_THAN', 'DAY', 5, { customer_ids: [customerId] })
  await rule({
    type: 'ENTITLEMENT',
    entitlement: { feature_id: grant.featureId, comparator: 'GREATER_THAN', threshold: { percentage: '80' } },
  })
  setTime('2026-03-20T12:00:00Z')
  const read = () => Promise.reject(new Error('ClickHouse is away'))
  const deps = { database: api.database, usage: { ...NO_USAGE, read }, logger: silentLogger }
  await expect(evaluateAlerts(deps, tenant.tenant)).rejects.toThrow('ClickHouse is away')
  expect(await alertsOf(by)).toHaveLength(1)
})

test('in TEST it goes by the time of each customer: that of the day, or of its test clock', async () => {
  tenant = api.tenants.aTest
  const { invoice, customerId } = await finalInvoice()
  const by = await overdue('GREATER_THAN', 'DAY', 5)
  const lateBy = async (): Promise<unknown[]> => {
    await evaluate()
    return (await alertsOf(by)).map(alert => alert['data_trigger_reference'])
  }
  setTime('2026-04-01T09:00:00Z')
  // As if its customer lived at a time before it is due, and then long after.
  const clock = await succeed(tenant, 'POST', '/v1/test-clocks', { frozen_time: '2026-03-02T00:00:00Z' })
  await api.sql(
    `insert into test_clock_customers (platform_id, environment, customer_id, test_clock_id)
     select platform_id, environment, $1, id from test_clocks where id = $2`,
    [customerId, clock['id']],
  )
  expect(await lateBy()).toEqual([])
  await api.sql(`update test_clocks set frozen_time = '2027-01-01' where id = $1`, [clock['id']])
  setTime('2026-03-02T09:00:00Z')
  expect(await lateBy()).toEqual([invoice['id']])
})
