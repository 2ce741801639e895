// Calls and bulk actions of users that wait for a tax engine.
import { describe, expect, test } from 'vitest'
import { idOf } from '../../../../../shared/ids.ts'
import { succeed } from '../../../../testing/calls.ts'
import type { Row } from '../../../../testing/wire.ts'
import { billedSubscription } from '../../../billing/testing/billed-subscription.ts'
import { runBulkAction } from '../../bulk-actions/run-bulk-action.ts'
import { engineRig, first, json, QUEBEC, shown, taxed, WORKSHOP } from './testing/engine-rig.ts'

const rig = engineRig()
const { ask, run, setTime, subscribed, work } = rig

test('a preview asks first; without an answer it is 503 with Retry-After', async () => {
  setTime('2026-03-10T12:00:00Z')
  const { subscriptionId } = await subscribed('2026-03-01T00:00:00Z')
  const preview = () =>
    rig.tenant.call('POST', '/v1/invoices/preview', { pricing_plan_subscription_id: subscriptionId })
  rig.say = json(503, {})
  const refused = await preview()
  expect([refused.status, refused.body['code'], refused.headers['retry-after']]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '30',
  ])
  expect(refused.body['message']).toBe('The tax engine answered with the status 503.')
  rig.say = taxed(['GST', '5'])
  const { body } = await preview()
  expect(shown(body['invoice'])).toMatchObject({ tax: '5.00', errors: [] })
  rig.say = json(503, {})
  expect((await preview()).status).toBe(200)
})

test('an invoice that a user makes FINAL has the answer of that moment, once, however many calls', async () => {
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z')
  await billed.run()
  const { id } = await first(billed)
  rig.say = json(422, { message: 'No such place.' })
  const finalize = () => rig.tenant.call('PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
  expect((await finalize()).body).toMatchObject({
    code: 'INVALID_OPERATION',
    message: 'The tax engine says: No such place.',
  })
  expect(shown(await first(billed))).toMatchObject({ status: 'DRAFT' })
  let rate = 0
  rig.say = response => {
    rate += 1
    taxed(['GST', String(rate)])(response)
  }
  const answers = await Promise.all(Array.from({ length: 5 }, finalize))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(
    new Set(answers.map(({ body }) => `${body['invoice_number']} ${body['tax_summary'].tax_amount.quantity}`)).size,
  ).toBe(1)
  expect(await succeed(rig.tenant, 'POST', `/v1/invoices/${id}/verify`)).toMatchObject({ identical: true })
})

test('a one-off invoice is priced as soon as there is an answer; a refresh of TAX_RATES asks again', async () => {
  setTime('2026-03-10T12:00:00Z')
  const { customerId, billing_entity_id } = await subscribed('2026-03-01T00:00:00Z')
  const lines = [WORKSHOP]
  const made = await succeed(rig.tenant, 'POST', '/v1/invoices', { customer_id: customerId, billing_entity_id, lines })
  expect(shown(made)).toMatchObject({ tax: '0.00', errors: [expect.stringMatching(/on 2026-03-10/)] })
  expect(made).not.toHaveProperty('tax_question')
  const read = async () => shown(await succeed(rig.tenant, 'GET', `/v1/invoices/${made['id']}`))
  rig.say = taxed(['VAT', '50'])
  await ask()
  expect(await read()).toMatchObject({ tax: '100.00', errors: [] })
  rig.say = taxed(['VAT', '5'])
  const refresh = () => rig.tenant.call('POST', `/v1/invoices/${made['id']}/refresh`, { types: ['TAX_RATES'] })
  expect(shown((await refresh()).body)).toMatchObject({ tax: '10.00', errors: [] })
  rig.say = json(500, {})
  expect((await refresh()).status).toBe(503)
  expect(await read()).toMatchObject({ tax: '10.00', errors: [] })
  // An address that was there for a while asked another question; the one of the invoice is asked again.
  const move = (registered_address: object) =>
    succeed(rig.tenant, 'PATCH', `/v1/customers/${customerId}`, {
      organization: { legal_name: 'Acme', registered_address },
    })
  const refreshParties = () =>
    succeed(rig.tenant, 'POST', `/v1/invoices/${made['id']}/refresh`, { types: ['PO_NUMBER'] })
  await move({ ...QUEBEC, city: 'Laval' })
  await refreshParties()
  rig.say = taxed(['VAT', '8'])
  await ask()
  expect(await read()).toMatchObject({ tax: '16.00' })
  await move(QUEBEC)
  await refreshParties()
  expect(await read()).toMatchObject({ tax: '10.00' })
  rig.say = taxed(['VAT', '6'])
  expect(shown((await refresh()).body)).toMatchObject({ tax: '12.00', errors: [] })
  rig.say = taxed(['VAT', '5'])
  await refresh()
  await succeed(rig.tenant, 'PATCH', `/v1/invoices/${made['id']}`, { status: 'FINAL' })
  const credit = await succeed(rig.tenant, 'POST', `/v1/invoices/${made['id']}/credit`, {})
  expect(credit['tax_summary'].tax_amount.quantity).toBe('-10.00')
  expect(await succeed(rig.tenant, 'POST', `/v1/invoices/${made['id']}/verify`)).toMatchObject({ identical: true })

  // What is FINAL keeps its answer, also when it is dropped where it was kept: nothing is asked, not even of its credit note.
  await succeed(rig.tenant, 'PATCH', `/v1/invoices/${credit['id']}`, { status: 'FINAL' })
  await rig.api.sql('delete from tax_answers where customer_id = $1', [customerId])
  rig.asked.length = 0
  rig.say = taxed(['VAT', '7'])
  expect(shown((await refresh()).body)).toMatchObject({ status: 'FINAL', tax: '10.00', errors: [] })
  const noted = await rig.tenant.call('POST', `/v1/invoices/${credit['id']}/refresh`, { types: ['TAX_RATES'] })
  expect(shown(noted.body)).toMatchObject({ status: 'FINAL', tax: '-10.00' })
  expect(rig.asked).toEqual([])
})

test('an invoice that was issued before there was an engine is split by its answer, and keeps its tax', async () => {
  setTime('2026-03-10T12:00:00Z')
  const { customerId, billing_entity_id } = await subscribed('2026-03-01T00:00:00Z', null)
  const lines = [WORKSHOP]
  const us = { country: 'US', line1: '1 Main St', city: 'Austin', postal_code: '73301', state: 'TX' }
  const entity = `/v1/billing-entities/${billing_entity_id}`
  await succeed(rig.tenant, 'PATCH', entity, { registered_address: us })
  const organization = { legal_name: 'Acme', registered_address: us }
  await succeed(rig.tenant, 'PATCH', `/v1/customers/${customerId}`, { organization })
  const made = await succeed(rig.tenant, 'POST', '/v1/invoices', {
    ...{ customer_id: customerId, billing_entity_id, lines, sales_tax_percentage: '6' },
  })
  await succeed(rig.tenant, 'PATCH', `/v1/invoices/${made['id']}`, { status: 'FINAL' })
  await succeed(rig.tenant, 'PATCH', entity, { tax_settings: { provider: 'EXTERNAL' } })
  const refresh = () => rig.tenant.call('POST', `/v1/invoices/${made['id']}/refresh`, { types: ['TAX_RATES'] })
  rig.asked.length = 0
  rig.say = json(503, {})
  expect((await refresh()).status).toBe(503)
  // 12.00 on 200.00, which is 10 % of the 60 % that are taxed.
  rig.say = json(200, { treatment: 'TAXED', rates: [{ name: 'Tax', percentage: '10' }], taxable_percentage: '60' })
  const { body } = await refresh()
  const summaries = body['tax_categories'].map(
    (each: Row) => `${each['percentage']} % of ${each['base_amount'].quantity}`,
  )
  expect([body['tax_summary'].tax_amount.quantity, summaries]).toEqual(['12.00', ['10 % of 120.00', '0 % of 80.00']])
  expect(rig.asked).toHaveLength(2)
})

test('a bulk action says of one invoice what the engine refuses, and makes the others FINAL', async () => {
  setTime('2026-03-10T12:00:00Z')
  const parties = [
    await subscribed('2026-03-01T00:00:00Z'),
    await subscribed('2026-03-01T00:00:00Z'),
    await subscribed('2026-03-01T00:00:00Z'),
  ]
  const ids: string[] = []
  for (const { customerId: customer_id, billing_entity_id } of parties) {
    const body = { customer_id, billing_entity_id, invoice_date: '2025-07-07T00:00:00Z', lines: [WORKSHOP] }
    ids.push((await succeed(rig.tenant, 'POST', '/v1/invoices', body))['id'])
  }
  const refused = parties[1]?.customerId
  rig.say = response =>
    rig.asked.at(-1)?.body['question'].buyer.id === refused
      ? json(422, { message: 'The postal code is unknown.' })(response)
      : taxed(['GST', '5'])(response)
  const of = { type: 'FINALIZE_INVOICES', finalize_invoices: { invoice_date: '2025-07-07' } }
  const { id } = await succeed(rig.tenant, 'POST', '/v1/bulk-actions', of)
  await runBulkAction(work(), { tenant: rig.tenant.tenant, id: idOf('bulk', id), last: false })
  const items: Row[] = (await succeed(rig.tenant, 'GET', `/v1/bulk-actions/${id}/items?order_direction=asc`))['data']
  expect(Object.fromEntries(items.map(each => [each['target_resource'].id, each['message']]))).toEqual({
    [ids[0] ?? '']: null,
    [ids[1] ?? '']: 'The tax engine says: The postal code is unknown.',
    [ids[2] ?? '']: null,
  })
  expect(await succeed(rig.tenant, 'GET', `/v1/bulk-actions/${id}`)).toMatchObject({ status: 'DONE' })
})

test('a bulk action issues combined invoices as one when their tax is known, and touches none before', async () => {
  setTime('2026-03-10T12:00:00Z')
  const one = await subscribed('2026-03-01T00:00:00Z', 'BUILT_IN', { combine: true })
  const { customerId: customer_id, billing_entity_id } = one
  const other = await billedSubscription(rig.tenant, {
    ...{ start_at: '2026-03-01T00:00:00Z', fee: '100' },
    subscription: { combine: true, customer_id, billing_entity_id },
  })
  await one.run()
  await run(other.subscriptionId)
  const list = `/v1/invoices?customer_id=${customer_id}&statuses[]=`
  const drafts: Row[] = (await succeed(rig.tenant, 'GET', `${list}DRAFT`))['data']
  const ends = async () =>
    await rig.api.sql('select id, finalize_at from invoices where id = any($1) order by id', [
      drafts.map(({ id }) => id),
    ])
  const before = await ends()
  expect(before).toHaveLength(2)
  const finalize_invoices = { invoice_date: String(drafts[0]?.['invoice_date']).slice(0, 10) }
  const { id } = await succeed(rig.tenant, 'POST', '/v1/bulk-actions', { type: 'FINALIZE_INVOICES', finalize_invoices })
  await rig.api.sql('delete from bulk_action_items where bulk_action_id = $1 and not invoice_id = any($2)', [
    ...[id, drafts.map(draft => draft['id'])],
  ])
  const bulk = () => runBulkAction(work(), { tenant: rig.tenant.tenant, id: idOf('bulk', id), last: false })
  // They were computed without a question. Now there is one, and the grace period does not end before it is answered.
  const external = { tax_settings: { provider: 'EXTERNAL' } }
  await succeed(rig.tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, external)
  rig.say = json(503, {})
  await expect(bulk()).rejects.toThrow('The tax engine answered with the status 503.')
  expect(await ends()).toEqual(before)
  await one.run()
  await run(other.subscriptionId)
  await expect(bulk()).rejects.toThrow('The tax engine answered with the status 503.')
  expect(await ends()).toEqual(before)
  // An address that changed since asks anew, and the grace period does not end before that is answered.
  rig.say = taxed(['GST', '5'])
  await ask()
  await succeed(rig.tenant, 'PATCH', `/v1/customers/${customer_id}`, {
    organization: { registered_address: { ...QUEBEC, city: 'Laval' } },
  })
  rig.say = json(503, {})
  await expect(bulk()).rejects.toThrow('The tax engine answered with the status 503.')
  expect(await ends()).toEqual(before)
  rig.say = taxed(['GST', '5'])
  await bulk()
  const finals: Row[] = (await succeed(rig.tenant, 'GET', `${list}FINAL`))['data']
  expect(finals.map(final => final['combined_invoice_ids'].toSorted())).toEqual([
    drafts.map(draft => draft['id']).toSorted(),
  ])
})

test('credit_and_copy asks first for a copy that becomes FINAL at once, and does nothing without an answer', async () => {
  setTime('2026-03-10T12:00:00Z')
  const { customerId: customer_id, billing_entity_id } = await subscribed('2026-03-01T00:00:00Z')
  const { id } = await succeed(rig.tenant, 'POST', '/v1/invoices', {
    customer_id,
    billing_entity_id,
    lines: [WORKSHOP],
  })
  await succeed(rig.tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
  setTime('2026-03-20T12:00:00Z')
  await succeed(rig.tenant, 'PATCH', `/v1/customers/${customer_id}`, {
    organization: { registered_address: { ...QUEBEC, city: 'Laval' } },
  })
  const again = { update_new_invoice_to_final: true, update_credit_invoice_to_final: true }
  const copy = () => rig.tenant.call('POST', `/v1/invoices/${id}/credit_and_copy`, again)
  rig.say = json(503, {})
  expect((await copy()).status).toBe(503)
  const { data } = await succeed(rig.tenant, 'GET', `/v1/invoices?customer_id=${customer_id}&statuses[]=FINAL`)
  expect(data).toHaveLength(1)
  rig.say = taxed(['GST', '7'])
  const { body } = await copy()
  const made = async (which: string) => shown(await succeed(rig.tenant, 'GET', `/v1/invoices/${body[which]}`))
  expect(await made('credit_invoice_id')).toMatchObject({ status: 'FINAL', tax: '-29.95' })
  expect(await made('new_invoice_id')).toMatchObject({ status: 'FINAL', tax: '14.00', rates: ['GST 14.00'] })
})

describe('init with a first payment', () => {
  const soldNow = async (isNew: boolean) => {
    setTime('2026-03-10T12:00:00Z')
    const billed = await subscribed('2026-03-01T00:00:00Z')
    const of = `pricing_plan_subscription_id=${billed.subscriptionId}`
    const [sold] = (await succeed(rig.tenant, 'GET', `/v1/pricing-plan-schedules?${of}`))['data']
    const reference = rig.tenant.seed.unique('first')
    const organization = { legal_name: 'New', registered_address: QUEBEC }
    const body = {
      ...(isNew ? { customer: { reference, type: 'ORGANIZATION', status: 'ACTIVE', organization } } : {}),
      pricing_plan_subscription: {
        ...(isNew ? {} : { customer_id: billed.customerId }),
        ...{ reference, billing_entity_id: billed.billing_entity_id, billing_currency: 'EUR', status: 'ACTIVE' },
      },
      pricing_plan_subscription_start_at: '2026-03-05T00:00:00Z',
      pricing_plan_schedules: [{ pricing_plan_version_id: sold.pricing_plan_version_id, pricing_currency: 'EUR' }],
      first_payment: { amount: { quantity: '1', currency: 'EUR' } },
    }
    const key = { 'idempotency-key': reference }
    const init = () => rig.tenant.call('POST', '/v1/pricing-plan-subscriptions/init', body, key)
    const found = async () =>
      (await succeed(rig.tenant, 'GET', `/v1/pricing-plan-subscriptions?reference=${reference}`))['data'].length
    return { init, found }
  }

  test.each([
    ['that the call makes', true],
    ['that is there', false],
  ])('asks first about a customer %s, once, and the invoice keeps the answer', async (_, isNew) => {
    const { init, found } = await soldNow(isNew)
    rig.say = json(503, {})
    const refused = await init()
    expect([refused.status, refused.headers['retry-after'], await found()]).toEqual([503, '30', 0])
    rig.say = json(422, { message: 'No such place.' })
    expect(await init()).toMatchObject({
      status: 400,
      body: { code: 'INVALID_OPERATION', field: 'first_payment', message: 'The tax engine says: No such place.' },
    })
    expect(await found()).toBe(0)
    rig.say = taxed(['GST', '5'], ['QST', '9.975'])
    rig.asked.length = 0
    const { status, body } = await init()
    expect([status, body['message']]).toEqual([200, undefined])
    expect(shown(body['invoice'])).toMatchObject({ status: 'FINAL', rates: [expect.any(String), expect.any(String)] })
    expect(rig.asked.map(each => each.body['question'].buyer.id)).toEqual([body['customer_id']])
    rig.say = taxed(['GST', '7'])
    expect((await init()).body).toEqual(body)
    expect(await succeed(rig.tenant, 'POST', `/v1/invoices/${body['invoice'].id}/verify`)).toMatchObject({
      identical: true,
    })
  })
})
