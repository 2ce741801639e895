// Entries of the catalog that contradict themselves, or what they name, each with the field by which it is refused.
import { eur, FLAT } from './catalog.ts'

export type Ids = Record<string, string>
/** What is wrong, where it is sent, the body, and the field; the code is INVALID_FIELD unless another stands beside it. */
type Wrong = readonly [wrong: string, path: string, body: (id: Ids) => object, field: string, code?: string]
/** What an entry says besides, so that nothing else is wrong with it. */
export const BASE: Readonly<Record<string, object>> = {
  coupons: { name: 'x', discount: { type: 'PERCENTAGE', percentage: '10' }, duration: { type: 'FOREVER' } },
  'meter-value-calculations': { name: 'x', calculation_type: 'SUM' },
  'custom-fields': { name: 'x', type: 'STRING', resource_type: 'PRODUCT' },
}
const percentage = (value: string) => ({ discount: { type: 'PERCENTAGE', percentage: value } })
const priced = (id: Ids, config: object, item: object = {}) => ({
  pricing_plan_version_id: id['version'],
  product_ids: [id['itemProduct']],
  items: [{ product_item_ids: [id['item']], configs: [config], ...item }],
})
const GONE = 'RESOURCE_NOT_FOUND'

export const WRONG: readonly Wrong[] = [
  // Products and items.
  [
    'a product whose parent is of another tenant',
    'products',
    id => ({ parent_product_id: id['theirs'] }),
    'parent_product_id',
    GONE,
  ],
  ['a product of an unknown category', 'products', () => ({ category_id: 'proc_1' }), 'category_id', GONE],
  ['a product with an unknown feature', 'products', () => ({ features: [{ id: 'feat_1' }] }), 'features.0.id', GONE],
  [
    'a product with a feature twice',
    'products',
    id => ({ features: [{ id: id['number'] }, { id: id['number'] }] }),
    'features.1',
  ],
  ['a product of another customer', 'products', () => ({ customer_id: 'cust_1' }), 'customer_id', GONE],
  ['a reference with a space', 'products', () => ({ reference: 'a b' }), 'reference'],
  [
    'a number of a custom field that is none',
    'products',
    id => ({ custom_fields: [{ reference: id['field'], value: 'many' }] }),
    'custom_fields.0.value',
  ],
  [
    'an unknown custom field',
    'products',
    () => ({ custom_fields: [{ reference: 'nothing', value: '1' }] }),
    'custom_fields.0.reference',
    GONE,
  ],
  [
    'an item of a product of another tenant',
    'product-items',
    id => ({ product_id: id['theirs'], model_type: 'RECURRING' }),
    'product_id',
    GONE,
  ],
  [
    'a metered item without a calculation',
    'product-items',
    id => ({ product_id: id['product'], model_type: 'USAGE_BASED' }),
    'usage_based.meter_value_calculation_id',
    'MISSING_FIELD',
  ],
  [
    'a calculation of an item that recurs',
    'product-items',
    id => ({
      product_id: id['product'],
      model_type: 'RECURRING',
      usage_based: { meter_value_calculation_id: id['calculation'] },
    }),
    'usage_based',
  ],
  [
    'credits of an item that recurs',
    'product-items',
    id => ({ product_id: id['product'], model_type: 'RECURRING', credits: { credit_type_id: 'ctyp_1' } }),
    'credits',
  ],
  [
    'a CREDITS item without a credit type',
    'product-items',
    id => ({ product_id: id['product'], model_type: 'CREDITS' }),
    'credits.credit_type_id',
    'MISSING_FIELD',
  ],
  [
    'an unknown credit type',
    'product-items',
    id => ({ product_id: id['product'], model_type: 'CREDITS', credits: { credit_type_id: 'ctyp_1' } }),
    'credits.credit_type_id',
    GONE,
  ],
  [
    'an unknown calculation',
    'product-items',
    id => ({
      product_id: id['product'],
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation_id: 'bmet_1' },
    }),
    'usage_based.meter_value_calculation_id',
    GONE,
  ],
  [
    'an item that shows an unknown calculation',
    'product-items',
    id => ({
      product_id: id['product'],
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation_id: id['calculation'], report_meter_value_calculation_ids: ['bmet_1'] },
    }),
    'usage_based.report_meter_value_calculation_ids.0',
    GONE,
  ],
  [
    'an item whose tier an unknown calculation finds',
    'product-items',
    id => ({
      product_id: id['product'],
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation_id: id['calculation'], tiering_meter_value_calculation_id: 'bmet_1' },
    }),
    'usage_based.tiering_meter_value_calculation_id',
    GONE,
  ],
  [
    'guidance that is too long',
    'product-items',
    id => ({ product_id: id['product'], model_type: 'RECURRING', agent_context: { guidance: 'x'.repeat(2_501) } }),
    'agent_context.guidance',
  ],
  // Meters, calculations and features.
  [
    'a sum of no value',
    'meter-value-calculations',
    id => ({ meter_id: id['meter'] }),
    'meter_value_id',
    'MISSING_FIELD',
  ],
  [
    'a sum of a value that the meter lacks',
    'meter-value-calculations',
    id => ({ meter_id: id['meter'], meter_value_id: id['otherValue'] }),
    'meter_value_id',
  ],
  [
    'a sum of a property',
    'meter-value-calculations',
    id => ({ meter_id: id['meter'], meter_value_id: id['value'], meter_property_id: id['property'] }),
    'meter_property_id',
  ],
  [
    'distinct values of a value',
    'meter-value-calculations',
    id => ({ meter_id: id['meter'], calculation_type: 'UNIQUE', meter_value_id: id['value'] }),
    'meter_property_id',
    'MISSING_FIELD',
  ],
  [
    'distinct values of nothing',
    'meter-value-calculations',
    id => ({ meter_id: id['meter'], calculation_type: 'UNIQUE' }),
    'meter_property_id',
    'MISSING_FIELD',
  ],
  [
    'an unknown meter',
    'meter-value-calculations',
    id => ({ meter_id: 'metr_1', meter_value_id: id['value'] }),
    'meter_id',
    GONE,
  ],
  [
    'a meter with a value twice',
    'meters',
    id => ({ meter_values: [{ id: id['value'] }, { id: id['value'] }] }),
    'meter_values.1',
  ],
  ['an ENUM property without values', 'meter-properties', () => ({ type: 'ENUM' }), 'enum_values'],
  ['values of a STRING property', 'meter-properties', () => ({ type: 'STRING', enum_values: ['a'] }), 'enum_values'],
  ['an ENUM feature without values', 'features', () => ({ type: 'ENUM' }), 'enum_values'],
  ['a value twice', 'features', () => ({ type: 'ENUM', enum_values: ['a', 'a'] }), 'enum_values'],
  ['values of a SWITCH', 'features', () => ({ type: 'SWITCH', enum_values: ['a'] }), 'enum_values'],
  [
    'usage of a SWITCH',
    'features',
    id => ({ type: 'SWITCH', meter_value_calculation_id: id['calculation'] }),
    'meter_value_calculation_id',
  ],
  // Plans, versions and groups.
  ['a CUSTOM plan for nobody', 'pricing-plans', () => ({ type: 'CUSTOM' }), 'customer_id', 'MISSING_FIELD'],
  [
    'a STANDARD plan for one customer',
    'pricing-plans',
    () => ({ type: 'STANDARD', customer_id: 'cust_1' }),
    'customer_id',
  ],
  [
    'a rule by one of no countries',
    'pricing-plans',
    () => ({
      pricing_plan_selection_rules: [
        { type: 'RESOURCE', resource: { type: 'CUSTOMER', field: 'COUNTRY', comparator: 'IN', values: [] } },
      ],
    }),
    'pricing_plan_selection_rules.0.resource.values',
  ],
  [
    'a rule by a country that does not exist',
    'pricing-plans',
    () => ({
      pricing_plan_selection_rules: [
        { type: 'RESOURCE', resource: { type: 'CUSTOMER', field: 'COUNTRY', comparator: 'EQUALS', value: 'XX' } },
      ],
    }),
    'pricing_plan_selection_rules.0.resource.value',
  ],
  [
    'a version of a rate card without its start',
    'pricing-plan-versions',
    id => ({ pricing_plan_id: id['card'], status: 'ACTIVE' }),
    'rate_card.start_at',
    'MISSING_FIELD',
  ],
  [
    'a start of a version that is on no rate card',
    'pricing-plan-versions',
    id => ({ pricing_plan_id: id['plan'], rate_card: { start_at: '2027-01-01T00:00:00Z' } }),
    'rate_card',
  ],
  [
    'a default currency that is not offered',
    'pricing-plan-versions',
    id => ({
      pricing_plan_id: id['plan'],
      pricing_currency_settings: { default_pricing_currency: 'USD', pricing_currencies: ['EUR'] },
    }),
    'pricing_currency_settings.default_pricing_currency',
  ],
  [
    'a billing period twice',
    'pricing-plan-versions',
    id => ({
      pricing_plan_id: id['plan'],
      billing_period_settings: {
        billing_periods: [{ period: { type: 'MONTH', value: 12 } }, { period: { type: 'YEAR', value: 1 } }],
      },
    }),
    'billing_period_settings.billing_periods.1.period',
  ],
  [
    'a pricing of an ACTIVE version',
    'pricings',
    id => ({ ...priced(id, FLAT), pricing_plan_version_id: id['activeVersion'] }),
    'pricing_plan_version_id',
    'INVALID_OPERATION',
  ],
  [
    'an item of no product of the pricing',
    'pricings',
    id => ({ ...priced(id, FLAT), product_ids: [id['product']] }),
    'items.0.product_item_ids.0',
  ],
  [
    'a pricing in an unknown group',
    'pricings',
    id => ({ ...priced(id, FLAT), pricing_group_id: 'prgr_1' }),
    'pricing_group_id',
    GONE,
  ],
  [
    'two items in one',
    'pricings',
    id => priced(id, FLAT, { product_item_ids: [id['item'], id['item']] }),
    'items.0.product_item_ids',
  ],
  [
    'a condition on an unknown property',
    'pricings',
    id =>
      priced(id, { ...FLAT, conditions: { meter_properties: [{ id: 'metp_1', comparator: 'EQUALS', value: 'a' }] } }),
    'items.0.configs.0.conditions.meter_properties.0.id',
    GONE,
  ],
  [
    'a split by an unknown property',
    'pricings',
    id => priced(id, { ...FLAT, split_pricing: { meter_properties: [{ id: 'metp_1' }] } }),
    'items.0.configs.0.split_pricing.meter_properties.0.id',
    GONE,
  ],
  [
    'a currency that does not exist',
    'pricings',
    id => priced(id, { pricing_type: 'FLAT', bands: [{ amount: { quantity: '1', currency: 'XXZ' } }] }),
    'items.0.configs.0.bands.0.amount.currency',
  ],
  [
    'an amount with 13 decimals',
    'pricings',
    id => priced(id, { pricing_type: 'FLAT', bands: [{ amount: eur('0.0000000000001') }] }),
    'items.0.configs.0.bands.0.amount.quantity',
  ],
  [
    'an amount that is not a number',
    'pricings',
    id => priced(id, { pricing_type: 'FLAT', bands: [{ amount: eur('1e3') }] }),
    'items.0.configs.0.bands.0.amount.quantity',
  ],
  [
    'a period of nothing',
    'pricings',
    id => priced(id, { ...FLAT, billing_period: { type: 'MONTH', value: 0 } }),
    'items.0.configs.0.billing_period.value',
  ],
  [
    'an entitlement of another type',
    'pricings',
    id => ({ ...priced(id, FLAT), entitlements: [{ feature_id: id['number'], switch: true }] }),
    'entitlements.0.switch',
  ],
  [
    'an entitlement to an option that is none',
    'pricings',
    id => ({ ...priced(id, FLAT), entitlements: [{ feature_id: id['options'], enums: ['z'] }] }),
    'entitlements.0.enums',
  ],
  [
    'a group of an ACTIVE version',
    'pricing-groups',
    id => ({ name: 'x', pricing_plan_version_id: id['activeVersion'], selection_constraint: 'ANY' }),
    'pricing_plan_version_id',
    'INVALID_OPERATION',
  ],
  [
    'a plan group with a plan twice',
    'pricing-plan-groups',
    id => ({ pricing_plan_ids: [id['plan'], id['plan']] }),
    'pricing_plan_ids.1',
  ],
  // Coupons and their codes.
  ['a percentage above 100', 'coupons', () => percentage('101'), 'discount.percentage'],
  ['a percentage of nothing', 'coupons', () => percentage('0'), 'discount.percentage'],
  [
    'a percentage and an amount',
    'coupons',
    () => ({ discount: { type: 'PERCENTAGE', percentage: '5', amount: eur('5') } }),
    'discount.amount',
  ],
  [
    'an amount of nothing said',
    'coupons',
    () => ({ discount: { type: 'AMOUNT' } }),
    'discount.amount',
    'MISSING_FIELD',
  ],
  [
    'an amount below nothing',
    'coupons',
    () => ({ discount: { type: 'AMOUNT', amount: eur('-5') } }),
    'discount.amount.quantity',
  ],
  [
    'usage of an unknown value',
    'coupons',
    () => ({ discount: { type: 'USAGE', usage: { meter_value_id: 'metv_1', number: '5' } } }),
    'discount.usage.meter_value_id',
    GONE,
  ],
  [
    'money of a value that counts',
    'coupons',
    id => ({ discount: { type: 'USAGE', usage: { meter_value_id: id['value'], amount: eur('5') } } }),
    'discount.usage.amount',
  ],
  ['a duration of no length', 'coupons', () => ({ duration: { type: 'PERIOD' } }), 'duration.period', 'MISSING_FIELD'],
  [
    'a length of what lasts for ever',
    'coupons',
    () => ({ duration: { type: 'FOREVER', period: { type: 'MONTH', value: 1 } } }),
    'duration.period',
  ],
  [
    'an end before its start',
    'coupons',
    () => ({ start_at: '2027-02-01T00:00:00Z', end_at: '2027-01-01T00:00:00Z' }),
    'end_at',
  ],
  ['no redemption at all', 'coupons', () => ({ maximum_redemptions: 0 }), 'maximum_redemptions'],
  [
    'limited to an unknown product',
    'coupons',
    () => ({ limited_to: { product_ids: ['prod_1'] } }),
    'limited_to.product_ids.0',
    GONE,
  ],
  ['a code of an unknown coupon', 'promotion-codes', () => ({ coupon_id: 'coup_1', code: 'HELLO' }), 'coupon_id', GONE],
  [
    'a code and a format of codes',
    'promotion-codes',
    id => ({ coupon_id: id['coupon'], code: 'HELLO', code_format: 'A-####' }),
    'code_format',
  ],
  [
    'a format without a place',
    'promotion-codes',
    id => ({ coupon_id: id['coupon'], code_format: 'HELLO' }),
    'code_format',
  ],
  [
    'a code of an unknown customer',
    'promotion-codes',
    id => ({ coupon_id: id['coupon'], code: 'HELLO1', limited_to: { customer_ids: ['cust_1'] } }),
    'limited_to.customer_ids.0',
    GONE,
  ],
  // Custom fields.
  ['an ENUM field without values', 'custom-fields', () => ({ type: 'ENUM' }), 'enum_values', 'MISSING_FIELD'],
  ['values of a text', 'custom-fields', () => ({ type: 'STRING', enum_values: ['a'] }), 'enum_values'],
  ['a resource that has no custom fields', 'custom-fields', () => ({ resource_type: 'METER' }), 'resource_type'],
]
