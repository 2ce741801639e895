// A catalog as a file, with every section and every status that an entry can be brought to; and the calls on such files.
import { eur } from '../../../../testing/catalog.ts'
import type { TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'

const TIERS = [
  { amount: eur('0.10'), tier_top_bound: { number: '1000' } },
  { amount: eur('0.08'), fixed_amount: eur('5') },
]
/** A pricing of usage by Europe and by tiers, and of a fee ahead, with entitlements. */
export const priced = (price: string) => ({
  name: 'Usage',
  products: ['inference'],
  items: [
    {
      product_items: ['tokens'],
      configs: [
        {
          pricing_type: 'FLAT',
          bands: [{ amount: eur(price), block_size: { number: '1000' } }],
          conditions: {
            name: 'Europe',
            meter_properties: [{ reference: 'region', comparator: 'IN', variable: 'europe' }],
          },
        },
        {
          pricing_type: 'TIERED',
          bands: TIERS,
          default_included_volume: { number: '100' },
          split_pricing: { meter_properties: [{ reference: 'region' }] },
        },
      ],
    },
    {
      product_items: ['fee'],
      configs: [{ pricing_type: 'FIXED', billing_in_advance: true, bands: [{ fixed_amount: eur('100') }] }],
    },
  ],
  entitlements: [
    { feature_reference: 'sso', switch: false },
    { feature_reference: 'calls', number: '1000', override: true },
  ],
})

/** Every section, and every status that an entry can be brought to. */
export const FILE = {
  format: 1,
  meter_values: [{ reference: 'tokens', name: 'Tokens', type: 'NUMBER', status: 'ACTIVE' }],
  meter_properties: [
    { reference: 'region', name: 'Region', type: 'ENUM', enum_values: ['eu', 'us'], status: 'ACTIVE' },
  ],
  meters: [
    {
      reference: 'inference',
      status: 'ACTIVE',
      meter_values: [{ reference: 'tokens', required: true }],
      meter_properties: [{ reference: 'region', required: true }],
    },
  ],
  meter_property_variables: [{ reference: 'europe', meter_property: 'region', values: ['eu'] }],
  meter_value_calculations: [
    { reference: 'tokens_sum', calculation_type: 'SUM', meter: 'inference', meter_value: 'tokens' },
  ],
  features: [
    { reference: 'sso', type: 'SWITCH' },
    { reference: 'calls', type: 'NUMBER', meter_value_calculation: 'tokens_sum' },
  ],
  credit_types: [{ reference: 'credits', name: 'Credits', status: 'INACTIVE' }],
  product_categories: [{ reference: 'ai', name: 'AI', display_order: 1 }],
  products: [
    { reference: 'inference', name: 'Inference', category: 'ai', status: 'ACTIVE' },
    { reference: 'old', name: 'Old', status: 'ARCHIVED' },
    { reference: 'legacy', name: 'Legacy', status: 'DEPRECATED' },
    {
      reference: 'support',
      name: 'Support',
      product_type: 'ADDON',
      parent_product: 'inference',
      features: [{ reference: 'sso' }],
      status: 'ACTIVE',
    },
  ],
  product_items: [
    {
      reference: 'tokens',
      name: 'Tokens',
      product: 'inference',
      status: 'ACTIVE',
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation: 'tokens_sum' },
      unit_name: { singular: 'token', plural: 'tokens' },
    },
    { reference: 'care', name: 'Care', product: 'legacy', status: 'DEPRECATED', model_type: 'RECURRING' },
    { reference: 'fee', name: 'Fee', product: 'inference', status: 'ACTIVE', model_type: 'RECURRING' },
  ],
  pricing_plans: [
    {
      reference: 'standard',
      name: 'Standard',
      versions: [
        { version: 1, status: 'DEPRECATED', pricings: [priced('0.015')] },
        { version: 3, status: 'ACTIVE', pricings: [priced('0.012')] },
        {
          version: 4,
          status: 'DRAFT',
          pricing_groups: [{ name: 'Models', product_type: 'DEFAULT', selection_constraint: 'AT_MOST_ONE' }],
          pricings: [{ pricing_group: 'Models', ...priced('0.010') }],
        },
      ],
    },
    {
      reference: 'card',
      variant: 'RATE_CARD',
      versions: [
        {
          version: 1,
          status: 'ACTIVE',
          rate_card: { start_at: '2026-01-01T00:00:00Z' },
          pricings: [priced('0.015')],
        },
        { version: 2, status: 'DRAFT', rate_card: { start_at: '2026-07-01T00:00:00Z' }, pricings: [priced('0.012')] },
      ],
    },
    {
      reference: 'pro',
      name: 'Pro',
      amount_type: 'INCLUDING_TAX',
      versions: [
        {
          version: 1,
          status: 'ARCHIVED',
          pricings: [
            {
              name: 'Care',
              products: ['legacy'],
              items: [
                { product_items: ['care'], configs: [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur('9') }] }] },
              ],
            },
          ],
        },
      ],
    },
  ],
  pricing_plan_groups: [{ reference: 'ladder', status: 'ACTIVE', pricing_plans: ['standard', 'pro'] }],
}

/** A copy of the file, for a test to change. */
export const copyOf = (): Row => JSON.parse(JSON.stringify(FILE))
export const apply = (tenant: TestTenant, file: object) => tenant.call('POST', '/v1/catalog/apply', file)
export const plan = (tenant: TestTenant, file: object) => tenant.call('POST', '/v1/catalog/plan', file)
export const pull = async (tenant: TestTenant): Promise<Row> => (await tenant.call('GET', '/v1/catalog')).body
/** What an answer changes, or would change. */
export const changed = ({ body }: { body: Row }) =>
  body['changes'].map((each: Row) => `${each['action']} ${each['section']} ${each['reference']}`)
