// Payments that were made elsewhere, and the payment status of invoices.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal, succeed } from '../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import { noticesOf } from '../../testing/notices.ts'
import type { Row } from '../../testing/wire.ts'
import { NO_USAGE } from '../billing/testing/no-usage.ts'
import { oneOffParties } from '../invoices/testing/one-off-parties.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  api.clock.set(Date.parse('2026-05-04T10:00:00Z'))
})
afterAll(async () => await api?.close())

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

/** A FINAL invoice of 121.00. */
async function issued(tenant: TestTenant, finalize = true): Promise<{ url: string; id: string; customer: string }> {
  const parties = await oneOffParties(tenant)
  const { id } = await succeed(tenant, 'POST', '/v1/invoices', {
    ...parties,
    lines: [{ pricing_name: 'Workshop', pricing_type: 'FIXED', pricing_band: { amount: eur('100') } }],
  })
  const url = `/v1/invoices/${id}`
  if (finalize) await succeed(tenant, 'PATCH', url, { status: 'FINAL' })
  return { url, id, customer: parties.customer_id }
}

const state = (invoice: Row) => [
  invoice['payment_status'],
  invoice['paid'],
  invoice['paid_invoice_amount'].quantity,
  invoice['open_invoice_amount'].quantity,
  invoice['closed_invoice_amount'].quantity,
  invoice['refundable_amount'].quantity,
]
const stateOf = async (tenant: TestTenant, url: string) => state(await succeed(tenant, 'GET', url))
const pay = (tenant: TestTenant, invoice_id: string, amount: string) =>
  succeed(tenant, 'POST', '/v1/payments', { invoice_id, amount: eur(amount) })

test('an invoice is paid in part, in full and beyond, and follows what is reversed', async () => {
  const tenant = api.tenants.aTest
  const { url, id, customer } = await issued(tenant)
  const first = await pay(tenant, id, '21')
  expect(first).toMatchObject({
    object_type: 'PAYMENT',
    customer_id: customer,
    invoice_id: id,
    timestamp: '2026-05-04T10:00:00Z',
    amount: eur('21'),
    result: 'AUTHORIZED',
  })
  expect(await stateOf(tenant, url)).toEqual(['PARTIALLY_PAID', false, '21.00', '100.00', '21.00', '0.00'])
  const second = await pay(tenant, id, '100')
  expect(await stateOf(tenant, url)).toEqual(['PAID', true, '121.00', '0.00', '121.00', '0.00'])
  const third = await pay(tenant, id, '0.01')
  expect(await stateOf(tenant, url)).toEqual(['OVERPAID', true, '121.01', '0.00', '121.00', '0.01'])
  const types = (await noticesOf(api, id)).map(({ type }) => type)
  expect(types.filter(type => type === 'INVOICE.PAID')).toHaveLength(1)
  expect((await noticesOf(api, first['id'])).map(({ type }) => type)).toEqual(['PAYMENT.CREATED'])

  const reversed = await succeed(tenant, 'POST', `/v1/payments/${second['id']}/reverse`)
  expect(reversed).toMatchObject({ status: 'SUCCESS', payment: { id: second['id'], result: 'CANCELLED' } })
  expect(await stateOf(tenant, url)).toEqual(['PARTIALLY_PAID', false, '21.01', '99.99', '21.01', '0.00'])
  expect(await refusal(tenant, 'POST', `/v1/payments/${second['id']}/reverse`)).toEqual([
    400,
    'INVALID_OPERATION',
    'result',
  ])
  for (const payment of [first, third]) await succeed(tenant, 'POST', `/v1/payments/${payment['id']}/reverse`)
  expect(await stateOf(tenant, url)).toEqual(['UNPAID', false, '0.00', '121.00', '0.00', '0.00'])
  const listed = (await succeed(tenant, 'GET', `${url}/payments`))['data']
  expect(listed.map((payment: Row) => payment['result'])).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED'])
  const ids = (await succeed(tenant, 'GET', `/v1/payments?invoice_id=${id}&order_direction=asc`))['data']
  expect(ids.map((payment: Row) => payment['id'])).toEqual([first['id'], second['id'], third['id']])
})

test('what was marked by hand and what is recorded agree, and so does the deprecated flag', async () => {
  const tenant = api.tenants.aTest
  const { url, id } = await issued(tenant)
  const payment = await pay(tenant, id, '21')
  expect(await refusal(tenant, 'PATCH', url, { payment_status: 'UNPAID' })).toEqual([
    400,
    'INVALID_OPERATION',
    'payment_status',
  ])
  expect(state(await succeed(tenant, 'PATCH', url, { paid: true }))).toEqual([
    'PAID',
    true,
    '121.00',
    '0.00',
    '121.00',
    '0.00',
  ])
  await succeed(tenant, 'POST', `/v1/payments/${payment['id']}/reverse`)
  expect(await stateOf(tenant, url)).toEqual(['PARTIALLY_PAID', false, '100.00', '21.00', '100.00', '0.00'])
  expect(state(await succeed(tenant, 'PATCH', url, { paid: false }))).toEqual([
    'UNPAID',
    false,
    '0.00',
    '121.00',
    '0.00',
    '0.00',
  ])
  const listed = async (paid: boolean): Promise<boolean> => {
    const { data } = (await succeed(tenant, 'GET', `/v1/invoices?paid=${paid}&limit=100`)) as { data: Row[] }
    return data.some(each => each['id'] === id)
  }
  expect([await listed(true), await listed(false)]).toEqual([false, true])
  await pay(tenant, id, '200')
  expect([await listed(true), await listed(false)]).toEqual([true, false])
  expect(await refusal(tenant, 'PATCH', url, { payment_status: 'PAID' })).toEqual([
    400,
    'INVALID_OPERATION',
    'payment_status',
  ])
})

test('a credit lowers what is owed: what was paid before is paid in full, or beyond', async () => {
  const tenant = api.tenants.bTest
  const { url, id } = await issued(tenant)
  await pay(tenant, id, '60.50')
  const half = { periods: [{ period_order: 0, amount: eur('50') }] }
  for (const expected of [
    ['PAID', true, '60.50', '0.00', '121.00', '0.00'],
    ['OVERPAID', true, '60.50', '0.00', '121.00', '60.50'],
  ]) {
    const credit = await succeed(tenant, 'POST', `${url}/credit`, half)
    await succeed(tenant, 'PATCH', `/v1/invoices/${credit['id']}`, { status: 'FINAL' })
    expect(await stateOf(tenant, url)).toEqual(expected)
  }
})

test('an invoice that is not FINAL is not refunded, and the refusal does not speak of paying it', async () => {
  const tenant = api.tenants.bTest
  const { id } = await issued(tenant)
  const credit = await succeed(tenant, 'POST', `/v1/invoices/${id}/credit`, {})
  const answer = await tenant.call('POST', `/v1/invoices/${credit['id']}/refund`)
  expect([answer.status, answer.body['field'], answer.body['message']]).toEqual([
    400,
    'status',
    'Only a FINAL invoice can be refunded, and this one is DRAFT.',
  ])
})

test('an invoice that is paid in part does not become VOID; a credit of all of it leaves what was paid to refund', async () => {
  const tenant = api.tenants.bTest
  const { url, id } = await issued(tenant)
  const payment = await pay(tenant, id, '21')
  const before = ['PARTIALLY_PAID', false, '21.00', '100.00', '21.00', '0.00']
  for (const [method, path, body] of [
    ['POST', `${url}/void`, undefined],
    ['PATCH', url, { status: 'VOID' }],
    ['POST', `${url}/archive`, undefined],
  ] as const)
    expect(await refusal(tenant, method, path, body)).toEqual([400, 'INVALID_OPERATION', 'status'])
  expect(await stateOf(tenant, url)).toEqual(before)
  const credit = await succeed(tenant, 'POST', `${url}/credit`, {})
  // A DRAFT credit note reserves what it credits, and settles nothing.
  expect(await stateOf(tenant, url)).toEqual(before)
  await succeed(tenant, 'PATCH', `/v1/invoices/${credit['id']}`, { status: 'FINAL' })
  // 121 are credited, so the 21 that were paid go back.
  expect(await stateOf(tenant, url)).toEqual(['OVERPAID', true, '21.00', '0.00', '121.00', '21.00'])
  await succeed(tenant, 'POST', `${url}/refund`)
  expect(await stateOf(tenant, url)).toEqual(['PAID', true, '0.00', '0.00', '121.00', '0.00'])
  expect(await succeed(tenant, 'GET', `/v1/payments/${payment['id']}`)).toMatchObject({ result: 'REFUNDED' })
})

test('a payment is refused with the field that is wrong', async () => {
  const tenant = api.tenants.bLive
  const { id } = await issued(tenant)
  const draft = await issued(tenant, false)
  const foreign = await issued(api.tenants.aTest)
  const credit = await succeed(tenant, 'POST', `/v1/invoices/${id}/credit`, {})
  await succeed(tenant, 'PATCH', `/v1/invoices/${credit['id']}`, { status: 'FINAL' })
  const cases: readonly (readonly [Record<string, unknown>, string, string])[] = [
    [{ amount: eur('1') }, 'MISSING_FIELD', 'invoice_id'],
    [{ invoice_id: id, amount: eur('0') }, 'INVALID_FIELD', 'amount.quantity'],
    [{ invoice_id: id, amount: eur('-1') }, 'INVALID_FIELD', 'amount.quantity'],
    [{ invoice_id: id, amount: eur('0.001') }, 'INVALID_FIELD', 'amount.quantity'],
    [{ invoice_id: id, amount: { quantity: '1', currency: 'USD' } }, 'INVALID_FIELD', 'amount.currency'],
    [{ invoice_id: id, customer_id: draft.customer, amount: eur('1') }, 'INVALID_FIELD', 'customer_id'],
    [{ invoice_id: draft.id, amount: eur('1') }, 'INVALID_OPERATION', 'invoice_id'],
    [{ invoice_id: credit['id'], amount: eur('1') }, 'INVALID_FIELD', 'invoice_id'],
    [{ invoice_id: foreign.id, amount: eur('1') }, 'INVALID_FIELD', 'invoice_id'],
    [{ invoice_id: id, amount: eur('1'), result: 'REFUNDED' }, 'INVALID_FIELD', 'result'],
  ]
  for (const [body, code, field] of cases)
    expect([body, await refusal(tenant, 'POST', '/v1/payments', body)]).toEqual([body, [400, code, field]])
})

test('what was paid back of a payment counts no more, in part and then in full', async () => {
  const tenant = api.tenants.bTest
  const { url, id } = await issued(tenant)
  const payment = await pay(tenant, id, '121')
  const refund = `/v1/payments/${payment['id']}/refund`
  for (const [body, code, field] of [
    [{ amount: eur('0') }, 'INVALID_FIELD', 'amount.quantity'],
    [{ amount: eur('121.01') }, 'INVALID_FIELD', 'amount.quantity'],
    [{ amount: eur('0.001') }, 'INVALID_FIELD', 'amount.quantity'],
    [{ amount: { quantity: '1', currency: 'USD' } }, 'INVALID_FIELD', 'amount.currency'],
  ] as const)
    expect([body, await refusal(tenant, 'POST', refund, body)]).toEqual([body, [400, code, field]])
  const part = await succeed(tenant, 'POST', refund, { amount: eur('21') })
  expect(part).toMatchObject({ status: 'SUCCESS', payment: { result: 'AUTHORIZED', refunded_amount: eur('21') } })
  expect(await stateOf(tenant, url)).toEqual(['PARTIALLY_PAID', false, '100.00', '21.00', '100.00', '0.00'])
  const rest = await succeed(tenant, 'POST', refund, {})
  expect(rest['payment']).toMatchObject({ result: 'REFUNDED', amount: eur('121'), refunded_amount: eur('121') })
  expect(await stateOf(tenant, url)).toEqual(['UNPAID', false, '0.00', '121.00', '0.00', '0.00'])
  const again = [400, 'INVALID_OPERATION', 'result']
  expect(await refusal(tenant, 'POST', refund, {})).toEqual(again)
  expect(await refusal(tenant, 'POST', `/v1/payments/${payment['id']}/reverse`)).toEqual(again)
  const attempts = (await succeed(tenant, 'GET', `${url}/payment-attempts`))['data']
  expect(attempts).toMatchObject([{ id: payment['id'], result: 'REFUNDED' }])
})

test('what was paid of an invoice beyond what is due is paid back once: of the newest payments, then of what was marked', async () => {
  const tenant = api.tenants.bTest
  const { url, id } = await issued(tenant)
  const nothing = [400, 'INVALID_OPERATION', 'payment_status']
  expect(await refusal(tenant, 'POST', `${url}/refund`)).toEqual(nothing)
  const first = await pay(tenant, id, '60.50')
  const second = await pay(tenant, id, '20')
  await succeed(tenant, 'PATCH', url, { payment_status: 'PAID' })
  const credit = await succeed(tenant, 'POST', `${url}/credit`, {})
  await succeed(tenant, 'PATCH', `/v1/invoices/${credit['id']}`, { status: 'FINAL' })
  expect(await stateOf(tenant, url)).toEqual(['OVERPAID', true, '121.00', '0.00', '121.00', '121.00'])
  const answers = await Promise.all([1, 2].map(() => tenant.call('POST', `${url}/refund`)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
  expect(await stateOf(tenant, url)).toEqual(['PAID', true, '0.00', '0.00', '121.00', '0.00'])
  for (const { id: payment } of [first, second] as { id: string }[])
    expect(await succeed(tenant, 'GET', `/v1/payments/${payment}`)).toMatchObject({ result: 'REFUNDED' })
  expect(await refusal(tenant, 'POST', `${url}/refund`)).toEqual(nothing)
})

test('many at once are all counted, recorded or reversed', async () => {
  const tenant = api.tenants.bLive
  const { url, id } = await issued(tenant)
  const made = await Promise.all(Array.from({ length: 8 }, () => pay(tenant, id, '10')))
  expect(await stateOf(tenant, url)).toEqual(['PARTIALLY_PAID', false, '80.00', '41.00', '80.00', '0.00'])
  const answers = await Promise.all(
    made
      .slice(0, 4)
      .flatMap(({ id: payment }) => [1, 2].map(() => tenant.call('POST', `/v1/payments/${payment}/reverse`))),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(4)
  expect(await stateOf(tenant, url)).toEqual(['PARTIALLY_PAID', false, '40.00', '81.00', '40.00', '0.00'])
})

test('a payment on account counts for no invoice', async () => {
  const tenant = api.tenants.bLive
  const { url, customer } = await issued(tenant)
  const payment = await succeed(tenant, 'POST', '/v1/payments', {
    customer_id: customer,
    amount: eur('121'),
    timestamp: '2026-05-01T00:00:00Z',
    external_reference: 'bank-7',
  })
  expect(payment).toMatchObject({ invoice_id: null, timestamp: '2026-05-01T00:00:00Z', external_reference: 'bank-7' })
  expect(await stateOf(tenant, url)).toEqual(['UNPAID', false, '0.00', '121.00', '0.00', '0.00'])
})
