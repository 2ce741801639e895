// What tests of billing put their sales together from, by the API: parties, a fee in a plan, a subscription, and the lines it is
// billed.
import { succeed } from '../../../testing/calls.ts'
import type { TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'

export type Sales = {
  /** The id of a new customer in the Netherlands. */
  customer(): Promise<string>
  /** The id of a new billing entity there. */
  billingEntity(): Promise<string>
  item(product: Row, model_type: string): Promise<Row>
  /** A pricing of a new recurring item at this many euros a month. */
  feePricing(versionId: string, product: Row, price: string, over?: object, terms?: object): Promise<Row>
  /** A DRAFT subscription in euros, of a new customer and billing entity unless it says otherwise. */
  subscription(over?: object): Promise<Row>
}

const ADDRESS = { country: 'NL', city: 'Utrecht' }

export function salesOf(tenant: TestTenant): Sales {
  const unique = (name: string): string => tenant.seed.unique(name)
  const post = (path: string, body: unknown) => succeed(tenant, 'POST', `/v1/${path}`, body)
  const sales: Sales = {
    customer: async () => {
      const organization = { legal_name: 'Acme', tax_id: 'NL1', registered_address: ADDRESS }
      const body = { reference: unique('acme'), type: 'ORGANIZATION', status: 'ACTIVE', organization }
      return (await post('customers', body))['id']
    },
    billingEntity: async () => {
      const body = { reference: unique('main'), legal_name: 'Millrace', registered_address: ADDRESS }
      return (await post('billing-entities', body))['id']
    },
    item: (product, model_type) =>
      post('product-items', {
        reference: unique('item'),
        product_id: product['id'],
        name: product['name'],
        status: 'ACTIVE',
        model_type,
      }),
    feePricing: async (versionId, product, price, over = {}, terms = {}) => {
      const item = await sales.item(product, 'RECURRING')
      const configs = [
        { pricing_type: 'FIXED', bands: [{ fixed_amount: { quantity: price, currency: 'EUR' } }], ...terms },
      ]
      return await post('pricings', {
        pricing_plan_version_id: versionId,
        product_ids: [product['id']],
        items: [{ product_item_ids: [item['id']], configs }],
        ...over,
      })
    },
    subscription: async over =>
      await post('pricing-plan-subscriptions', {
        customer_id: await sales.customer(),
        billing_entity_id: await sales.billingEntity(),
        billing_currency: 'EUR',
        ...over,
      }),
  }
  return sales
}

/** The lines of an invoice, one each: `2026-03-01..2026-04-01 10.00`. */
export const invoiceLines = (invoice: Row): string[] =>
  ((invoice['periods'] ?? []) as Row[]).flatMap(period =>
    (period['groups'] as Row[]).flatMap(group =>
      (group['lines'] as Row[]).map(
        line =>
          `${period['start_at'].slice(0, 10)}..${period['end_at'].slice(0, 10)} ${line['amount_excluding_tax'].quantity}`,
      ),
    ),
  )
