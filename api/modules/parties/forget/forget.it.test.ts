// Contacts of a customer, and what is left of both once the customer is forgotten.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { makeActiveSubscription } from '../../subscriptions/testing/seed-subscription.ts'
import { billingEntityResource } from '../billing-entities/billing-entity.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

const unique = (name: string): string => `${name}-${Math.random().toString(36).slice(2)}`

async function newCustomer(more: object = {}): Promise<{ id: string; reference: string }> {
  const { status, body } = await a.call('POST', '/v1/customers', {
    reference: unique('person'),
    type: 'INDIVIDUAL',
    status: 'ACTIVE',
    email: 'ada@example.com',
    individual: {
      name: { first_name: 'Ada', last_name: 'Lovelace' },
      residential_address: { country: 'NL', city: 'Ede' },
    },
    ...more,
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return { id: body['id'], reference: body['reference'] }
}

async function newContact(customer_id: string, more: object = {}): Promise<string> {
  const { status, body } = await a.call('POST', '/v1/contacts', {
    customer_id,
    reference: unique('contact'),
    name: { first_name: 'Grace', last_name: 'Hopper' },
    email: ' grace@example.com ',
    ...more,
  })
  expect(status, JSON.stringify(body)).toBe(201)
  expect(body['email']).toBe('grace@example.com')
  return body['id']
}

describe('contacts', () => {
  test('are listed by customer, found by reference, and changed by PUT', async () => {
    const one = await newCustomer()
    const other = await newCustomer()
    const reference = unique('contact')
    await newContact(one.id, { reference })
    await newContact(other.id)
    const listed = await a.call('GET', `/v1/contacts?customer_id=${one.id}&expand[]=customer`)
    expect(listed.body['data']).toMatchObject([{ object_type: 'CONTACT', reference, customer: { id: one.id } }])
    const put = await a.call('PUT', '/v1/contacts', { reference, customer_id: one.id, email: 'g@example.com' })
    expect([put.status, put.body['email']]).toEqual([200, 'g@example.com'])
    expect((await a.call('GET', `/v1/contacts/${reference}`)).body['email']).toBe('g@example.com')
  })

  test.each([
    [{ email: 'two@example.com, three@example.com' }, 400, 'INVALID_FIELD', 'email'],
    [{ customer_id: 'cust_none' }, 404, 'RESOURCE_NOT_FOUND', 'customer_id'],
    [{ phone: '1' }, 400, 'INVALID_FIELD', 'phone'],
  ])('%j is refused', async (more, status, code, field) => {
    const { id } = await newCustomer()
    const refused = await a.call('POST', '/v1/contacts', { customer_id: id, reference: unique('contact'), ...more })
    expect([refused.status, refused.body['code'], refused.body['field']]).toEqual([status, code, field])
  })

  test('keep their customer from being deleted', async () => {
    const { id } = await newCustomer({ status: 'DRAFT' })
    await newContact(id)
    expect((await a.call('DELETE', `/v1/customers/${id}`)).status).toBe(409)
  })
})

describe('forget', () => {
  test('erases what identifies the customer, deletes its contacts, and keeps what books name', async () => {
    const field = unique('field')
    await a.call('POST', '/v1/custom-fields', { reference: field, resource_type: 'CUSTOMER', type: 'STRING' })
    const { id, reference } = await newCustomer({ custom_fields: [{ reference: field, value: 'secret' }] })
    const contact = await newContact(id)
    await a.call('POST', `/v1/customers/${id}/archive`)
    const forgotten = await a.call('POST', `/v1/customers/${reference}/forget`)
    expect(forgotten.status, JSON.stringify(forgotten.body)).toBe(200)
    expect(forgotten.body).toMatchObject({ id, reference, status: 'ARCHIVED', email: null, individual: null })
    expect(forgotten.body['forgotten_at']).toMatch(/^20/)
    expect(JSON.stringify((await a.call('GET', `/v1/customers/${id}`)).body)).not.toMatch(
      /Ada|Lovelace|example\.com|secret|Ede/,
    )
    expect((await a.call('GET', `/v1/contacts/${contact}`)).status).toBe(404)
    const again = await a.call('POST', `/v1/customers/${id}/forget`)
    expect(again.body).toEqual(forgotten.body)
    const changed = await a.call('PATCH', `/v1/customers/${id}`, { email: 'new@example.com' })
    expect([changed.status, changed.body['code']]).toEqual([400, 'INVALID_OPERATION'])
    const added = await a.call('POST', '/v1/contacts', { customer_id: id, reference: unique('late') })
    expect([added.status, added.body['code'], added.body['field']]).toEqual([400, 'INVALID_OPERATION', 'customer_id'])
  })

  test('leaves the country of an organization, and nothing else', async () => {
    const { id } = await newCustomer({
      type: 'ORGANIZATION',
      status: 'DRAFT',
      individual: null,
      organization: {
        legal_name: 'Ada BV',
        tax_id: 'NL004495445B01',
        registered_address: { country: 'NL', city: 'Ede' },
      },
    })
    const { body } = await a.call('POST', `/v1/customers/${id}/forget`)
    expect(body['organization']).toEqual({ registered_address: { country: 'NL' } })
    const refused = await a.call('POST', '/v1/pricing-plan-subscriptions', {
      customer_id: id,
      billing_currency: 'EUR',
      billing_entity_id: (await a.seed.make(billingEntityResource)).id,
    })
    expect([refused.status, refused.body['field']]).toEqual([400, 'customer_id'])
    expect(refused.body['message']).toContain('forgotten')
  })

  test('waits until the customer is archived, and its invoices are closed', async () => {
    const { id } = await newCustomer()
    const active = await a.call('POST', `/v1/customers/${id}/forget`)
    expect([active.status, active.body['code'], active.body['field']]).toEqual([400, 'INVALID_OPERATION', 'status'])
    const entity = await a.call('POST', '/v1/billing-entities', {
      reference: unique('entity'),
      legal_name: 'Issuer BV',
      timezone: 'UTC',
      registered_address: { country: 'NL' },
    })
    const line = {
      pricing_name: 'Workshop',
      pricing_type: 'FIXED',
      pricing_band: { amount: { quantity: '450', currency: 'EUR' } },
    }
    const invoice = await a.call('POST', '/v1/invoices', {
      customer_id: id,
      billing_entity_id: entity.body['id'],
      lines: [line],
    })
    expect(invoice.status, JSON.stringify(invoice.body)).toBe(201)
    await a.call('POST', `/v1/customers/${id}/archive`)
    const refused = await a.call('POST', `/v1/customers/${id}/forget`)
    expect(refused.body).toMatchObject({
      code: 'INVALID_OPERATION',
      resource_id: invoice.body['id'],
      resource_type: 'INVOICE',
    })
    await a.call('POST', `/v1/invoices/${invoice.body['id']}/void`)
    expect((await a.call('POST', `/v1/customers/${id}/forget`)).status).toBe(200)
  })

  test('waits for the last invoice of a subscription, also before there is one', async () => {
    const subscription = await makeActiveSubscription(a, '2026-03-01T00:00:00Z')
    const url = `/v1/pricing-plan-subscriptions/${subscription}`
    const { customer_id: id } = (await a.call('POST', `${url}/cancel`, { type: 'NOW' })).body
    expect((await a.call('POST', `/v1/customers/${id}/archive`)).status).toBe(200)
    const refused = await a.call('POST', `/v1/customers/${id}/forget`)
    expect(refused).toMatchObject({
      status: 400,
      body: {
        code: 'INVALID_OPERATION',
        resource_id: subscription,
        resource_type: 'PRICING_PLAN_SUBSCRIPTION',
        message: expect.stringContaining('last invoice'),
      },
    })
    await a.call('POST', `${url}/void`)
    expect((await a.call('POST', `/v1/customers/${id}/forget`)).status).toBe(200)
  })
})
