// Custom fields and invoices: copied values, the invoice's own values, and numbers that show values.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../../billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

const usage = { ...NO_USAGE, settle: async () => true }
let api: ApiHarness
beforeAll(async () => {
  api = await startApi({ usage })
})
afterAll(() => api?.close())

type Subscribed = { subscriptionId: string; customerId: string; entityId: string }
const run = (tenant: TestTenant, { subscriptionId }: Subscribed) =>
  runBilling({ database: api.database, usage }, tenant.tenant, subscriptionId)
const setTime = (text: string): void => api.clock.set(Date.parse(text))

async function field(tenant: TestTenant, over: object): Promise<Row> {
  return await succeed(tenant, 'POST', '/v1/custom-fields', { reference: tenant.seed.unique('field'), ...over })
}
const entry = ({ reference }: Row, value: string) => ({ reference, value })

/** A subscription with a monthly fee, in the middle of March, and the parties' fields. */
async function subscribe(
  tenant: TestTenant,
  fields: { customer?: object[]; entity?: object[] } = {},
): Promise<Subscribed> {
  setTime('2026-03-20T00:00:00Z')
  const { subscriptionId, customerId } = await billedSubscription(tenant, {
    start_at: '2026-03-11T00:00:00Z',
    fee: '100',
    activate: false,
  })
  const { billing_entity_id: entityId } = await succeed(
    tenant,
    'GET',
    `/v1/pricing-plan-subscriptions/${subscriptionId}`,
  )
  await succeed(tenant, 'PATCH', `/v1/customers/${customerId}`, { custom_fields: fields.customer ?? [] })
  await succeed(tenant, 'PATCH', `/v1/billing-entities/${entityId}`, { custom_fields: fields.entity ?? [] })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscriptionId}`, { status: 'ACTIVE' })
  return { subscriptionId, customerId, entityId }
}
/** The DRAFT of what is charged in advance, before its grace period is over. */
async function draftOf(tenant: TestTenant, billed: Subscribed): Promise<Row> {
  await run(tenant, billed)
  const url = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&statuses[]=DRAFT&include_lines=true`
  const [draft] = (await succeed(tenant, 'GET', url))['data']
  if (!draft) throw new Error('there is a draft')
  return draft
}
const shown = (of: Row): unknown[] => of['custom_fields'].map((each: Row) => each['value'] ?? each['values'])

describe('a field with copy_value_to_invoice', () => {
  test('is on the invoices of its resource, and one without is not', async () => {
    const tenant = api.tenants.aLive
    const copied = { copy_value_to_invoice: true }
    const cost = await field(tenant, { resource_type: 'CUSTOMER', name: 'Cost center', ...copied })
    const secret = await field(tenant, { resource_type: 'CUSTOMER' })
    const desk = await field(tenant, { resource_type: 'BILLING_ENTITY', multiple_values: true, ...copied })
    const contract = await field(tenant, { resource_type: 'PRICING_PLAN_SUBSCRIPTION', ...copied })
    const account = await field(tenant, { resource_type: 'PRODUCT_ITEM', ...copied })
    const billed = await subscribe(tenant, {
      customer: [entry(cost, 'North'), entry(secret, 'hot lead')],
      entity: [{ reference: desk['reference'], values: ['b', 'a'] }],
    })
    const { subscriptionId } = billed
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscriptionId}`, {
      custom_fields: [entry(contract, 'C-1')],
    })
    const items = (await succeed(tenant, 'GET', '/v1/product-items'))['data']
    for (const [index, item] of items.entries()) {
      await succeed(tenant, 'PATCH', `/v1/product-items/${item.id}`, { custom_fields: [entry(account, `${index}`)] })
    }
    const draft = await draftOf(tenant, billed)
    const lines = draft['periods'].flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))
    const sold = lines.flatMap((line: Row) => line['product_items'].map((item: Row) => item['id']))
    expect(sold).toHaveLength(1)
    expect(draft['other_custom_fields']).toEqual([
      {
        resource: { type: 'CUSTOMER', id: billed.customerId },
        id: cost['id'],
        reference: cost['reference'],
        name: 'Cost center',
        value: 'North',
      },
      {
        resource: { type: 'BILLING_ENTITY', id: billed.entityId },
        id: desk['id'],
        reference: desk['reference'],
        values: ['b', 'a'],
      },
      {
        resource: { type: 'PRICING_PLAN_SUBSCRIPTION', id: subscriptionId },
        id: contract['id'],
        reference: contract['reference'],
        value: 'C-1',
      },
      // Only the item of the fee: the item of tokens has no line on this invoice.
      {
        resource: { type: 'PRODUCT_ITEM', id: sold[0] },
        id: account['id'],
        reference: account['reference'],
        value: expect.any(String),
      },
    ])
    expect(JSON.stringify(draft)).not.toContain('hot lead')
  })

  test('follows its resource until the invoice is FINAL, and after that only when it is refreshed', async () => {
    const tenant = api.tenants.bLive
    const cost = await field(tenant, { resource_type: 'CUSTOMER', copy_value_to_invoice: true })
    const billed = await subscribe(tenant, { customer: [entry(cost, 'North')] })
    const { id } = await draftOf(tenant, billed)
    const valueIn = (invoice: Row): unknown => invoice['other_custom_fields'][0]?.value
    const change = (value: string) =>
      succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { custom_fields: [entry(cost, value)] })
    await change('South')
    const refreshed = await succeed(tenant, 'POST', `/v1/invoices/${id}/refresh`, { types: ['CUSTOM_FIELD'] })
    expect(valueIn(refreshed)).toBe('South')
    expect(valueIn(await succeed(tenant, 'GET', `/v1/invoices/${id}`))).toBe('South')
    await change('West')
    // Finalizing computes it a last time.
    expect(valueIn(await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' }))).toBe('West')
    await change('East')
    await succeed(tenant, 'PATCH', `/v1/custom-fields/${cost['id']}`, {
      reference: `${cost['reference']}-renamed`,
      copy_value_to_invoice: false,
    })
    const final = await succeed(tenant, 'GET', `/v1/invoices/${id}`)
    expect(final['other_custom_fields']).toMatchObject([{ reference: cost['reference'], value: 'West' }])
    const again = await succeed(tenant, 'POST', `/v1/invoices/${id}/refresh`, { types: ['CUSTOM_FIELD'] })
    expect(again['other_custom_fields']).toEqual([])
  })
})

describe('the custom fields of an invoice', () => {
  test('change whatever its status, FINAL too, and tell it', async () => {
    const tenant = api.tenants.aTest
    const ledger = await field(tenant, { resource_type: 'INVOICE', unique_value: true })
    const tags = await field(tenant, { resource_type: 'INVOICE', multiple_values: true })
    const { id } = await draftOf(tenant, await subscribe(tenant))
    const url = `/v1/invoices/${id}`
    expect(shown(await succeed(tenant, 'GET', url))).toEqual([])
    const final = await succeed(tenant, 'PATCH', url, { status: 'FINAL', custom_fields: [entry(ledger, 'L-1')] })
    expect([final['status'], shown(final)]).toEqual(['FINAL', ['L-1']])
    const added = await succeed(tenant, 'PATCH', `${url}?field_actions[custom_fields]=ADD`, {
      custom_fields: [{ reference: tags['reference'], values: ['sent'] }],
    })
    expect(shown(added)).toHaveLength(2)
    const events = await noticesOf(api, id)
    const finals = events.filter(({ type }) => type === 'INVOICE.STATUS_TO_FINAL')
    expect(finals.map(({ data }) => shown(data))).toEqual([['L-1']])
    const last = events.at(-1)
    expect([last?.['type'], shown(last?.['previous_data']).length, shown(last?.['data']).length]).toEqual([
      'INVOICE.UPDATED',
      1,
      2,
    ])
    // They did not change what is printed or owed.
    const { custom_fields: _a, updated_at: _b, ...document } = added
    const { custom_fields: _c, updated_at: _d, ...before } = final
    expect(document).toEqual(before)
    const count = events.length
    await succeed(tenant, 'PATCH', url, { custom_fields: added['custom_fields'] })
    expect(await noticesOf(api, id)).toHaveLength(count)
    expect(shown(await succeed(tenant, 'PATCH', url, { custom_fields: null }))).toEqual([])
  })

  test('are how lists and searches find it', async () => {
    const tenant = api.tenants.aTest
    const ledger = await field(tenant, { resource_type: 'INVOICE', type: 'NUMBER' })
    const { id } = await draftOf(tenant, await subscribe(tenant))
    await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { custom_fields: [entry(ledger, '7')] })
    const listed = await succeed(tenant, 'GET', `/v1/invoices?custom_field=${ledger['reference']}:7.0`)
    expect(listed['data'].map((each: Row) => [each['id'], shown(each)])).toEqual([[id, ['7']]])
    const found = await succeed(tenant, 'POST', '/v1/invoices/search', {
      filter_fields: [{ name: 'custom_fields', reference: ledger['reference'], values: ['7', '8'] }],
    })
    expect(found['data'].map((each: Row) => each['id'])).toEqual([id])
    expect((await succeed(tenant, 'GET', `/v1/invoices?custom_field=${ledger['reference']}:8`))['data']).toEqual([])
  })

  test('are refused as those of any resource, and then nothing is done', async () => {
    const tenant = api.tenants.aTest
    const ledger = await field(tenant, { resource_type: 'INVOICE', unique_value: true })
    const first = await draftOf(tenant, await subscribe(tenant))
    const second = await draftOf(tenant, await subscribe(tenant))
    const patch = (invoice: Row, body: object, query = '') =>
      tenant.call('PATCH', `/v1/invoices/${invoice['id']}${query}`, body)
    await patch(first, { custom_fields: [entry(ledger, 'L-1')] })
    const taken = await patch(second, { status: 'FINAL', custom_fields: [entry(ledger, 'L-1')] })
    expect(refusal(taken)).toEqual([409, 'CUSTOM_FIELD_VALUE_ALREADY_EXISTS', 'custom_fields.0.value'])
    expect(taken.body['resource_id']).toBe(first['id'])
    expect((await succeed(tenant, 'GET', `/v1/invoices/${second['id']}`))['status']).toBe('DRAFT')
    const unknown = await patch(second, { custom_fields: [{ reference: 'none', value: 'x' }] })
    expect(refusal(unknown)).toEqual([404, 'RESOURCE_NOT_FOUND', 'custom_fields.0.reference'])
    expect(refusal(await patch(second, {}, '?field_actions[custom_fields]=ADD'))).toEqual([
      400,
      'MISSING_FIELD',
      'custom_fields',
    ])
    expect(
      refusal(await patch(first, { custom_fields: [], status: 'FINAL' }, '?field_actions[custom_fields]=CLEAR')),
    ).toEqual([200, undefined, undefined])
  })

  test('do not change on one that is ARCHIVED', async () => {
    const tenant = api.tenants.aTest
    const ledger = await field(tenant, { resource_type: 'INVOICE' })
    const { id } = await draftOf(tenant, await subscribe(tenant))
    await api.sql(`update invoices set status = 'ARCHIVED', finalize_at = null where id = $1`, [id])
    const refused = await tenant.call('PATCH', `/v1/invoices/${id}`, { custom_fields: [entry(ledger, 'x')] })
    expect(refusal(refused)).toEqual([400, 'INVALID_OPERATION', 'custom_fields'])
  })
})

describe('numbers of invoices that show custom fields', () => {
  const FIELD = 'invoice_settings.invoice_number_configuration.prefix'
  const number = (tenant: TestTenant, prefix: string | null) =>
    tenant.call('PATCH', `/v1/platforms/${tenant.tenant.platformId}`, {
      invoice_settings: { invoice_number_configuration: { prefix } },
    })

  test('are refused for a field that is not there, or that takes several values', async () => {
    const tenant = api.tenants.bTest
    const list = await field(tenant, { resource_type: 'CUSTOMER', multiple_values: true })
    const product = await field(tenant, { resource_type: 'PRODUCT' })
    const refused = [400, 'INVALID_FIELD', FIELD]
    expect(refusal(await number(tenant, '{{customer.custom_fields[none]}}'))).toEqual(refused)
    expect(refusal(await number(tenant, `{{customer.custom_fields[${product['reference']}]}}`))).toEqual(refused)
    expect(refusal(await number(tenant, `{{customer.custom_fields[${list['reference']}]}}`))).toEqual(refused)
  })

  test('keep the field from being renamed, removed and changed while they do', async () => {
    const tenant = api.tenants.bTest
    const region = await field(tenant, { resource_type: 'CUSTOMER' })
    const url = `/v1/custom-fields/${region['id']}`
    expect((await number(tenant, `{{customer.custom_fields[${region['reference']}]}}`)).status).toBe(200)
    const rename = () => tenant.call('PATCH', url, { reference: tenant.seed.unique('renamed') })
    const refused = await rename()
    expect(refusal(refused)).toEqual([400, 'INVALID_FIELD', 'reference'])
    expect(refused.body['message']).toContain(tenant.tenant.platformId)
    expect(refusal(await tenant.call('PATCH', url, { multiple_values: true }))).toEqual([
      400,
      'INVALID_FIELD',
      'multiple_values',
    ])
    expect(refusal(await tenant.call('DELETE', url))).toEqual([409, 'COULD_NOT_DELETE_RESOURCE', undefined])
    expect((await tenant.call('PATCH', url, { name: 'Region' })).status).toBe(200)
    // Another prefix releases it.
    expect((await number(tenant, 'INV')).status).toBe(200)
    expect((await rename()).status).toBe(200)
    expect((await tenant.call('DELETE', url)).status).toBe(200)
  })

  test('of two at once, the prefix that names a field and the field that goes, one is refused', async () => {
    const tenant = api.tenants.bTest
    for (const round of [1, 2, 3, 4, 5, 6]) {
      const { id, reference } = await field(tenant, { resource_type: 'CUSTOMER' })
      const answers = await Promise.all([
        number(tenant, `{{customer.custom_fields[${reference}]}}`),
        tenant.call('DELETE', `/v1/custom-fields/${id}`),
      ])
      const statuses = answers.map(({ status }) => status).join(' ')
      expect([round, ['200 409', '400 200'].includes(statuses)]).toEqual([round, true])
      await number(tenant, null)
    }
  })

  test('have the values of customer and entity, each with a count of its own', async () => {
    const tenant = api.tenants.bTest
    const region = await field(tenant, { resource_type: 'CUSTOMER' })
    const office = await field(tenant, { resource_type: 'BILLING_ENTITY' })
    const prefix = `{{billing_entity.custom_fields[${office['reference']}]}}-{{customer.custom_fields[${region['reference']}]}}`
    expect((await number(tenant, prefix)).status).toBe(200)
    const numberOf = async (value: string): Promise<unknown> => {
      const parties = { customer: [entry(region, value)], entity: [entry(office, 'AMS')] }
      const { id } = await draftOf(tenant, await subscribe(tenant, parties))
      return (await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' }))['invoice_number']
    }
    expect(await numberOf('EU')).toBe('AMS-EU-2026-00001')
    expect(await numberOf('US')).toBe('AMS-US-2026-00001')
    expect(await numberOf('EU')).toBe('AMS-EU-2026-00002')
  })

  test('wait for a missing value: the invoice says so, stays DRAFT, and becomes FINAL when the value is there', async () => {
    const tenant = api.tenants.bTest
    const region = await field(tenant, { resource_type: 'CUSTOMER' })
    expect((await number(tenant, `{{customer.custom_fields[${region['reference']}]}}`)).status).toBe(200)
    const billed = await subscribe(tenant)
    const draft = await draftOf(tenant, billed)
    const details = `The invoice number needs the custom field ${region['reference']} of the customer, which has no value.`
    expect(draft['validation_result']).toContainEqual({ status: 'ERROR', details })
    const refused = await tenant.call('PATCH', `/v1/invoices/${draft['id']}`, { status: 'FINAL' })
    expect(refusal(refused)).toEqual([400, 'INVALID_OPERATION', 'status'])
    expect(refused.body['message']).toContain(details)
    setTime('2026-03-21T00:00:00Z')
    await run(tenant, billed)
    expect((await succeed(tenant, 'GET', `/v1/invoices/${draft['id']}`))['status']).toBe('DRAFT')
    const set = (value: string) =>
      succeed(tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { custom_fields: [entry(region, value)] })
    await set('x'.repeat(65))
    const long = await succeed(tenant, 'POST', `/v1/invoices/${draft['id']}/refresh`, { types: ['CUSTOM_FIELD'] })
    expect(long['validation_result']).toContainEqual({
      status: 'ERROR',
      details: expect.stringContaining('64 characters'),
    })
    await set('NL')
    await run(tenant, billed)
    const final = await succeed(tenant, 'GET', `/v1/invoices/${draft['id']}`)
    expect([final['status'], final['invoice_number']]).toEqual(['FINAL', 'NL-2026-00001'])
    await number(tenant, null)
  })
})
