// The variants of subscriptions: who issues the invoices, who gets them, and for whom they bill (contract: Subscription; semantics 4.1).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { runBilling } from '../run/run-billing.ts'
import { billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

test('SELF_BILLING has numbers of its own, says so, and previews, verifications and credit notes agree', async () => {
  const settings = { self_billing_invoice_number_configuration: { prefix: 'SELF', minimum_number_of_digits: 3 } }
  await succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { invoice_settings: settings })
  api.clock.set(Date.parse('2026-03-10T00:00:00Z'))
  const subscription = { variant: 'SELF_BILLING' }
  const { subscriptionId: id } = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    fee: '10',
    subscription,
  })
  const named = { pricing_plan_subscription_id: id }
  expect((await succeed(tenant, 'POST', '/v1/invoices/preview', named))['invoice']).toMatchObject({
    billing_type: 'SELF_BILLING',
  })
  for (const time of ['2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z']) {
    api.clock.set(Date.parse(time))
    await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
  }
  const all = (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${id}`))['data']
  const data = all.filter((row: Row) => row['status'] === 'FINAL')
  expect(data).toMatchObject([{ billing_type: 'SELF_BILLING', invoice_number: 'SELF-2026-001', status: 'FINAL' }])
  const [{ id: invoice }] = data
  expect(await succeed(tenant, 'POST', `/v1/invoices/${invoice}/verify`)).toMatchObject({ identical: true })
  const credit = await succeed(tenant, 'POST', `/v1/invoices/${invoice}/credit`, {})
  expect(credit).toMatchObject({ billing_type: 'SELF_BILLING' })
  const patched = await tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${id}`, { variant: 'DEFAULT' })
  expect(patched).toMatchObject({ status: 400, body: { field: 'variant' } })
  await succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { invoice_settings: {} })
})

const customer = (over: object = {}) =>
  succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('party'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Holding', tax_id: 'NL2', registered_address: { country: 'NL', city: 'Delft' } },
    ...over,
  })
const allOf = async (subscriptionId: string): Promise<Row[]> =>
  (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}`))['data']

test('FORWARD_BILLING bills the usage of the customer to the forward customer, and credit notes and verifications follow', async () => {
  api.clock.set(Date.parse('2026-03-10T00:00:00Z'))
  const payer = await customer({ timezone: 'America/New_York' })
  const billed = await billedSubscription(tenant, {
    start_at: '2026-03-01T05:00:00Z',
    fee: '10',
    subscription: { variant: 'FORWARD_BILLING', forward_customer_id: payer['id'] },
  })
  const { subscriptionId: id, customerId: user } = billed
  const names = { customer_id: payer['id'], timezone: 'America/New_York' }
  const preview = (await succeed(tenant, 'POST', '/v1/invoices/preview', { pricing_plan_subscription_id: id }))[
    'invoice'
  ]
  expect(preview).toMatchObject({ ...names, forwarded_from_customers: [{ id: user, object_type: 'CUSTOMER' }] })
  for (const time of ['2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z']) {
    api.clock.set(Date.parse(time))
    await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
  }
  const [first] = (await allOf(id)).filter(row => row['status'] === 'FINAL')
  if (!first) throw new Error('the fee is billed')
  const invoice = await succeed(tenant, 'GET', `/v1/invoices/${first['id']}`)
  expect(invoice).toMatchObject({ ...names, customer: { id: payer['id'] }, forwarded_from_customers: [{ id: user }] })
  const [group] = invoice['periods'][0].groups
  expect(group).toMatchObject({ billing_customer_id: payer['id'], forwarded_from_customer_id: user })
  expect(await succeed(tenant, 'POST', `/v1/invoices/${first['id']}/verify`)).toMatchObject({ identical: true })
  expect(await succeed(tenant, 'POST', `/v1/invoices/${first['id']}/credit`, {})).toMatchObject({
    customer_id: payer['id'],
  })
  // Usage still belongs to the customer; a reprocess of it reaches the invoices of the payer.
  const reprocess = await succeed(tenant, 'POST', '/v1/reprocess', {
    type: 'CUSTOMER',
    customer: { customer_id: user },
  })
  expect(reprocess['id']).toBeTruthy()
  const open = (await allOf(id)).find(row => row['status'] === 'OPEN')
  expect(open).toMatchObject({ customer_id: payer['id'], to_be_reprocessed: true })
  const archive = await tenant.call('POST', `/v1/customers/${payer['id']}/archive`)
  expect(archive).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION', field: 'status', resource_id: id } })
  const shown = await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${id}?expand[]=forward_customer`)
  expect(shown).toMatchObject({ forward_customer: { id: payer['id'] }, next_invoice: { invoice_id: open?.['id'] } })
})

test('SELLER is billed by the billing entity of the seller, who stays while it is ACTIVE', async () => {
  const entity = await succeed(tenant, 'POST', '/v1/billing-entities', {
    reference: tenant.seed.unique('stall'),
    legal_name: 'Stall',
    registered_address: { country: 'NL', city: 'Delft' },
  })
  const seller = await customer({ roles: ['SELLER'], seller_details: { default_billing_entity_id: entity['id'] } })
  const given = { variant: 'SELLER', seller_details: { seller_customer_id: seller['id'] } }
  const subscription = { ...given, billing_entity_id: undefined }
  const { subscriptionId: id } = await billedSubscription(tenant, {
    start_at: '2026-03-01T00:00:00Z',
    fee: '10',
    subscription,
  })
  const shown = await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${id}`)
  expect(shown).toMatchObject({ ...given, billing_entity_id: entity['id'] })
  await runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
  expect((await allOf(id))[0]).toMatchObject({ billing_entity_id: entity['id'], billing_type: 'DEFAULT' })
  const archive = await tenant.call('POST', `/v1/customers/${seller['id']}/archive`)
  expect(archive).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION', resource_id: id } })
})

test('what does not go with the variant is refused, naming the field', async () => {
  const user = await customer()
  const other = await customer()
  const gone = await customer()
  await succeed(tenant, 'POST', `/v1/customers/${gone['id']}/archive`)
  const seller = { seller_customer_id: other['id'] }
  const supplier = await customer({ roles: ['SELF_BILLING'] })
  const sells = await customer({ roles: ['SELLER'] })
  const itself = { seller_details: { seller_customer_id: sells['id'] } }
  const cases: readonly (readonly [object, string, string])[] = [
    [{ variant: 'FORWARD_BILLING' }, 'MISSING_FIELD', 'forward_customer_id'],
    [{ forward_customer_id: other['id'] }, 'INVALID_FIELD', 'forward_customer_id'],
    [{ variant: 'FORWARD_BILLING', forward_customer_id: user['id'] }, 'INVALID_FIELD', 'forward_customer_id'],
    [{ variant: 'FORWARD_BILLING', forward_customer_id: gone['id'] }, 'INVALID_FIELD', 'forward_customer_id'],
    [{ variant: 'FORWARD_BILLING', forward_customer_id: 'cust_none' }, 'RESOURCE_NOT_FOUND', 'forward_customer_id'],
    [{ variant: 'FORWARD_BILLING', forward_customer_id: supplier['id'] }, 'INVALID_FIELD', 'forward_customer_id'],
    [{ variant: 'SELLER', customer_id: sells['id'], ...itself }, 'INVALID_FIELD', 'seller_details.seller_customer_id'],
    [{ variant: 'SELLER' }, 'MISSING_FIELD', 'seller_details'],
    [{ variant: 'SELF_BILLING', seller_details: seller }, 'INVALID_FIELD', 'seller_details'],
    [{ variant: 'SELLER', seller_details: seller }, 'INVALID_FIELD', 'seller_details.seller_customer_id'],
    [
      { variant: 'SELLER', seller_details: { seller_customer_id: 'cust_none' } },
      'RESOURCE_NOT_FOUND',
      'seller_details.seller_customer_id',
    ],
  ]
  const entity = await tenant.seed.make(billingEntityResource)
  for (const [over, code, field] of cases) {
    const body = { customer_id: user['id'], billing_entity_id: entity.id, billing_currency: 'EUR', ...over }
    const { body: refused } = await tenant.call('POST', '/v1/pricing-plan-subscriptions', body)
    expect([refused['code'], refused['field']], JSON.stringify(over)).toEqual([code, field])
  }
  const details = { seller_details: { default_billing_entity_id: entity.id } }
  const buyer = await tenant.call('PATCH', `/v1/customers/${other['id']}`, details)
  expect(buyer).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD', field: 'seller_details' } })
})
