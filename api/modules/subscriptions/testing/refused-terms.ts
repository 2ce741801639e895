// More calls that are refused, for rejections.it.test.ts: what a schedule states of its prices, whom a subscription names, how a
// customer and an acceptor are given, and each call on a subscription that is not there.
import { APRIL, JUNE, MAY, NOW, type Refused } from './refused-calls.ts'

const S = '/v1/pricing-plan-subscriptions'
const H = '/v1/pricing-plan-schedules'
const SUBSCRIPTION = { customer_id: '{customer}', billing_entity_id: '{entity}', billing_currency: 'EUR' }
const eur = (quantity: string, currency = 'EUR') => ({ quantity, currency })
/** A change of the schedule of May that sells each kind of price. */
const stating = (body: object, code: string, field: string): Refused => [`PATCH ${H}/{sold}`, body, code, field]
const including = (price: string, entry: object, field: string, code = 'INVALID_FIELD'): Refused =>
  stating(
    { included_volumes: [{ pricing_item_config_id: `{${price}}`, ...entry }] },
    code,
    `included_volumes.0.${field}`,
  )
const committing = (units: object, field: string): Refused =>
  stating(
    { commitment: { pricing_item_configs: [{ ids: ['{flat}'], meter_value_calculation: units }] } },
    'INVALID_FIELD',
    `commitment.pricing_item_configs.0.meter_value_calculation.${field}`,
  )
const FEE = { original_pricing_item_config_id: '{addon}', bands: [{ fixed_amount: eur('1') }] }
const ITEM = { original_pricing_item_id: '{addonItem}', configs: [FEE] }
const OVERRIDE = { original_pricing_id: '{addonPricing}', items: [ITEM] }
const acceptor = (body: object, code: string, field: string): Refused => [
  'POST /v1/payment-acceptors',
  { billing_entity_id: '{entity}', reference: 'payable', ...body },
  code,
  field,
]

export const REFUSED_TERMS: readonly Refused[] = [
  // Included volumes (semantics 3.3)
  including('fixed', { number: '5' }, 'pricing_item_config_id'),
  including('event', { number: '5' }, 'pricing_item_config_id'),
  including('once', { number: '5' }, 'pricing_item_config_id'),
  including('money', { number: '5' }, 'number'),
  including('money', {}, 'amount', 'MISSING_FIELD'),
  including('money', { amount: eur('5', 'USD') }, 'amount.currency'),
  including('money', { amount: eur('-5') }, 'amount.quantity'),
  including('flat', { number: '5', start_at: JUNE }, 'start_at'),
  including('yearly', { number: '5', reset_type: 'PRICING_PERIOD', start_at: '2026-05-10T00:00:00Z' }, 'start_at'),
  // Commitments, discounts and markups
  stating(
    { commitment: { totals: [{ amount: eur('5'), start_at: JUNE }] } },
    'INVALID_FIELD',
    'commitment.totals.0.start_at',
  ),
  committing({ number: '1', amount: eur('1') }, 'amount'),
  committing({ number: '0' }, 'number'),
  committing({ amount: eur('0') }, 'amount.quantity'),
  stating({ discount: { totals: [{ percentage: '101' }] } }, 'INVALID_FIELD', 'discount.totals.0.percentage'),
  stating(
    { discount: { totals: [{ amount: eur('5', 'USD') }] } },
    'INVALID_FIELD',
    'discount.totals.0.amount.currency',
  ),
  // Seats and units (semantics 4.4)
  stating(
    { seats_values: [{ pricing_item_config_id: '{seats}', number: '1', start_at: JUNE }] },
    'INVALID_FIELD',
    'seats_values.0.start_at',
  ),
  stating(
    { seats_values: [{ pricing_item_config_id: '{seats}', number: '1', start_at: MAY, set_start_at_to_now: true }] },
    'INVALID_FIELD',
    'seats_values.0.start_at',
  ),
  stating(
    { seats_values: [{ pricing_item_config_id: '{unknown}', number: '1' }] },
    'RESOURCE_NOT_FOUND',
    'seats_values.0.pricing_item_config_id',
  ),
  stating(
    { units: [{ pricing_item_config_id: '{onceFixed}', number: '2' }] },
    'INVALID_FIELD',
    'units.0.pricing_item_config_id',
  ),
  stating({ units: [{ pricing_item_config_id: '{once}', number: '-1' }] }, 'INVALID_FIELD', 'units.0.number'),
  stating(
    {
      units: [
        { pricing_item_config_id: '{once}', number: '1' },
        { pricing_item_config_id: '{once}', number: '2' },
      ],
    },
    'INVALID_FIELD',
    'units.1.pricing_item_config_id',
  ),
  // Enabled pricings (semantics 3.1)
  stating(
    { enabled_pricings: [{ pricing_id: '{addonPricing}', start_at: JUNE }] },
    'INVALID_FIELD',
    'enabled_pricings.0.start_at',
  ),
  stating(
    { enabled_pricings: [{ pricing_id: '{addonPricing}', start_at: APRIL, end_at: MAY }] },
    'INVALID_FIELD',
    'enabled_pricings.0.end_at',
  ),
  // Overrides (semantics 4.3)
  stating({ override_pricings: [OVERRIDE, OVERRIDE] }, 'INVALID_FIELD', 'override_pricings.1.original_pricing_id'),
  stating(
    { override_pricings: [{ ...OVERRIDE, items: [ITEM, ITEM] }] },
    'INVALID_FIELD',
    'override_pricings.0.items.1.original_pricing_item_id',
  ),
  stating(
    { override_pricings: [{ ...OVERRIDE, items: [{ ...ITEM, configs: [FEE, FEE] }] }] },
    'INVALID_FIELD',
    'override_pricings.0.items.0.configs.1.original_pricing_item_config_id',
  ),
  [
    `POST ${H}`,
    {
      pricing_plan_subscription_id: '{draft}',
      pricing_plan_version_id: '{soldVersion}',
      start_at: MAY,
      override_pricings: [{ ...OVERRIDE, items: [] }],
    },
    'INVALID_FIELD',
    'override_pricings.0.items',
  ],
  [
    `POST ${S}/init`,
    {
      template_pricing_plan_subscription_id: '{latestTemplate}',
      customer_id: '{customer}',
      pricing_plan_schedule_customizations: [
        {
          pricing_plan_schedule_id: '{latestSchedule}',
          units: [{ pricing_item_config_id: '{once}', number: '2' }],
        },
      ],
    },
    'INVALID_FIELD',
    'pricing_plan_schedule_customizations.0.units.0.pricing_item_config_id',
  ],
  // What is named
  [
    `POST ${H}`,
    {
      pricing_plan_subscription_id: '{draft}',
      pricing_plan_version_selector: { pricing_plan_id: '{unknown}' },
      start_at: MAY,
    },
    'RESOURCE_NOT_FOUND',
    'pricing_plan_version_selector.pricing_plan_id',
  ],
  [`POST ${S}`, { ...SUBSCRIPTION, billing_entity_id: null }, 'MISSING_FIELD', 'billing_entity_id'],
  [`POST ${S}`, { ...SUBSCRIPTION, billing_currency: null }, 'MISSING_FIELD', 'billing_currency'],
  [`POST ${S}`, { ...SUBSCRIPTION, billing_entity_id: '{archivedEntity}' }, 'INVALID_FIELD', 'billing_entity_id'],
  [
    `PATCH ${S}/{draft}`,
    { upgraded_from_pricing_plan_subscription_id: '{quote}' },
    'INVALID_FIELD',
    'upgraded_from_pricing_plan_subscription_id',
  ],
  [
    'POST /v1/seat-assignments',
    { pricing_plan_subscription_id: '{seated}', product_item_id: '{retiredItem}', customer_id: '{other}' },
    'INVALID_FIELD',
    'product_item_id',
  ],
  [`POST ${S}/{unknown}/pause`, {}, 'RESOURCE_NOT_FOUND'],
  ...['archive', 'void', 'resume'].map((verb): Refused => [`POST ${S}/{unknown}/${verb}`, null, 'RESOURCE_NOT_FOUND']),
  [`POST ${S}/{unknown}/cancel`, { type: 'NOW' }, 'RESOURCE_NOT_FOUND'],
  [`POST ${S}/{unknown}/copy`, {}, 'RESOURCE_NOT_FOUND'],
  [`POST ${S}/{unknown}/change-plan`, { pricing_plan_id: '{plan}' }, 'RESOURCE_NOT_FOUND'],
  [`DELETE ${S}/{unknown}`, null, 'RESOURCE_NOT_FOUND'],
  [`POST ${H}/{unknown}/activate`, null, 'RESOURCE_NOT_FOUND'],
  [`PATCH ${H}/{unknown}`, { end_at: JUNE }, 'RESOURCE_NOT_FOUND'],
  [`DELETE ${H}/{unknown}`, null, 'RESOURCE_NOT_FOUND'],
  [`POST ${H}/{unknown}/copy`, { start_at: MAY }, 'RESOURCE_NOT_FOUND'],
  [`POST ${H}/{unknown}/migrate`, { start_at: MAY, pricing_plan_version_id: '{version}' }, 'RESOURCE_NOT_FOUND'],
  ['PATCH /v1/seat-assignments/{unknown}', { end_at: NOW }, 'RESOURCE_NOT_FOUND'],
  ['POST /v1/customers/{unknown}/archive', null, 'RESOURCE_NOT_FOUND'],
  ['POST /v1/customers/{unknown}/forget', null, 'RESOURCE_NOT_FOUND'],
  ['DELETE /v1/customers/{unknown}', null, 'RESOURCE_NOT_FOUND'],
  // Customers and acceptors
  ...['0', '100'].map(
    (part): Refused => [
      'POST /v1/customers',
      { type: 'ORGANIZATION', organization: { legal_name: 'A', tax_exempt_percentage: part } },
      'INVALID_FIELD',
      'organization.tax_exempt_percentage',
    ],
  ),
  [
    'POST /v1/customers',
    { type: 'ORGANIZATION', organization: { legal_name: 'A', tax_exempt_percentage: '40', tax_exempt: true } },
    'INVALID_FIELD',
    'organization.tax_exempt_percentage',
  ],
  acceptor({ type: 'BANK_ACCOUNT' }, 'MISSING_FIELD', 'bank_account'),
  acceptor(
    { type: 'BANK_ACCOUNT', bank_account: { type: 'IBAN', iban: 'NL91ABNA0417164301' } },
    'INVALID_FIELD',
    'bank_account.iban',
  ),
  acceptor(
    { type: 'CUSTOM_REDIRECT', custom_redirect: { url: 'http://pay.example.com' } },
    'INVALID_FIELD',
    'custom_redirect.url',
  ),
  acceptor(
    {
      type: 'CUSTOM_REDIRECT',
      custom_redirect: { url: 'https://pay.example.com' },
      bank_account: { type: 'IBAN', iban: 'NL91ABNA0417164300' },
    },
    'INVALID_FIELD',
    'bank_account',
  ),
  // What the reference shapes have and the product does not is refused by its name, and never left out without a word.
  ...['payment_method_id', 'linked_integrations'].map(
    (field): Refused => [`POST ${S}`, { ...SUBSCRIPTION, [field]: null }, 'INVALID_FIELD', field],
  ),
  [`PATCH ${S}/{live}`, { payment_method_id: 'pmet' }, 'INVALID_FIELD', 'payment_method_id'],
  [`POST ${S}/{live}/update-payment-method`, { payment_method_id: 'pmet' }, 'RESOURCE_NOT_FOUND'],
  [
    `POST ${S}/init`,
    { pricing_plan_subscription: SUBSCRIPTION, payment_method: { id: 'pmet' } },
    'INVALID_FIELD',
    'payment_method',
  ],
  stating(
    { pricing_categories: [{ pricings: [{ product_ids: ['{unknown}'] }] }] },
    'RESOURCE_NOT_FOUND',
    'pricing_categories.0.pricings.0.product_ids.0',
  ),
  stating({ approval_status: 'PENDING_REVIEW' }, 'INVALID_FIELD', 'approval_status'),
  ['GET /v1/pricing-plan-subscription-groups?start_at=[2026-01-01T00:00:00Z,]', null, 'INVALID_FIELD', 'start_at'],
  ['POST /v1/customers', { type: 'INDIVIDUAL', linked_integrations: [] }, 'INVALID_FIELD', 'linked_integrations'],
  ['GET /v1/portal/pricing-plan-subscriptions/{live}/pricing-plan-group', null, 'RESOURCE_NOT_FOUND'],
]
