// Every refusal of invoices, credit notes, payments, tax rates and exchange rates, each with its code and its field
// (contract: Errors; issue: Bad input).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal, succeed } from '../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { runBilling } from '../billing/run/run-billing.ts'
import { billedSubscription } from '../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../billing/testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
let customer: Row
/** The addresses of what the calls name. */
const at: Record<string, string> = {}
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const line = (quantity: string, more: object = {}) => ({
  pricing_name: 'Work',
  pricing_type: 'FIXED',
  pricing_band: { amount: eur(quantity) },
  ...more,
})
const ADDRESS = { country: 'NL', city: 'Utrecht' }
const oneOff = async (more: object = {}): Promise<Row> =>
  succeed(tenant, 'POST', '/v1/invoices', {
    customer_id: customer['id'],
    billing_entity_id: at['entityId'],
    lines: [line('100')],
    ...more,
  })
const urlOf = ({ id }: Row): string => `/v1/invoices/${id}`
const final = async (url: string): Promise<Row> => succeed(tenant, 'PATCH', url, { status: 'FINAL' })

beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.bLive
  api.clock.set(Date.parse('2026-03-20T10:00:00Z'))
  const organization = { legal_name: 'Acme', registered_address: ADDRESS }
  customer = await succeed(tenant, 'POST', '/v1/customers', { type: 'ORGANIZATION', status: 'ACTIVE', organization })
  const entity = { reference: tenant.seed.unique('main'), legal_name: 'Millrace', registered_address: ADDRESS }
  at['entityId'] = (await succeed(tenant, 'POST', '/v1/billing-entities', entity))['id']
  const billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100' })
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, billed.subscriptionId)
  const ofSubscription = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}`
  const all: Row[] = (await succeed(tenant, 'GET', ofSubscription))['data']
  for (const name of ['OPEN', 'DRAFT'])
    at[name] = urlOf(all.find(({ status }) => status === name) ?? expect.fail(`there is one that is ${name}`))
  at['ONE_OFF'] = urlOf(await oneOff())
  at['FINAL'] = urlOf(await oneOff())
  await final(at['FINAL'])
  at['VOID'] = urlOf(await oneOff())
  await succeed(tenant, 'POST', `${at['VOID']}/void`)
  at['ARCHIVED'] = urlOf(await oneOff())
  await succeed(tenant, 'POST', `${at['ARCHIVED']}/archive`)
  at['CREDITED'] = urlOf(await oneOff())
  await final(at['CREDITED'])
  at['CREDIT'] = urlOf(await succeed(tenant, 'POST', `${at['CREDITED']}/credit`, {}))
  await final(at['CREDIT'])
  const payment = { invoice_id: at['FINAL'].slice('/v1/invoices/'.length), amount: eur('10') }
  at['PAYMENT'] = `/v1/payments/${(await succeed(tenant, 'POST', '/v1/payments', payment))['id']}`
  at['REVERSED'] = `/v1/payments/${(await succeed(tenant, 'POST', '/v1/payments', payment))['id']}`
  await succeed(tenant, 'POST', `${at['REVERSED']}/reverse`)
  const rate = { country: 'CH', name: 'VAT', percentage: '8.1', valid_from: '2024-01-01', source: 'FTA' }
  at['TAX_RATE'] = `/v1/tax-rates/${(await succeed(tenant, 'POST', '/v1/tax-rates', rate))['id']}`
})
afterAll(() => api?.close())

type Case = readonly [call: string, body: object | undefined, code: string, field: string | undefined]
/** `POST FINAL/credit`: the name of what it is sent to, and what follows in the address. */
const refused: readonly Case[] = [
  // Invoices: the lifecycle.
  ['PATCH OPEN', { status: 'FINAL' }, 'INVALID_OPERATION', 'status'],
  ['PATCH VOID', { status: 'FINAL' }, 'INVALID_OPERATION', 'status'],
  ['PATCH ARCHIVED', { status: 'FINAL' }, 'INVALID_OPERATION', 'status'],
  ['PATCH FINAL', { status: 'VOID' }, 'INVALID_OPERATION', 'status'],
  ['PATCH DRAFT', { status: 'OPEN' }, 'INVALID_FIELD', 'status'],
  ['PATCH DRAFT', { status: 'ARCHIVED' }, 'INVALID_FIELD', 'status'],
  ['PATCH DRAFT', { status: 'PAID' }, 'INVALID_FIELD', 'status'],
  ['PATCH DRAFT', { status: 'VOID', on_hold: true }, 'INVALID_FIELD', 'on_hold'],
  ['PATCH FINAL', { on_hold: true }, 'INVALID_OPERATION', 'on_hold'],
  ['PATCH VOID', { on_hold: true }, 'INVALID_OPERATION', 'on_hold'],
  ['PATCH DRAFT', { invoice_number: 'X-1' }, 'INVALID_FIELD', 'invoice_number'],
  ['PATCH DRAFT', { unknown: 1 }, 'INVALID_FIELD', 'unknown'],
  ['PATCH FINAL', { notes: ['x'] }, 'INVALID_OPERATION', 'notes'],
  ['PATCH DRAFT', { notes: [''] }, 'INVALID_FIELD', 'notes.0'],
  ['POST FINAL/void', undefined, 'INVALID_OPERATION', 'status'],
  ['POST ARCHIVED/void', undefined, 'INVALID_OPERATION', 'status'],
  ['POST FINAL/archive', undefined, 'INVALID_OPERATION', 'status'],
  ['POST OPEN/archive', undefined, 'INVALID_OPERATION', 'status'],
  ['POST DRAFT/archive', undefined, 'INVALID_OPERATION', 'status'],
  ['POST VOID/refresh', { types: ['FULL'] }, 'INVALID_OPERATION', 'types'],
  ['POST FINAL/refresh', { types: ['FULL'] }, 'INVALID_OPERATION', 'types'],
  ['POST DRAFT/refresh', { types: ['ALL'] }, 'INVALID_FIELD', 'types.0'],
  ['POST DRAFT/verify', undefined, 'INVALID_OPERATION', 'id'],
  ['POST CREDIT/verify', undefined, 'INVALID_OPERATION', 'id'],
  ['GET DRAFT/ubl21', undefined, 'INVALID_OPERATION', 'status'],
  // Invoices: lines and one-off invoices.
  ['POST FINAL/lines', line('1'), 'INVALID_OPERATION', 'status'],
  ['POST VOID/lines', line('1'), 'INVALID_OPERATION', 'status'],
  ['POST CREDIT/lines', line('1'), 'INVALID_OPERATION', 'lines'],
  [
    'POST ONE_OFF/lines',
    line('1', { applicable_for_clauses: ['discount.totals'] }),
    'INVALID_FIELD',
    'applicable_for_clauses',
  ],
  [
    'POST ONE_OFF/lines',
    line('1', { applicable_for_clauses: ['discount'] }),
    'INVALID_FIELD',
    'applicable_for_clauses.0',
  ],
  ['POST ONE_OFF/lines', { ...line('1'), pricing_type: 'TIERED' }, 'INVALID_FIELD', 'pricing_type'],
  ['POST ONE_OFF/lines', { pricing_name: 'Work', pricing_band: { amount: eur('1') } }, 'MISSING_FIELD', 'pricing_type'],
  [
    'POST ONE_OFF/lines',
    line('1', { pricing_band: { amount: { quantity: '1', currency: 'USD' } } }),
    'INVALID_FIELD',
    'pricing_band.amount.currency',
  ],
  [
    'POST ONE_OFF/lines',
    line('1', { start_at: '2026-03-02T00:00:00Z', end_at: '2026-03-01T00:00:00Z' }),
    'INVALID_FIELD',
    'end_at',
  ],
  ['POST ONE_OFF/delete-line', { periods: [{ period_order: 7 }] }, 'MISSING_FIELD', 'periods.0.groups'],
  ['POST /v1/invoices', { lines: [line('1')] }, 'MISSING_FIELD', 'customer_id'],
  ['POST /v1/invoices', { customer_id: 'cust_none', lines: [line('1')] }, 'RESOURCE_NOT_FOUND', 'customer_id'],
  ['POST /v1/invoices', { customer_id: 'own', lines: [] }, 'INVALID_FIELD', 'lines'],
  ['POST /v1/invoices', { customer_id: 'own' }, 'MISSING_FIELD', 'lines'],
  [
    'POST /v1/invoices',
    { customer_id: 'own', billing_entity_id: 'bill_none', lines: [line('1')] },
    'RESOURCE_NOT_FOUND',
    'billing_entity_id',
  ],
  [
    'POST /v1/invoices',
    { customer_id: 'own', billing_currency: 'XYZ', lines: [line('1')] },
    'INVALID_FIELD',
    'billing_currency',
  ],
  [
    'POST /v1/invoices',
    { customer_id: 'own', billing_entity_id: 'own', sales_tax_percentage: '101', lines: [line('1')] },
    'INVALID_FIELD',
    'sales_tax_percentage',
  ],
  [
    'POST /v1/invoices',
    { customer_id: 'own', payment_status: 'PARTIALLY_PAID', lines: [line('1')] },
    'INVALID_FIELD',
    'payment_status',
  ],
  [
    'POST /v1/invoices',
    { customer_id: 'own', billing_entity_id: 'own', billing_currency: 'USD', lines: [line('1')] },
    'INVALID_FIELD',
    'lines.0.pricing_band.amount.currency',
  ],
  ['GET /v1/invoices/invo_none', undefined, 'RESOURCE_NOT_FOUND', undefined],
  ['GET /v1/invoices?statuses[]=PAID', undefined, 'INVALID_FIELD', 'statuses[]'],
  ['GET /v1/invoices?order_by=content', undefined, 'INVALID_FIELD', 'order_by'],
  // Payment status (contract: States and transitions).
  ['PATCH FINAL', { payment_status: 'PARTIALLY_PAID' }, 'INVALID_FIELD', 'payment_status'],
  ['PATCH FINAL', { payment_status: 'OVERPAID' }, 'INVALID_FIELD', 'payment_status'],
  ['PATCH FINAL', { payment_status: 'PAID', paid: false }, 'INVALID_FIELD', 'paid'],
  ['PATCH FINAL', { payment_status: 'UNPAID', paid: true }, 'INVALID_FIELD', 'paid'],
  ['PATCH DRAFT', { payment_status: 'PAID' }, 'INVALID_OPERATION', 'payment_status'],
  ['PATCH VOID', { payment_status: 'PAID' }, 'INVALID_OPERATION', 'payment_status'],
  ['PATCH FINAL', { payment_status: 'UNPAID' }, 'INVALID_OPERATION', 'payment_status'],
  // Credit notes.
  ['POST DRAFT/credit', {}, 'INVALID_OPERATION', 'status'],
  ['POST OPEN/credit', {}, 'INVALID_OPERATION', 'status'],
  ['POST VOID/credit', {}, 'INVALID_OPERATION', 'status'],
  ['POST CREDIT/credit', {}, 'INVALID_OPERATION', 'type'],
  ['POST CREDITED/credit', {}, 'INVALID_OPERATION', 'periods'],
  ['POST CREDITED/credit_and_copy', {}, 'INVALID_OPERATION', 'periods'],
  ['POST FINAL/credit', { periods: [] }, 'INVALID_FIELD', 'periods'],
  ['POST FINAL/credit', { periods: [{ period_order: 9 }] }, 'INVALID_FIELD', 'periods.0.period_order'],
  [
    'POST FINAL/credit',
    { periods: [{ period_order: 0, groups: [{ group_order: 9 }] }] },
    'INVALID_FIELD',
    'periods.0.groups.0.group_order',
  ],
  [
    'POST FINAL/credit',
    { periods: [{ period_order: 0, groups: [{ group_order: 0, lines: [{ line_order: 9 }] }] }] },
    'INVALID_FIELD',
    'periods.0.groups.0.lines.0.line_order',
  ],
  [
    'POST FINAL/credit',
    { periods: [{ period_order: 0, amount: eur('100.01') }] },
    'INVALID_FIELD',
    'periods.0.amount.quantity',
  ],
  [
    'POST FINAL/credit',
    { periods: [{ period_order: 0, amount: eur('0') }] },
    'INVALID_FIELD',
    'periods.0.amount.quantity',
  ],
  [
    'POST FINAL/credit',
    { periods: [{ period_order: 0, amount: eur('-1') }] },
    'INVALID_FIELD',
    'periods.0.amount.quantity',
  ],
  [
    'POST FINAL/credit',
    { periods: [{ period_order: 0, amount: eur('0.001') }] },
    'INVALID_FIELD',
    'periods.0.amount.quantity',
  ],
  [
    'POST FINAL/credit',
    { periods: [{ period_order: 0, amount: { quantity: '1', currency: 'USD' } }] },
    'INVALID_FIELD',
    'periods.0.amount.currency',
  ],
  ['POST FINAL/credit', { periods: [{ period_order: 0 }, { period_order: 0 }] }, 'INVALID_FIELD', 'periods.1'],
  [
    'POST FINAL/credit',
    { periods: [{ period_order: 0, amount: eur('1'), groups: [{ group_order: 0 }] }] },
    'INVALID_FIELD',
    'periods.0.amount',
  ],
  ['POST FINAL/credit', { credit_details_source: 'NOW' }, 'INVALID_FIELD', 'credit_details_source'],
  ['POST FINAL/credit', { note: '' }, 'INVALID_FIELD', 'note'],
  // Payments.
  ['POST /v1/payments', { amount: eur('1') }, 'MISSING_FIELD', 'invoice_id'],
  ['POST /v1/payments', { invoice_id: 'FINAL' }, 'MISSING_FIELD', 'amount'],
  ['POST /v1/payments', { invoice_id: 'FINAL', amount: eur('0') }, 'INVALID_FIELD', 'amount.quantity'],
  ['POST /v1/payments', { invoice_id: 'FINAL', amount: eur('-1') }, 'INVALID_FIELD', 'amount.quantity'],
  ['POST /v1/payments', { invoice_id: 'FINAL', amount: eur('0.001') }, 'INVALID_FIELD', 'amount.quantity'],
  [
    'POST /v1/payments',
    { invoice_id: 'FINAL', amount: { quantity: '1', currency: 'USD' } },
    'INVALID_FIELD',
    'amount.currency',
  ],
  ['POST /v1/payments', { invoice_id: 'DRAFT', amount: eur('1') }, 'INVALID_OPERATION', 'invoice_id'],
  ['POST /v1/payments', { invoice_id: 'VOID', amount: eur('1') }, 'INVALID_OPERATION', 'invoice_id'],
  ['POST /v1/payments', { invoice_id: 'CREDIT', amount: eur('1') }, 'INVALID_FIELD', 'invoice_id'],
  ['POST /v1/payments', { invoice_id: 'invo_none', amount: eur('1') }, 'INVALID_FIELD', 'invoice_id'],
  ['POST PAYMENT/refund', { amount: eur('10.01') }, 'INVALID_FIELD', 'amount.quantity'],
  ['POST PAYMENT/refund', { amount: eur('0') }, 'INVALID_FIELD', 'amount.quantity'],
  ['POST PAYMENT/refund', { amount: { quantity: '1', currency: 'USD' } }, 'INVALID_FIELD', 'amount.currency'],
  ['POST REVERSED/refund', {}, 'INVALID_OPERATION', 'result'],
  ['POST REVERSED/reverse', undefined, 'INVALID_OPERATION', 'result'],
  ['POST FINAL/refund', undefined, 'INVALID_OPERATION', 'payment_status'],
  ['POST DRAFT/refund', undefined, 'INVALID_OPERATION', 'status'],
  // Tax rates.
  [
    'POST /v1/tax-rates',
    { name: 'VAT', percentage: '1', valid_from: '2024-01-01', source: 'X' },
    'MISSING_FIELD',
    'country',
  ],
  [
    'POST /v1/tax-rates',
    { country: 'ZZ', name: 'VAT', percentage: '1', valid_from: '2024-01-01', source: 'X' },
    'INVALID_FIELD',
    'country',
  ],
  [
    'POST /v1/tax-rates',
    { country: 'CH', name: 'VAT', percentage: '-1', valid_from: '2025-01-01', source: 'X' },
    'INVALID_FIELD',
    'percentage',
  ],
  [
    'POST /v1/tax-rates',
    { country: 'CH', name: 'VAT', percentage: '101', valid_from: '2025-01-01', source: 'X' },
    'INVALID_FIELD',
    'percentage',
  ],
  [
    'POST /v1/tax-rates',
    { country: 'CH', name: 'VAT', percentage: '1', valid_from: '2025-02-30', source: 'X' },
    'INVALID_FIELD',
    'valid_from',
  ],
  [
    'POST /v1/tax-rates',
    { country: 'CH', name: 'VAT', percentage: '1', valid_from: '2025-01-02', valid_to: '2025-01-01', source: 'X' },
    'INVALID_FIELD',
    'valid_to',
  ],
  ['PATCH TAX_RATE', { percentage: 'x' }, 'INVALID_FIELD', 'percentage'],
]

const idOf = (name: unknown): unknown => (typeof name === 'string' ? (at[name]?.split('/').at(-1) ?? name) : name)

test.each(refused)('%s %j is refused: %s, %s', async (call, given, code, field) => {
  const [method = '', where = ''] = call.split(' ')
  const [, name = '', rest = ''] = /^([A-Z_]+)?(.*)$/.exec(where) ?? []
  const body: Row | undefined = given && { ...given }
  if (body?.['customer_id'] === 'own') body['customer_id'] = customer['id']
  if (body?.['billing_entity_id'] === 'own') body['billing_entity_id'] = at['entityId']
  if (body && 'invoice_id' in body) body['invoice_id'] = idOf(body['invoice_id'])
  const status = code === 'RESOURCE_NOT_FOUND' ? 404 : 400
  expect(await refusal(tenant, method, `${at[name] ?? ''}${rest}`, body)).toEqual([status, code, field])
})
