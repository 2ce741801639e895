// What invoices show after a customer is forgotten: issued ones keep the customer's details, and the others no longer have them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { succeed } from '../subscriptions/testing/seed-subscription.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

const LINE = {
  pricing_name: 'Workshop',
  pricing_type: 'FIXED',
  pricing_band: { amount: { quantity: '450', currency: 'EUR' } },
}

test('invoices that were never issued lose the person, and an issued one keeps who was billed', async () => {
  const post = (url: string, body?: object): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)
  const field = tenant.seed.unique('field')
  await post('custom-fields', {
    reference: field,
    resource_type: 'CUSTOMER',
    type: 'STRING',
    copy_value_to_invoice: true,
  })
  const { id: entity } = await post('billing-entities', {
    reference: tenant.seed.unique('entity'),
    legal_name: 'Issuer BV',
    status: 'ACTIVE',
    timezone: 'UTC',
    registered_address: { country: 'NL' },
  })
  const { id: customer } = await post('customers', {
    reference: tenant.seed.unique('person'),
    type: 'INDIVIDUAL',
    status: 'ACTIVE',
    email: 'ada@example.com',
    individual: {
      name: { first_name: 'Ada', last_name: 'Lovelace' },
      residential_address: { country: 'NL', city: 'Ede' },
    },
    custom_fields: [{ reference: field, value: 'secret' }],
  })
  const made = async () =>
    (await post('invoices', { customer_id: customer, billing_entity_id: entity, lines: [LINE] }))['id']
  const [issued, voided, archived] = [await made(), await made(), await made()]
  await succeed(tenant, 'PATCH', `/v1/invoices/${issued}`, { status: 'FINAL' })
  await post(`invoices/${voided}/void`)
  await post(`invoices/${archived}/archive`)
  await post(`customers/${customer}/archive`)
  await post(`customers/${customer}/forget`)
  const shown = async (id: string) => JSON.stringify(await succeed(tenant, 'GET', `/v1/invoices/${id}`))
  const PERSON = /Ada|Lovelace|example\.com|Ede|secret/
  expect(await shown(issued)).toMatch(PERSON)
  for (const id of [voided, archived]) expect(await shown(id)).not.toMatch(PERSON)
})
