// Who a one-off invoice of a test is between.
import { succeed } from '../../../testing/calls.ts'
import type { TestTenant } from '../../../testing/harness.ts'

const registered_address = { country: 'NL' }

/** A new customer and a new billing entity, as an invoice names them. */
export async function oneOffParties(tenant: TestTenant): Promise<{ customer_id: string; billing_entity_id: string }> {
  const customer = await succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('acme'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Acme', registered_address },
  })
  const entity = await succeed(tenant, 'POST', '/v1/billing-entities', {
    reference: tenant.seed.unique('main'),
    legal_name: 'Millrace',
    registered_address,
  })
  return { customer_id: customer['id'], billing_entity_id: entity['id'] }
}
