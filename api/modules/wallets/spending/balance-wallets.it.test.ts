// What wallets of type BALANCE pay of invoices of every kind, after tax (contract: Wallet rules 1 and 2; semantics 5.4 step 13): reserved
// while an invoice is OPEN or DRAFT, paid when it becomes FINAL, released when it is computed again or becomes VOID.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { type AprilSales, aprilSales, usageOfApril } from '../testing/april.ts'
import { BALANCE, linesOf, MONEY, shown, walletsOf } from '../testing/wallets-of.ts'

const { usage, use } = usageOfApril()
let api: ApiHarness
let tenant: TestTenant
let of: Awaited<ReturnType<typeof walletsOf>>
let april: AprilSales

beforeAll(async () => {
  api = await startApi({ usage })
  tenant = api.tenants.aTest
  of = await walletsOf(tenant)
  april = aprilSales(api, tenant, usage)
})
afterAll(() => api?.close())

const post = (url: string, body?: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)

/** Its status, then total, paid, open, and how it is paid. */
const money = (invoice: Row): string =>
  [
    invoice['status'],
    ...['invoice_amount_including_tax', 'paid_invoice_amount', 'open_invoice_amount'].map(
      name => invoice[name].quantity,
    ),
    invoice['payment_status'],
  ].join(' ')
const fromBalances = (invoice: Row): string[] =>
  (invoice['wallet_balances'] ?? []).map((each: Row) =>
    ['used_balance', 'left_balance', 'available_balance'].map(name => each[name].amount.quantity).join(' '),
  )

async function emitted(id: string): Promise<string[]> {
  const rows = await api.sql("select type from outbox where object_id = $1 and type = 'INVOICE.PAID'", [id])
  return rows.map(row => String(row['type']))
}

test('the invoice of a period: held with tax while it is open, computed again, paid when FINAL, and back by a credit note', async () => {
  use('200')
  const billed = await april.billedIn('2026-04-10T00:00:00Z')
  const before = await of.wallet(MONEY, billed.customerId)
  await of.grant(before, '50')
  const wallet = await of.wallet(BALANCE, billed.customerId)
  await of.grant(wallet, '300')
  await april.run(billed)
  const open = await april.invoiceOf(billed)
  // Money before tax pays 50 of 200; 150 with 21 % tax is 181.50, which the balance pays.
  expect([...shown(open), money(open), ...fromBalances(open)]).toEqual([
    ...['REVENUE 200.00', 'WALLET -50.00', '150.00', '31.50', '181.50'],
    'OPEN 181.50 181.50 0.00 UNPAID',
    '181.5 118.5 300',
  ])
  expect([await of.balance(before), await of.balance(wallet)]).toEqual(['50 / 50 / 0', '300 / 181.5 / 118.5'])
  use('400')
  await post(`invoices/${open['id']}/refresh`, { types: ['FULL'] })
  expect([money(await april.invoiceOf(billed)), await of.balance(wallet)]).toEqual([
    'OPEN 423.50 300.00 123.50 UNPAID',
    '300 / 300 / 0',
  ])
  use('100')
  await post(`invoices/${open['id']}/refresh`, { types: ['FULL'] })
  expect([money(await april.invoiceOf(billed)), await of.balance(wallet)]).toEqual([
    'OPEN 60.50 60.50 0.00 UNPAID',
    '300 / 60.5 / 239.5',
  ])
  april.setTime('2026-05-02T09:00:00Z')
  await april.run(billed)
  await april.run(billed)
  const final = await april.invoiceOf(billed)
  expect([money(final), await of.balance(wallet), await emitted(final['id'])]).toEqual([
    'FINAL 60.50 60.50 0.00 PAID',
    '239.5 / 0 / 239.5',
    ['INVOICE.PAID'],
  ])
  const unpaid = await tenant.call('PATCH', `/v1/invoices/${final['id']}`, { payment_status: 'UNPAID' })
  expect([unpaid.status, unpaid.body['code'], unpaid.body['field']]).toEqual([
    400,
    'INVALID_OPERATION',
    'payment_status',
  ])
  expect(unpaid.body['message']).toContain('credit the invoice')

  // A credit of everything: 50 return to the money before tax, and 60.50 to the balance.
  const credit = await post(`invoices/${final['id']}/credit`, {})
  expect(credit['wallet_balances']).toBe(undefined)
  expect(await of.balance(wallet)).toBe('239.5 / 0 / 239.5')
  await succeed(tenant, 'PATCH', `/v1/invoices/${credit['id']}`, { status: 'FINAL' })
  expect([await of.balance(before), await of.balance(wallet)]).toEqual(['50 / 0 / 50', '300 / 0 / 300'])
  const credited = await succeed(tenant, 'GET', `/v1/invoices/${final['id']}`)
  expect([money(credited), credited['refundable_amount'].quantity]).toEqual(['FINAL 60.50 0.00 0.00 PAID', '0.00'])
})

test('a balance below the total pays part of it; the rest is paid as usual, and VOID gives back what was held', async () => {
  use('100')
  const billed = await april.billedIn('2026-04-10T00:00:00Z')
  const wallet = await of.wallet(BALANCE, billed.customerId)
  await of.grant(wallet, '21')
  await april.run(billed)
  const preview = await post('invoices/preview', { pricing_plan_subscription_id: billed.subscriptionId })
  expect([money(preview['invoice']), ...fromBalances(preview['invoice'])]).toEqual([
    'OPEN 121.00 21.00 100.00 UNPAID',
    '21 0 21',
  ])
  const { billing_entity_id } = await april.invoiceOf(billed)
  await succeed(tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, { tax_id: 'NL004495445B01' })
  april.setTime('2026-05-02T09:00:00Z')
  await april.run(billed)
  await april.run(billed)
  const { id, ...final } = await april.invoiceOf(billed)
  expect([money(final), await of.balance(wallet)]).toEqual(['FINAL 121.00 21.00 100.00 PARTIALLY_PAID', '0 / 0 / 0'])
  const headers = { 'x-api-key': tenant.key }
  const printed = await api.app.inject({ method: 'GET', url: `/v1/invoices/${id}/ubl21`, headers })
  expect(printed.body).toContain('<cbc:PrepaidAmount currencyID="EUR">21.00</cbc:PrepaidAmount>')
  expect(printed.body).toContain('<cbc:PayableAmount currencyID="EUR">100.00</cbc:PayableAmount>')
  const marked = await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { payment_status: 'PAID' })
  expect([money(marked), marked['refundable_amount'].quantity]).toEqual(['FINAL 121.00 121.00 0.00 PAID', '0.00'])

  const other = await april.billedIn('2026-04-10T00:00:00Z')
  const held = await of.wallet(BALANCE, other.customerId)
  await of.grant(held, '500')
  await april.run(other)
  expect(await of.balance(held)).toBe('500 / 121 / 379')
  const voided = await post(`invoices/${(await april.invoiceOf(other))['id']}/void`)
  expect([money(voided), voided['wallet_balances'], await of.balance(held)]).toEqual([
    'VOID 121.00 0.00 121.00 UNPAID',
    undefined,
    '500 / 0 / 500',
  ])
})

const line = (quantity: string) => ({
  pricing_name: 'Set-up',
  pricing_type: 'FIXED',
  pricing_band: { fixed_amount: { quantity, currency: 'EUR' } },
})

test('a one-off invoice: money before tax pays its lines, the balance the rest; lines, VOID and a copy follow', async () => {
  april.setTime('2026-04-10T00:00:00Z')
  const { id: customer_id } = await tenant.seed.make(customerResource)
  const before = await of.wallet(MONEY, customer_id)
  const wallet = await of.wallet(BALANCE, customer_id)
  await of.grant(before, '30')
  await of.grant(wallet, '1000')
  const body = { customer_id, billing_entity_id: of.billingEntity['id'], lines: [line('100')] }
  const made = await post('invoices', body)
  const totals = (invoice: Row) => [...shown(invoice).filter(text => /^[A-Z]/.test(text)), money(invoice)]
  const tax = (invoice: Row): string => invoice['tax_summary'].tax_amount.quantity
  const gross = decimal('70').plus(tax(made)).toFixed(2)
  expect(totals(made)).toEqual(['REVENUE 100.00', 'WALLET -30.00', `DRAFT ${gross} ${gross} 0.00 UNPAID`])
  expect([await of.balance(before), linesOf(made)[0]?.['details'].wallet_balances[0].wallet_id]).toEqual([
    '30 / 30 / 0',
    before['id'],
  ])
  await post(`invoices/${made['id']}/lines`, line('10'))
  const twice = await succeed(tenant, 'GET', `/v1/invoices/${made['id']}`)
  expect(twice['open_invoice_amount'].quantity).toBe('0.00')
  await post(`invoices/${made['id']}/void`)
  expect([await of.balance(before), await of.balance(wallet)]).toEqual(['30 / 0 / 30', '1000 / 0 / 1000'])

  const again = await post('invoices', body)
  const final = await succeed(tenant, 'PATCH', `/v1/invoices/${again['id']}`, { status: 'FINAL' })
  expect(totals(final)).toEqual(['REVENUE 100.00', 'WALLET -30.00', `FINAL ${gross} ${gross} 0.00 PAID`])
  const left = decimal('1000').minus(gross).toFixed()
  expect([await of.balance(before), await of.balance(wallet)]).toEqual(['0 / 0 / 0', `${left} / 0 / ${left}`])
  const made2 = await post(`invoices/${again['id']}/credit_and_copy`, { update_credit_invoice_to_final: true })
  expect(await of.balance(before)).toBe('30 / 0 / 30')
  await succeed(tenant, 'PATCH', `/v1/invoices/${made2['new_invoice_id']}`, { status: 'FINAL' })
  expect([await of.balance(before), await of.balance(wallet)]).toEqual(['0 / 0 / 0', `${left} / 0 / ${left}`])
})

test('what a credit note gave back stays back when the payment that was too much is reversed', async () => {
  april.setTime('2026-04-10T00:00:00Z')
  const { id: customer_id } = await tenant.seed.make(customerResource)
  const wallet = await of.wallet(BALANCE, customer_id)
  await of.grant(wallet, '30')
  const { id } = await post('invoices', {
    customer_id,
    billing_entity_id: of.billingEntity['id'],
    lines: [line('100')],
  })
  const final = await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
  const { payment } = await post('payments', { invoice_id: id, amount: final['open_invoice_amount'] }).then(made => ({
    payment: made['id'] ?? made['payment'].id,
  }))
  const credit = async (quantity: string) => {
    const periods = [{ period_order: 0, amount: { quantity, currency: 'EUR' } }]
    const made = await post(`invoices/${id}/credit`, { periods })
    await succeed(tenant, 'PATCH', `/v1/invoices/${made['id']}`, { status: 'FINAL' })
  }
  await credit('40')
  expect(await of.balance(wallet)).toBe('30 / 0 / 30')
  await post(`payments/${payment}/reverse`)
  await credit('10')
  const after = await succeed(tenant, 'GET', `/v1/invoices/${id}`)
  expect([after['paid_invoice_amount'].quantity, after['payment_status'], await of.balance(wallet)]).toEqual([
    '0.00',
    'UNPAID',
    '30 / 0 / 30',
  ])
})
