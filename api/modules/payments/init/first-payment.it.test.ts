// A subscription that is made with its first payment: the first invoice is FINAL and paid at once, or nothing is made.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusalOf, succeed } from '../../../testing/calls.ts'
import type { TestTenant } from '../../../testing/harness.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { type BilledOptions, billedSubscription } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { walletsOf } from '../../wallets/testing/wallets-of.ts'

let api: UserHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApiWithUsers({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  api.clock.set(Date.parse('2026-04-01T10:00:00Z'))
})
afterAll(async () => await api?.close())

const INIT = '/v1/pricing-plan-subscriptions/init'
const START = '2026-04-01T00:00:00Z'
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })

/** The body of a subscription with a fee of 100.00 ahead, which is 121.00 with tax. */
async function sale(options: Partial<BilledOptions> = {}, start = START) {
  const billed = await billedSubscription(tenant, { start_at: START, fee: '100', activate: false, ...options })
  const of = `pricing_plan_subscription_id=${billed.subscriptionId}`
  const { data } = await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?${of}`)
  const { billing_entity_id } = await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`)
  return {
    pricing_plan_subscription: {
      customer_id: billed.customerId,
      billing_entity_id,
      billing_currency: 'EUR',
      reference: tenant.seed.unique('sale'),
      status: 'ACTIVE',
      ...options.subscription,
    },
    pricing_plan_subscription_start_at: start,
    pricing_plan_schedules: [{ pricing_plan_version_id: data[0].pricing_plan_version_id, pricing_currency: 'EUR' }],
  }
}
const invoicesOf = async (id: string): Promise<Row[]> =>
  (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${id}`))['data']

describe('an AUTHORIZED first payment', () => {
  test('makes the first invoice FINAL and pays it, once for each Idempotency-Key, and billing goes on after it', async () => {
    const body = { ...(await sale()), first_payment: { amount: eur('121'), external_reference: 'psp-1' } }
    const send = () => tenant.call('POST', INIT, body, { 'idempotency-key': body.pricing_plan_subscription.reference })
    const answers = await Promise.all([send(), send()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const again = await send()
    const { first_payment: payment, invoice, id } = again.body
    expect(answers.find(({ status }) => status === 200)?.body).toEqual(again.body)
    expect(invoice).toMatchObject({
      status: 'FINAL',
      payment_status: 'PAID',
      invoice_amount_including_tax: eur('121.00'),
    })
    expect(invoice.invoice_number).toMatch(/\d/)
    expect(payment).toMatchObject({ invoice_id: invoice.id, result: 'AUTHORIZED', external_reference: 'psp-1' })
    await runBilling({ ...api, usage: NO_USAGE }, tenant.tenant, id)
    const found = await invoicesOf(id)
    expect(found.map(each => each['status']).sort()).toEqual(['FINAL', 'OPEN'])
    expect((await succeed(tenant, 'GET', `/v1/invoices/${invoice.id}/payments`))['data']).toHaveLength(1)
    expect((await succeed(tenant, 'POST', `/v1/invoices/${invoice.id}/verify`))['identical']).toBe(true)
  })

  test.each([
    ['100', 'PARTIALLY_PAID', '21.00', '0.00'],
    ['121.01', 'OVERPAID', '0.00', '0.01'],
  ])('of %s leaves it %s', async (quantity, payment_status, open, refundable) => {
    const body = { ...(await sale()), first_payment: { amount: eur(quantity) } }
    const { invoice } = await succeed(tenant, 'POST', INIT, body)
    expect(invoice).toMatchObject({
      status: 'FINAL',
      payment_status,
      open_invoice_amount: eur(open),
      refundable_amount: eur(refundable),
    })
  })

  test('issues it whatever holds it: on hold, or to be combined with others', async () => {
    const body = await sale({ subscription: { init_invoice_on_hold: true, combine: true } })
    const { invoice } = await succeed(tenant, 'POST', INIT, { ...body, first_payment: { amount: eur('121') } })
    expect(invoice).toMatchObject({ status: 'FINAL', on_hold: false, payment_status: 'PAID' })
  })
})

test('needs the permissions to record a payment and, where it makes an invoice FINAL, to change invoices', async () => {
  const call = async (...more: string[]) => {
    const permissions = [
      ...['PRICING_PLAN_SUBSCRIPTION.CREATE', 'PRICING_PLAN_SUBSCRIPTION.UPDATE', 'PRICING_PLAN_SCHEDULE.CREATE'],
      ...more,
    ]
    const role = await succeed(tenant, 'POST', '/v1/roles', { name: tenant.seed.unique('Some'), permissions })
    const userId = await api.administrator(tenant.tenant)
    await api.sql('update user_memberships set role_ids = $2 where user_id = $1', [userId, [role['id']]])
    return api.as(userId, tenant.tenant)
  }
  const body = { ...(await sale()), first_payment: { amount: eur('121') } }
  const init = async (...more: string[]) => await (await call(...more))('POST', INIT, body)
  for (const more of [[], ['PAYMENT.CREATE']])
    expect(refusalOf(await init(...more))).toEqual([403, 'USER_NOT_ALLOWED', 'first_payment'])
  expect((await init('PAYMENT.CREATE', 'INVOICE.UPDATE')).status).toBe(200)
})

test('the first invoice grants what its charges grant to wallets', async () => {
  const of = await walletsOf(tenant)
  const { id: wallet_type_id } = await of.walletType(of.CREDITS)
  const credits = { quantity: '100', credit_type_id: of.creditType['id'] }
  const body = await sale({ feeConfig: { wallet_grants: [{ wallet_type_id, credits_grant: { credits } }] } })
  const { invoice } = await succeed(tenant, 'POST', INIT, { ...body, first_payment: { amount: eur('121') } })
  expect(invoice).toMatchObject({ status: 'FINAL', payment_status: 'PAID' })
  const wallets = await succeed(tenant, 'GET', `/v1/wallets?customer_id=${invoice.customer_id}`)
  expect(await succeed(tenant, 'GET', `/v1/wallet-grants?wallet_id=${wallets['data'][0].id}`)).toMatchObject({
    data: [{ grant_credits: credits }],
  })
})

test.each(['PENDING', 'REFUSED', 'ERROR', 'CANCELLED'])(
  'a first payment that is %s is kept and pays nothing',
  async result => {
    const { invoice, first_payment } = await succeed(tenant, 'POST', INIT, {
      ...(await sale()),
      first_payment: { amount: eur('121'), result },
    })
    expect(invoice).toMatchObject({ status: 'DRAFT', payment_status: 'UNPAID', paid_invoice_amount: eur('0.00') })
    expect(first_payment).toMatchObject({ invoice_id: invoice.id, result })
    for (const call of ['reverse', 'refund'])
      expect(refusalOf(await tenant.call('POST', `/v1/payments/${first_payment.id}/${call}`, {}))).toEqual([
        400,
        'INVALID_OPERATION',
        'result',
      ])
  },
)

test('a payment that was refused is kept without an invoice where nothing is charged at the start', async () => {
  const body = { ...(await sale({ fee: '100', feeConfig: { billing_in_advance: false } })) }
  const first_payment = { amount: eur('121'), result: 'REFUSED' }
  expect(await succeed(tenant, 'POST', INIT, { ...body, first_payment })).toMatchObject({
    status: 'ACTIVE',
    invoice: null,
    first_payment: { invoice_id: null, customer_id: body.pricing_plan_subscription.customer_id, result: 'REFUSED' },
  })
})

describe('a first payment is refused, and nothing is made', () => {
  const paid = { amount: eur('121') }
  const arrears = { feeConfig: { billing_in_advance: false } }
  const draft = { subscription: { status: 'DRAFT' } }
  test.each<[string, object, object, Partial<BilledOptions>, string]>([
    ['of a DRAFT', paid, ['INVALID_OPERATION', 'first_payment'], draft, START],
    ['of what is charged in arrears', paid, ['INVALID_OPERATION', 'first_payment'], arrears, START],
    ['before the start', paid, ['INVALID_OPERATION', 'first_payment'], {}, '2026-05-01T00:00:00Z'],
    ['without an amount', {}, ['MISSING_FIELD', 'first_payment.amount'], {}, START],
    ['of nothing', { amount: eur('0') }, ['INVALID_FIELD', 'first_payment.amount.quantity'], {}, START],
    ['of part of a cent', { amount: eur('0.001') }, ['INVALID_FIELD', 'first_payment.amount.quantity'], {}, START],
    [
      'in another currency',
      { amount: { quantity: '121', currency: 'USD' } },
      ['INVALID_FIELD', 'first_payment.amount.currency'],
      {},
      START,
    ],
    [
      'with a result of later',
      { ...paid, result: 'CHARGED_BACK' },
      ['INVALID_FIELD', 'first_payment.result'],
      {},
      START,
    ],
  ])('%s', async (_name, first_payment, refused, options, start) => {
    const body = await sale(options, start)
    const answer = await tenant.call('POST', INIT, { ...body, first_payment })
    expect([answer.body['code'], answer.body['field']], answer.body['message']).toEqual(refused)
    const { reference } = body.pricing_plan_subscription
    expect((await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions?reference=${reference}`))['data']).toEqual([])
  })

  test('beside a payment method, which nothing stores yet', async () => {
    const body = { ...(await sale()), first_payment: paid, payment_method: { type: 'CARD' } }
    const answer = await tenant.call('POST', INIT, body)
    expect(refusalOf(answer), answer.body['message']).toEqual([400, 'INVALID_FIELD', 'payment_method'])
  })

  test('on top of a template', async () => {
    const body = { template_pricing_plan_subscription_id: 'ppsu_none', first_payment: paid }
    const answer = await tenant.call('POST', INIT, body)
    expect(refusalOf(answer)).toEqual([400, 'INVALID_FIELD', 'first_payment'])
  })
})
