// What has to be there to bill the trace, made through the interface as a new customer of Millrace would make it.
import type { Client, Row } from '../../../infra/demo/client.ts'
import { CONTEXT_PRICE, CUSTOMERS, type CustomerName, euros, FEE_CENTS, GENERATED_PRICE } from './trace.ts'

const MONTH = { type: 'MONTH', value: 1 } as const
const PERIOD = { start_at: '2023-11-01T00:00:00Z', end_at: '2023-12-01T00:00:00Z' } as const

/** Whom each customer is, and so the tax they pay to a seller in the Netherlands. */
const PARTIES: Readonly<Record<CustomerName, { taxPercentage: bigint; organization: object }>> = {
  'trace-north': {
    taxPercentage: 21n,
    organization: {
      legal_name: 'North B.V.',
      tax_id: 'NL001234567B01',
      registered_address: address('Groningen', 'NL'),
    },
  },
  'trace-south': {
    taxPercentage: 0n, // reverse charge
    organization: { legal_name: 'South GmbH', tax_id: 'DE123456789', registered_address: address('Freiburg', 'DE') },
  },
  'trace-east': {
    taxPercentage: 21n,
    organization: { legal_name: 'East B.V.', registered_address: address('Enschede', 'NL') },
  },
}

function address(city: string, country: string): object {
  return { line1: 'Market 1', postal_code: '1000 AA', city, country }
}

export const taxPercentageOf = (customer: CustomerName): bigint => PARTIES[customer].taxPercentage

/** Creates all of it; the subscriptions are DRAFT, with their schedule. Returns the subscription of each customer. */
export async function createCatalog(client: Client): Promise<Map<CustomerName, Row>> {
  const versionId = await createPlan(client, await createProduct(client))
  const entity = await client.post('/v1/billing-entities', {
    reference: 'trace-entity',
    legal_name: 'Trace Inference B.V.',
    tax_id: 'NL009876543B01',
    registered_address: address('Utrecht', 'NL'),
  })
  const subscriptions = new Map<CustomerName, Row>()
  for (const customer of CUSTOMERS) {
    const { id: customer_id } = await client.post('/v1/customers', {
      reference: customer,
      type: 'ORGANIZATION',
      status: 'ACTIVE',
      email: `${customer}@example.com`,
      organization: PARTIES[customer].organization,
    })
    const subscription = await client.post('/v1/pricing-plan-subscriptions', {
      reference: `subscription-${customer}`,
      customer_id,
      billing_entity_id: entity.id,
      billing_period: MONTH,
      billing_currency: 'EUR',
      billing_time: 'CALENDAR',
    })
    await client.post('/v1/pricing-plan-schedules', {
      pricing_plan_subscription_id: subscription.id,
      pricing_plan_version_id: versionId,
      type: 'DEFAULT',
      pricing_currency: 'EUR',
      ...PERIOD,
    })
    subscriptions.set(customer, subscription)
  }
  return subscriptions
}

/** The meter and its two sums, by the reference of their value. */
async function createMeter(client: Client): Promise<(value: string) => string> {
  const references = ['context_tokens', 'generated_tokens']
  const values: Row[] = []
  for (const reference of references)
    values.push(await client.post('/v1/meter-values', { reference, name: reference, type: 'NUMBER', status: 'ACTIVE' }))
  const meter = await client.post('/v1/meters', {
    reference: 'llm_request',
    name: 'LLM request',
    status: 'ACTIVE',
    meter_values: values.map(({ id }) => ({ id, required: true })),
    meter_properties: [],
  })
  const sums = new Map<string, string>()
  for (const [place, value] of values.entries()) {
    const sum = await client.post('/v1/meter-value-calculations', {
      reference: `sum-${references[place]}`,
      name: `Sum of ${references[place]}`,
      calculation_type: 'SUM',
      meter_id: meter.id,
      meter_value_id: value.id,
    })
    sums.set(references[place] ?? '', sum.id)
  }
  return value => sums.get(value) ?? ''
}

type Product = { readonly product: Row; readonly context: Row; readonly generated: Row; readonly fee: Row }

async function createProduct(client: Client): Promise<Product> {
  const sumOf = await createMeter(client)
  const category = await client.post('/v1/product-categories', {
    reference: 'inference',
    name: 'Inference',
    tax_category: 'STANDARD',
  })
  const product = await client.post('/v1/products', {
    reference: 'inference-api',
    name: 'Inference API',
    category_id: category.id,
    product_type: 'DEFAULT',
    tax_category: 'STANDARD',
    status: 'ACTIVE',
  })
  const item = (reference: string, name: string, rest: object) =>
    client.post('/v1/product-items', {
      reference,
      name,
      product_id: product.id,
      type: 'REVENUE',
      tax_category: 'STANDARD',
      status: 'ACTIVE',
      ...rest,
    })
  const usageOf = (value: string) => ({
    model_type: 'USAGE_BASED',
    usage_based: { meter_value_calculation_id: sumOf(value) },
  })
  return {
    product,
    context: await item('context', 'Context tokens', usageOf('context_tokens')),
    generated: await item('generated', 'Generated tokens', usageOf('generated_tokens')),
    fee: await item('fee', 'Platform fee', { model_type: 'RECURRING' }),
  }
}

/** `price`: of 1,000 tokens, in hundredths of a cent. */
const perThousand = (price: bigint) => ({
  amount: { quantity: `0.${String(price).padStart(4, '0')}`, currency: 'EUR' },
  block_size: { number: '1000' },
})

async function createPlan(client: Client, { product, context, generated, fee }: Product): Promise<string> {
  const plan = await client.post('/v1/pricing-plans', {
    reference: 'trace-plan',
    name: 'By the token',
    type: 'STANDARD',
    amount_type: 'EXCLUDING_TAX',
  })
  const version = await client.post('/v1/pricing-plan-versions', { pricing_plan_id: plan.id })
  const priced = (item: Row, pricing_type: string, band: object) => ({
    product_item_ids: [item.id],
    configs: [{ pricing_type, billing_period: MONTH, pricing_period: MONTH, billing_in_advance: false, bands: [band] }],
  })
  await client.post('/v1/pricings', {
    pricing_plan_version_id: version.id,
    name: 'Inference',
    product_type: 'DEFAULT',
    product_ids: [product.id],
    items: [
      priced(context, 'FLAT', perThousand(CONTEXT_PRICE)),
      priced(generated, 'FLAT', perThousand(GENERATED_PRICE)),
      priced(fee, 'FIXED', { fixed_amount: euros(FEE_CENTS) }),
    ],
  })
  return (await client.patch(`/v1/pricing-plan-versions/${version.id}`, { status: 'ACTIVE' })).id
}
