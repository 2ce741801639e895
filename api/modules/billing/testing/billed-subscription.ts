// The starting point of invoice tests: a subscription with a price for tokens and a recurring fee, and usage for it.

import type { ClickHouseClient } from '../../../../shared/usage/clickhouse.ts'
import { succeed } from '../../../testing/calls.ts'
import type { TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { storeEvent } from './store-event.ts'

export { succeed }

export type Billed = {
  readonly subscriptionId: string
  readonly customerId: string
  readonly customerReference: string
  readonly meterReference: string
  readonly valueReference: string
  readonly calculationId: string
}

export type BilledOptions = {
  readonly start_at: string
  /** A fee per month in advance; none when absent. */
  readonly fee?: string
  /** Other members of the price of the fee. */
  readonly feeConfig?: Record<string, unknown>
  /** 0.015 EUR per 1 000 unless given. */
  readonly bands?: unknown
  readonly pricing_type?: string
  /** What a token event carries: a NUMBER unless given. */
  readonly valueType?: 'AMOUNT'
  /** Other members of the calculation of tokens. */
  readonly calculation?: Record<string, unknown>
  /** Other members of the price of tokens. */
  readonly config?: Record<string, unknown>
  /** String properties that every event of tokens has. */
  readonly properties?: readonly string[]
  readonly subscription?: Record<string, unknown>
  /** Other members of the plan. */
  readonly plan?: Record<string, unknown>
  readonly activate?: boolean
  /** Other members of the schedule, given the calculation of its usage. */
  readonly schedule?: (calculationId: string) => Promise<Record<string, unknown>>
}

const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const ADDRESS = { country: 'NL', city: 'Utrecht' }

/** A subscription of a new customer to a new plan; ACTIVE by default. */
export async function billedSubscription(tenant: TestTenant, options: BilledOptions): Promise<Billed> {
  const { seed } = tenant
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const customerReference = seed.unique('acme')
  const customer = await post('customers', {
    reference: customerReference,
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Acme', tax_id: 'NL1', registered_address: ADDRESS },
  })
  const entity = await post('billing-entities', {
    reference: seed.unique('main'),
    legal_name: 'Millrace',
    registered_address: ADDRESS,
  })
  const metered = await meteredItem(tenant, options)
  const versionId = await planVersion(tenant, metered.item, options)
  const subscription = await post('pricing-plan-subscriptions', {
    customer_id: customer['id'],
    billing_entity_id: entity['id'],
    billing_currency: 'EUR',
    ...options.subscription,
  })
  await post('pricing-plan-schedules', {
    pricing_plan_subscription_id: subscription['id'],
    pricing_plan_version_id: versionId,
    start_at: options.start_at,
    pricing_currency: 'EUR',
    ...(await options.schedule?.(metered.calculationId)),
  })
  if (options.activate !== false) {
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription['id']}`, { status: 'ACTIVE' })
  }
  const { meterReference, valueReference, calculationId } = metered
  return {
    subscriptionId: subscription['id'],
    customerId: customer['id'],
    customerReference,
    meterReference,
    valueReference,
    calculationId,
  }
}

async function meteredItem(
  tenant: TestTenant,
  {
    calculation: calculated = {},
    properties = [],
    valueType,
  }: Pick<BilledOptions, 'calculation' | 'properties' | 'valueType'>,
) {
  const { seed } = tenant
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const valueReference = seed.unique('tokens')
  const meterReference = seed.unique('inference')
  const value = await post('meter-values', {
    reference: valueReference,
    name: 'Tokens',
    type: valueType ?? 'NUMBER',
    status: 'ACTIVE',
  })
  for (const reference of properties) {
    await post('meter-properties', { reference, name: reference, type: 'STRING', status: 'ACTIVE' })
  }
  const meter = await post('meters', {
    reference: meterReference,
    status: 'ACTIVE',
    meter_values: [{ id: value['id'], required: true }],
    meter_properties: properties.map(reference => ({ reference, required: true })),
  })
  const calculation = await post('meter-value-calculations', {
    reference: seed.unique('sum'),
    calculation_type: 'SUM',
    meter_id: meter['id'],
    meter_value_id: value['id'],
    ...calculated,
  })
  const product = await post('products', { reference: seed.unique('product'), name: 'Inference', status: 'ACTIVE' })
  const item = await post('product-items', {
    reference: seed.unique('item'),
    product_id: product['id'],
    name: 'Tokens',
    status: 'ACTIVE',
    model_type: 'USAGE_BASED',
    usage_based: { meter_value_calculation_id: calculation['id'] },
  })
  return { meterReference, valueReference, calculationId: calculation['id'] as string, item }
}

async function planVersion(tenant: TestTenant, item: Row, options: BilledOptions): Promise<string> {
  const { seed } = tenant
  const post = (url: string, body: unknown) => succeed(tenant, 'POST', `/v1/${url}`, body)
  const items: unknown[] = [
    {
      product_item_ids: [item['id']],
      configs: [
        {
          pricing_type: options.pricing_type ?? 'FLAT',
          bands: options.bands ?? [{ amount: eur('0.015'), block_size: { number: '1000' } }],
          ...options.config,
        },
      ],
    },
  ]
  if (options.fee !== undefined) {
    const fee = await post('product-items', {
      reference: seed.unique('fee'),
      product_id: item['product_id'],
      name: 'Platform fee',
      status: 'ACTIVE',
      model_type: 'RECURRING',
    })
    const bands = [{ fixed_amount: eur(options.fee) }]
    const config = { pricing_type: 'FIXED', billing_in_advance: true, bands, ...options.feeConfig }
    items.push({ product_item_ids: [fee['id']], configs: [config] })
  }
  const plan = await post('pricing-plans', { reference: seed.unique('plan'), name: 'Standard', ...options.plan })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  await post('pricings', {
    pricing_plan_version_id: version['id'],
    name: 'Standard',
    product_ids: [item['product_id']],
    items,
  })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  return version['id']
}

let events = 0

/** Stores one event of `tokens` at `timestamp`, as the aggregator would have. */
export async function useTokens(
  client: ClickHouseClient,
  tenant: TestTenant,
  of: {
    readonly billed: Billed
    readonly tokens: string
    readonly timestamp: string
    readonly properties?: Readonly<Record<string, string>>
  },
): Promise<void> {
  events += 1
  const { billed, tokens: quantity, timestamp, properties } = of
  await storeEvent(client, tenant, {
    position: [0, events],
    customer: billed.customerReference,
    meter: billed.meterReference,
    value: billed.valueReference,
    quantity,
    timestamp,
    ...(properties ? { properties } : {}),
  })
}
