// The demo's catalog, customers and subscriptions. Every step finds what an earlier start made, by reference.
import { type Client, listAll, type Row } from './client.ts'
import { CUSTOMERS, MODELS } from './sample.ts'

const CURRENCY = 'EUR'
const MONTH = { type: 'MONTH', value: 1 } as const
const eur = (quantity: string) => ({ quantity, currency: CURRENCY })

/** Finds `path`/`reference`, or makes it. */
async function ensure(
  client: Client,
  path: string,
  body: { reference: string; [field: string]: unknown },
): Promise<Row> {
  return (await client.find(`${path}/${body.reference}`)) ?? (await client.post(path, body))
}

async function ensureMeter(client: Client): Promise<Row> {
  const value = (reference: string, name: string) =>
    ensure(client, '/v1/meter-values', { reference, name, type: 'NUMBER', status: 'ACTIVE' })
  const context = await value('context_tokens', 'Context tokens')
  const generated = await value('generated_tokens', 'Generated tokens')
  const model = await ensure(client, '/v1/meter-properties', {
    reference: 'model',
    name: 'Model',
    type: 'ENUM',
    enum_values: MODELS,
    status: 'ACTIVE',
  })
  return ensure(client, '/v1/meters', {
    reference: 'llm_request',
    name: 'LLM request',
    status: 'ACTIVE',
    meter_values: [
      { id: context.id, required: true },
      { id: generated.id, required: true },
    ],
    meter_properties: [{ id: model.id, required: true }],
  })
}

/** Calculations have no path by reference, so they are looked for in their meter's list. */
async function ensureSum(client: Client, meter: Row, value: string): Promise<Row> {
  const reference = `sum_${value}`
  const existing = await listAll(client, `/v1/meter-value-calculations?meter_id=${meter.id}`)
  const found = existing.find(row => row['reference'] === reference)
  if (found) return found
  const { id: meter_value_id } = (await client.get(`/v1/meter-values/${value}`)) as Row
  const name = `Sum of ${value.replace('_', ' ')}`
  return client.post('/v1/meter-value-calculations', {
    reference,
    name,
    calculation_type: 'SUM',
    meter_id: meter.id,
    meter_value_id,
  })
}

type Items = { readonly product: Row; readonly input: Row; readonly output: Row; readonly fee: Row }

async function ensureProduct(client: Client): Promise<Items> {
  const meter = await ensureMeter(client)
  const category = await ensure(client, '/v1/product-categories', {
    reference: 'ai',
    name: 'AI services',
    tax_category: 'STANDARD',
  })
  const product = await ensure(client, '/v1/products', {
    reference: 'inference-api',
    name: 'Inference API',
    category_id: category.id,
    product_type: 'DEFAULT',
    tax_category: 'STANDARD',
    status: 'ACTIVE',
  })
  const item = (reference: string, name: string, rest: object) =>
    ensure(client, '/v1/product-items', {
      reference,
      name,
      product_id: product.id,
      type: 'REVENUE',
      tax_category: 'STANDARD',
      status: 'ACTIVE',
      ...rest,
    })
  const usage = async (value: string) => ({
    model_type: 'USAGE_BASED',
    usage_based: { meter_value_calculation_id: (await ensureSum(client, meter, value)).id },
  })
  return {
    product,
    input: await item('input-tokens', 'Input tokens', await usage('context_tokens')),
    output: await item('output-tokens', 'Output tokens', await usage('generated_tokens')),
    fee: await item('platform-fee', 'Platform fee', { model_type: 'RECURRING' }),
  }
}

type PlanRow = Row & {
  readonly pricing_plan_version_infos?: readonly { id: string; version: number; status: string }[]
}

const config = (pricing_type: string, bands: readonly object[]) => ({
  pricing_type,
  billing_period: MONTH,
  pricing_period: MONTH,
  billing_in_advance: false,
  bands,
})

async function ensurePlanVersion(client: Client, { product, input, output, fee }: Items): Promise<string> {
  const plan = (await ensure(client, '/v1/pricing-plans', {
    reference: 'pay-as-you-go',
    name: 'Pay as you go',
    type: 'STANDARD',
    amount_type: 'EXCLUDING_TAX',
  })) as PlanRow
  const active = plan.pricing_plan_version_infos?.find(info => info.status === 'ACTIVE')
  if (active) return active.id
  // A draft version of a start that was killed may lack its pricing; a new one is always whole.
  const version = await client.post('/v1/pricing-plan-versions', { pricing_plan_id: plan.id })
  const thousand = { block_size: { number: '1000' } }
  await client.post('/v1/pricings', {
    pricing_plan_version_id: version.id,
    name: 'Inference',
    product_type: 'DEFAULT',
    product_ids: [product.id],
    items: [
      { product_item_ids: [input.id], configs: [config('FLAT', [{ amount: eur('0.0025'), ...thousand }])] },
      {
        product_item_ids: [output.id],
        configs: [
          config('TIERED', [
            { amount: eur('0.0150'), ...thousand, tier_top_bound: { number: '100000' } },
            { amount: eur('0.0100'), ...thousand },
          ]),
        ],
      },
      { product_item_ids: [fee.id], configs: [config('FIXED', [{ fixed_amount: eur('49') }])] },
    ],
  })
  return (await client.patch(`/v1/pricing-plan-versions/${version.id}`, { status: 'ACTIVE' })).id
}

async function ensureSubscription(
  client: Client,
  customer: string,
  terms: { entity: Row; versionId: string; startAt: string },
): Promise<Row> {
  const { id: customer_id } = await ensure(client, '/v1/customers', {
    reference: customer,
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    email: `billing@${customer}.example`,
    organization: {
      legal_name: `${customer.replace('-', ' ').replaceAll(/\b[a-z]/g, letter => letter.toUpperCase())} B.V.`,
      registered_address: { line1: 'Stationsplein 1', postal_code: '3511 ED', city: 'Utrecht', country: 'NL' },
    },
  })
  const reference = `demo-${customer}`
  const existing = await listAll(
    client,
    `/v1/pricing-plan-subscriptions?customer_id=${customer_id}&reference=${reference}`,
  )
  const subscription =
    existing[0] ??
    (await client.post('/v1/pricing-plan-subscriptions', {
      reference,
      customer_id,
      billing_entity_id: terms.entity.id,
      billing_period: MONTH,
      billing_currency: CURRENCY,
      billing_time: 'CALENDAR',
    }))
  if (subscription['status'] !== 'DRAFT') return subscription
  const schedules = await listAll(client, `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${subscription.id}`)
  if (schedules.length === 0) {
    await client.post('/v1/pricing-plan-schedules', {
      pricing_plan_subscription_id: subscription.id,
      pricing_plan_version_id: terms.versionId,
      type: 'DEFAULT',
      start_at: terms.startAt,
      pricing_currency: CURRENCY,
    })
  }
  return client.patch(`/v1/pricing-plan-subscriptions/${subscription.id}`, { status: 'ACTIVE' })
}

/** Everything that has to be there before usage can be billed. Returns the subscription of each customer. */
export async function ensureCatalog(client: Client, startAt: string): Promise<Map<string, Row>> {
  const versionId = await ensurePlanVersion(client, await ensureProduct(client))
  const entity = await ensure(client, '/v1/billing-entities', {
    reference: 'demo-entity',
    legal_name: 'Demo Inference B.V.',
    tax_id: 'NL123456789B01',
    registered_address: { line1: 'Keizersgracht 1', postal_code: '1015 CJ', city: 'Amsterdam', country: 'NL' },
  })
  const subscriptions = new Map<string, Row>()
  for (const customer of CUSTOMERS)
    subscriptions.set(customer, await ensureSubscription(client, customer, { entity, versionId, startAt }))
  return subscriptions
}
