// Calls that are refused, for rejections.it.test.ts. `{name}` is the id of what that test has made by the name.
export const NOW = '2026-03-11T10:00:00Z'
export const APRIL = '2026-04-01T00:00:00Z'
export const MAY = '2026-05-01T00:00:00Z'
export const JUNE = '2026-06-01T00:00:00Z'
const MONTH = { type: 'MONTH', value: 1 }

/** A call, its body, and what it is refused with. */
export type Refused = readonly [call: string, body: object | null, code: string, field?: string]
const SUBSCRIPTION = { customer_id: '{customer}', billing_entity_id: '{entity}', billing_currency: 'EUR' }
const SCHEDULE = { pricing_plan_subscription_id: '{draft}', pricing_plan_version_id: '{version}', start_at: MAY }
const ON_TOP = { template_pricing_plan_subscription_id: '{template}', customer_id: '{customer}' }
const S = '/v1/pricing-plan-subscriptions'
const H = '/v1/pricing-plan-schedules'
const A = '/v1/seat-assignments'
const C = '/v1/customers'
const V = '/v1/pricing-plan-versions'

/** A valid value of each member that does not go on top of a template. */
const INIT_VALUES: Readonly<Record<string, unknown>> = {
  billing_period: MONTH,
  initial_term: MONTH,
  customer: { type: 'INDIVIDUAL' },
  pricing_plan_schedules: [{ pricing_plan_version_id: '{version}' }],
  enabled_pricings: [{ pricing_id: 'p' }],
  promotion_codes: ['CODE'],
}

export const REFUSED: readonly Refused[] = [
  // Subscriptions (semantics 4.1)
  [`POST ${S}`, { ...SUBSCRIPTION, customer_id: null }, 'MISSING_FIELD', 'customer_id'],
  [`POST ${S}`, { ...SUBSCRIPTION, customer_id: '{unknown}' }, 'RESOURCE_NOT_FOUND', 'customer_id'],
  [`POST ${S}`, { ...SUBSCRIPTION, customer_id: '{archived}' }, 'INVALID_FIELD', 'customer_id'],
  [`POST ${S}`, { ...SUBSCRIPTION, billing_currency: 'EURO' }, 'INVALID_FIELD', 'billing_currency'],
  [`POST ${S}`, { ...SUBSCRIPTION, status: 'ACTIVE' }, 'INVALID_FIELD', 'status'],
  [`POST ${S}`, { ...SUBSCRIPTION, type: 'OTHER' }, 'INVALID_FIELD', 'type'],
  [`POST ${S}`, { ...SUBSCRIPTION, type: 'TEMPLATE' }, 'INVALID_FIELD', 'customer_id'],
  [`POST ${S}`, { ...SUBSCRIPTION, template: {} }, 'INVALID_FIELD', 'template'],
  [
    `POST ${S}`,
    { ...SUBSCRIPTION, customer_id: null, type: 'TEMPLATE', template: { allow_promotion_codes: 'MANY' } },
    'INVALID_FIELD',
    'template.allow_promotion_codes',
  ],
  [`POST ${S}`, { ...SUBSCRIPTION, quote_version_id: 'q' }, 'INVALID_FIELD', 'quote_version_id'],
  [
    `POST ${S}`,
    { ...SUBSCRIPTION, billing_period: { type: 'MONTH', value: 0 } },
    'INVALID_FIELD',
    'billing_period.value',
  ],
  [`POST ${S}`, { ...SUBSCRIPTION, billing_anchor: APRIL }, 'INVALID_FIELD', 'billing_anchor'],
  [`POST ${S}`, { ...SUBSCRIPTION, renewal_term: MONTH }, 'MISSING_FIELD', 'initial_term'],
  [`POST ${S}`, { ...SUBSCRIPTION, sales_tax_percentage: '101' }, 'INVALID_FIELD', 'sales_tax_percentage'],
  [
    `POST ${S}`,
    { ...SUBSCRIPTION, due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE' } },
    'MISSING_FIELD',
    'due_date_configuration.period',
  ],
  [
    `POST ${S}`,
    { ...SUBSCRIPTION, pricing_plan_subscription_group_id: '{group}' },
    'INVALID_FIELD',
    'pricing_plan_subscription_group_id',
  ],
  [`POST ${S}`, { ...SUBSCRIPTION, variant: 'FORWARD_BILLING' }, 'MISSING_FIELD', 'forward_customer_id'],
  [
    `POST ${S}`,
    { ...SUBSCRIPTION, variant: 'FORWARD_BILLING', forward_customer_id: '{customer}' },
    'INVALID_FIELD',
    'forward_customer_id',
  ],
  [
    `POST ${S}`,
    { ...SUBSCRIPTION, variant: 'FORWARD_BILLING', forward_customer_id: '{archived}' },
    'INVALID_FIELD',
    'forward_customer_id',
  ],
  [`POST ${S}`, { ...SUBSCRIPTION, forward_customer_id: '{other}' }, 'INVALID_FIELD', 'forward_customer_id'],
  [`POST ${S}`, { ...SUBSCRIPTION, variant: 'SELLER' }, 'MISSING_FIELD', 'seller_details'],
  [
    `POST ${S}`,
    { ...SUBSCRIPTION, variant: 'SELLER', seller_details: { seller_customer_id: '{other}' } },
    'INVALID_FIELD',
    'seller_details.seller_customer_id',
  ],
  [`POST ${S}`, { ...SUBSCRIPTION, customer_id: '{supplier}' }, 'INVALID_FIELD', 'variant'],
  [
    `POST ${S}`,
    { ...SUBSCRIPTION, customer_id: '{supplier}', variant: 'SELF_BILLING', payment_acceptor_ids: ['{acceptor}'] },
    'INVALID_FIELD',
    'payment_acceptor_ids',
  ],
  [`PATCH ${S}/{draft}`, { status: 'ACTIVE' }, 'INVALID_OPERATION', 'status'],
  [`PATCH ${S}/{draft}`, { status: 'CANCELLED' }, 'INVALID_OPERATION', 'status'],
  [`PATCH ${S}/{planned}`, { customer_id: '{child}', status: 'ACTIVE' }, 'INVALID_OPERATION', 'customer_id'],
  [`PATCH ${S}/{planned}`, { type: 'TEMPLATE' }, 'INVALID_FIELD', 'type'],
  [`PATCH ${S}/{quote}`, { status: 'ACTIVE' }, 'INVALID_OPERATION', 'status'],
  [`PATCH ${S}/{live}`, { status: 'DRAFT' }, 'INVALID_OPERATION', 'status'],
  ...['billing_entity_id', 'customer_id'].map(
    (field): Refused => [
      `PATCH ${S}/{live}`,
      { [field]: field === 'customer_id' ? '{other}' : '{unknown}' },
      'INVALID_FIELD',
      field,
    ],
  ),
  [`PATCH ${S}/{live}`, { billing_currency: 'USD' }, 'INVALID_FIELD', 'billing_currency'],
  [`PATCH ${S}/{live}`, { billing_period: { type: 'YEAR', value: 1 } }, 'INVALID_FIELD', 'billing_period'],
  [`PATCH ${S}/{live}`, { billing_time: 'EXACT' }, 'INVALID_FIELD', 'billing_time'],
  [`PATCH ${S}/{live}`, { reference: 'other' }, 'INVALID_FIELD', 'reference'],
  [`PATCH ${S}/{unknown}`, { name: 'x' }, 'RESOURCE_NOT_FOUND'],
  [`DELETE ${S}/{live}`, null, 'COULD_NOT_DELETE_RESOURCE', 'status'],
  [`POST ${S}/{live}/archive`, null, 'INVALID_OPERATION', 'status'],
  [`POST ${S}/{draft}/void`, null, 'INVALID_OPERATION', 'status'],
  [`POST ${S}/{template}/void`, null, 'INVALID_OPERATION', 'status'],
  // Cancelling (semantics 4.1)
  [`POST ${S}/{draft}/cancel`, { type: 'NOW' }, 'INVALID_OPERATION'],
  [`POST ${S}/{template}/cancel`, { type: 'NOW' }, 'INVALID_OPERATION'],
  [`POST ${S}/{ended}/cancel`, { type: 'UNDO' }, 'INVALID_OPERATION', 'type'],
  [`POST ${S}/{live}/cancel`, {}, 'MISSING_FIELD', 'type'],
  [`POST ${S}/{live}/cancel`, { type: 'LATER' }, 'INVALID_FIELD', 'type'],
  [`POST ${S}/{live}/cancel`, { type: 'UNDO' }, 'INVALID_OPERATION', 'type'],
  [`POST ${S}/{live}/cancel`, { type: 'DATE' }, 'MISSING_FIELD', 'cancel_at'],
  [`POST ${S}/{live}/cancel`, { type: 'DATE', cancel_at: NOW }, 'INVALID_FIELD', 'cancel_at'],
  [`POST ${S}/{live}/cancel`, { type: 'NOW', cancel_at: APRIL }, 'INVALID_FIELD', 'cancel_at'],
  [`POST ${S}/{live}/cancel`, { type: 'AFTER_INITIAL_TERM' }, 'INVALID_OPERATION', 'type'],
  [`POST ${S}/{live}/cancel`, { type: 'NOW', cancel_dunning_actions: true }, 'INVALID_FIELD', 'cancel_dunning_actions'],
  [
    `POST ${S}/{leaving}/cancel`,
    { type: 'UNDO', refund_advance_charges: true },
    'INVALID_FIELD',
    'refund_advance_charges',
  ],
  // Pauses
  [`POST ${S}/{draft}/pause`, {}, 'INVALID_OPERATION'],
  [`POST ${S}/{live}/resume`, null, 'INVALID_OPERATION'],
  // Init (contract: refused by field name; semantics 4.2)
  ...[
    'billing_period',
    'initial_term',
    'customer',
    'pricing_plan_schedules',
    'enabled_pricings',
    'promotion_codes',
  ].map((field): Refused => [`POST ${S}/init`, { ...ON_TOP, [field]: INIT_VALUES[field] }, 'INVALID_FIELD', field]),
  [
    `POST ${S}/init`,
    { ...ON_TOP, template_pricing_plan_subscription_id: '{unknown}' },
    'RESOURCE_NOT_FOUND',
    'template_pricing_plan_subscription_id',
  ],
  [
    `POST ${S}/init`,
    { ...ON_TOP, template_pricing_plan_subscription_id: '{draftTemplate}' },
    'INVALID_FIELD',
    'template_pricing_plan_subscription_id',
  ],
  [
    `POST ${S}/init`,
    { ...ON_TOP, template_pricing_plan_subscription_id: '{live}' },
    'INVALID_FIELD',
    'template_pricing_plan_subscription_id',
  ],
  [`POST ${S}/init`, { ...ON_TOP, customer_id: null }, 'MISSING_FIELD', 'customer_id'],
  [
    `POST ${S}/init`,
    { ...ON_TOP, pricing_plan_schedule_customizations: [{ pricing_plan_schedule_id: '{first}', units: [] }] },
    'RESOURCE_NOT_FOUND',
    'pricing_plan_schedule_customizations.0.pricing_plan_schedule_id',
  ],
  [`POST ${S}/init`, {}, 'MISSING_FIELD', 'pricing_plan_subscription'],
  [
    `POST ${S}/init`,
    { pricing_plan_subscription: SUBSCRIPTION, customer_id: '{customer}' },
    'INVALID_FIELD',
    'customer_id',
  ],
  [
    `POST ${S}/init`,
    { pricing_plan_subscription: SUBSCRIPTION, customer: { type: 'INDIVIDUAL' } },
    'INVALID_FIELD',
    'pricing_plan_subscription.customer_id',
  ],
  [
    `POST ${S}/init`,
    {
      pricing_plan_subscription: SUBSCRIPTION,
      pricing_plan_schedules: [{ pricing_plan_version_id: '{version}' }, { pricing_plan_version_id: '{version}' }],
    },
    'MISSING_FIELD',
    'pricing_plan_schedules.1.start_at',
  ],
  [
    `POST ${S}/init`,
    { pricing_plan_subscription: { ...SUBSCRIPTION, status: 'ACTIVE' } },
    'INVALID_OPERATION',
    'pricing_plan_subscription.status',
  ],
  [
    `POST ${S}/init`,
    {
      pricing_plan_subscription: SUBSCRIPTION,
      enabled_pricings: [{ pricing_id: 'p' }],
      pricing_plan_schedules: [{ pricing_plan_version_id: '{version}', enabled_pricings: [{ pricing_id: 'p' }] }],
    },
    'INVALID_FIELD',
    'enabled_pricings',
  ],
  // Change of plan (contract: Change-plan rules); directions and policies are in plan-move.test.ts
  [`POST ${S}/{live}/change-plan`, { pricing_plan_id: '{unknown}' }, 'RESOURCE_NOT_FOUND', 'pricing_plan_id'],
  [`POST ${S}/{live}/change-plan`, { pricing_plan_id: '{plan}' }, 'INVALID_OPERATION', 'pricing_plan_id'],
  [`POST ${S}/{ended}/change-plan`, { pricing_plan_id: '{plan}' }, 'INVALID_OPERATION'],
  [
    `POST ${S}/{live}/change-plan`,
    { pricing_plan_id: '{plan}', billing_period: MONTH },
    'INVALID_FIELD',
    'billing_period',
  ],
  // Schedules (semantics 4.3)
  [
    `POST ${H}`,
    { ...SCHEDULE, pricing_plan_subscription_id: '{unknown}' },
    'RESOURCE_NOT_FOUND',
    'pricing_plan_subscription_id',
  ],
  [`POST ${H}`, { ...SCHEDULE, pricing_plan_subscription_id: '{ended}' }, 'INVALID_OPERATION'],
  [`POST ${H}`, { ...SCHEDULE, pricing_plan_version_id: '{unknown}' }, 'RESOURCE_NOT_FOUND', 'pricing_plan_version_id'],
  [`POST ${H}`, { ...SCHEDULE, pricing_plan_version_id: undefined }, 'MISSING_FIELD', 'pricing_plan_version_id'],
  [
    `POST ${H}`,
    { ...SCHEDULE, pricing_plan_version_selector: { pricing_plan_id: '{plan}' } },
    'INVALID_FIELD',
    'pricing_plan_version_selector',
  ],
  [
    `POST ${H}`,
    {
      ...SCHEDULE,
      pricing_plan_version_id: undefined,
      pricing_plan_version_selector: { pricing_plan_id: '{plan}', type: 'VERSION' },
    },
    'MISSING_FIELD',
    'pricing_plan_version_selector.version',
  ],
  [
    `POST ${H}`,
    {
      ...SCHEDULE,
      pricing_plan_version_id: undefined,
      pricing_plan_version_selector: { pricing_plan_id: '{plan}', pricing_plan_reference: 'another' },
    },
    'INVALID_FIELD',
    'pricing_plan_version_selector.pricing_plan_reference',
  ],
  [`POST ${H}`, { ...SCHEDULE, type: 'FREE' }, 'INVALID_FIELD', 'type'],
  [`POST ${H}`, { ...SCHEDULE, end_at: MAY }, 'INVALID_FIELD', 'end_at'],
  [`POST ${H}`, { ...SCHEDULE, approval_status: 'APPROVED' }, 'INVALID_FIELD', 'approval_status'],
  [
    `POST ${H}`,
    { ...SCHEDULE, realign_invoice_date_to_pricing_plan_schedule_start_at: true },
    'INVALID_FIELD',
    'realign_invoice_date_to_pricing_plan_schedule_start_at',
  ],
  [`POST ${H}`, { ...SCHEDULE, pricing_currency: 'USD' }, 'INVALID_FIELD', 'pricing_currency'],
  [`POST ${H}`, { ...SCHEDULE, pricing_plan_subscription_id: '{planned}' }, 'INVALID_FIELD', 'start_at'],
  [
    `POST ${H}`,
    {
      ...SCHEDULE,
      pricing_plan_subscription_id: '{live}',
      start_at: '2026-02-01T00:00:00Z',
      end_at: '2026-02-15T00:00:00Z',
    },
    'INVALID_FIELD',
    'end_at',
  ],
  [
    `POST ${H}?set_previous_end_at=true&set_next_start_at=true`,
    { ...SCHEDULE, pricing_plan_subscription_id: '{planned}', end_at: JUNE },
    'INVALID_FIELD',
    'set_next_start_at',
  ],
  [`POST ${H}?set_next_start_at=true`, SCHEDULE, 'INVALID_FIELD', 'end_at'],
  [
    `POST ${H}?set_previous_end_at=true`,
    { ...SCHEDULE, pricing_plan_subscription_id: '{live}', start_at: '2026-03-05T00:00:00Z' },
    'INVALID_FIELD',
    'start_at',
  ],
  [
    `POST ${H}`,
    { ...SCHEDULE, seats_values: [{ pricing_item_config_id: '{config}', number: '1' }] },
    'INVALID_FIELD',
    'seats_values.0.pricing_item_config_id',
  ],
  [
    `POST ${H}`,
    { ...SCHEDULE, units: [{ pricing_item_config_id: '{config}', number: '1' }] },
    'INVALID_FIELD',
    'units.0.pricing_item_config_id',
  ],
  [`POST ${H}`, { ...SCHEDULE, coupon_ids: ['{unknown}'] }, 'RESOURCE_NOT_FOUND', 'coupon_ids.0'],
  [`POST ${H}`, { ...SCHEDULE, promotion_codes: ['NONE'] }, 'INVALID_FIELD', 'promotion_codes'],
  [`PATCH ${H}/{liveSchedule}`, { start_at: MAY }, 'INVALID_FIELD', 'start_at'],
  [`PATCH ${H}/{liveSchedule}`, { end_at: '2026-03-05T00:00:00Z' }, 'INVALID_FIELD', 'end_at'],
  [`PATCH ${H}/{liveSchedule}`, { pricing_plan_version_id: '{version}' }, 'INVALID_FIELD', 'pricing_plan_version_id'],
  [`PATCH ${H}/{liveSchedule}`, { type: 'TRIAL' }, 'INVALID_FIELD', 'type'],
  [`PATCH ${H}/{second}`, { end_at: APRIL }, 'INVALID_FIELD', 'end_at'],
  [`PATCH ${H}/{second}?set_next_start_at=true`, { end_at: null }, 'INVALID_FIELD', 'end_at'],
  [`DELETE ${H}/{second}`, null, 'COULD_NOT_DELETE_RESOURCE'],
  [`DELETE ${H}/{liveSchedule}`, null, 'COULD_NOT_DELETE_RESOURCE', 'status'],
  // Contract: activation follows timeline order.
  [`POST ${H}/{second}/activate`, null, 'INVALID_OPERATION'],
  [`POST ${H}/{liveSchedule}/copy`, {}, 'MISSING_FIELD', 'start_at'],
  [
    `POST ${H}/{liveSchedule}/copy`,
    { start_at: MAY, coupon_discount_behaviour: 'KEEP' },
    'INVALID_FIELD',
    'coupon_discount_behaviour',
  ],
  [
    `POST ${H}/{liveSchedule}/copy?set_previous_end_at=true`,
    { start_at: MAY, indexing_settings: { percentage: '3', rounding_mode: 'DECIMALS' } },
    'MISSING_FIELD',
    'indexing_settings.number_of_decimals',
  ],
  [`POST ${H}/{liveSchedule}/migrate`, { start_at: MAY }, 'MISSING_FIELD', 'pricing_plan_version_id'],
  [
    `POST ${H}/{liveSchedule}/migrate?set_previous_end_at=true`,
    { start_at: MAY, pricing_plan_version_id: '{unknown}' },
    'RESOURCE_NOT_FOUND',
    'pricing_plan_version_id',
  ],
  // Seats (contract: seat assignments; semantics 4.4)
  [
    `POST ${A}`,
    { pricing_plan_subscription_id: '{seated}', product_item_id: '{seatItem}', customer_id: '{occupant}' },
    'COULD_NOT_UPDATE_RESOURCE',
    'start_at',
  ],
  [
    `POST ${A}`,
    { pricing_plan_subscription_id: '{seated}', product_item_id: '{seatItem}', customer_id: '{archived}' },
    'INVALID_FIELD',
    'customer_id',
  ],
  [
    `POST ${A}`,
    { pricing_plan_subscription_id: '{seated}', product_item_id: '{item}', customer_id: '{other}' },
    'INVALID_FIELD',
    'product_item_id',
  ],
  [
    `POST ${A}`,
    { pricing_plan_subscription_id: '{live}', product_item_id: '{seatItem}', customer_id: '{other}' },
    'INVALID_FIELD',
    'product_item_id',
  ],
  [
    `POST ${A}`,
    { pricing_plan_subscription_id: '{ended}', product_item_id: '{seatItem}', customer_id: '{other}' },
    'INVALID_FIELD',
    'pricing_plan_subscription_id',
  ],
  [
    `POST ${A}`,
    {
      pricing_plan_subscription_id: '{seated}',
      product_item_id: '{seatItem}',
      customer_id: '{other}',
      start_at: MAY,
      end_at: APRIL,
    },
    'INVALID_FIELD',
    'end_at',
  ],
  [`PATCH ${A}/{seat}`, { end_at: '2020-01-01T00:00:00Z' }, 'INVALID_FIELD', 'end_at'],
  [`PATCH ${A}/{seat}`, { customer_id: '{other}' }, 'INVALID_FIELD', 'customer_id'],
  // Contract: a live seat assignment blocks these.
  [`POST ${C}/{occupant}/archive`, null, 'INVALID_OPERATION', 'status'],
  [`PATCH ${C}/{occupant}`, { status: 'CLOSED' }, 'INVALID_OPERATION', 'status'],
  [`POST ${C}/{payer}/deprecate`, null, 'INVALID_OPERATION', 'status'],
  ['POST /v1/product-items/{seatItem}/deprecate', null, 'INVALID_OPERATION', 'status'],
  // Customers (contract: customers)
  [`DELETE ${C}/{other}`, null, 'COULD_NOT_DELETE_RESOURCE', 'status'],
  [`POST ${C}/{customer}/archive`, null, 'INVALID_OPERATION', 'status'],
  [`PATCH ${C}/{archived}`, { status: 'ACTIVE' }, 'INVALID_OPERATION', 'status'],
  [`PATCH ${C}/{other}`, { status: 'DRAFT' }, 'INVALID_OPERATION', 'status'],
  [`PATCH ${C}/{other}`, { email: 'nobody' }, 'INVALID_FIELD', 'email'],
  [`PATCH ${C}/{other}`, { reference: 'changed' }, 'INVALID_FIELD', 'reference'],
  [`PATCH ${C}/{other}`, { roles: ['PROCESSING_ONLY'] }, 'INVALID_FIELD', 'roles'],
  [`PATCH ${C}/{other}`, { parent_customer_ids: ['{other}'] }, 'INVALID_FIELD', 'parent_customer_ids'],
  [`POST ${C}`, {}, 'MISSING_FIELD', 'type'],
  [`POST ${C}`, { type: 'INDIVIDUAL', organization: {} }, 'INVALID_FIELD', 'organization'],
  [`POST ${C}`, { type: 'INDIVIDUAL', seller_details: {} }, 'INVALID_FIELD', 'seller_details'],
  [`POST ${C}/{other}/forget`, null, 'INVALID_OPERATION', 'status'],
  // Moving all subscriptions of a version; more are in version-migrations.it.test.ts
  [`POST ${V}/{version}/migrate`, { pricing_plan_version_id: '{version}' }, 'INVALID_FIELD', 'pricing_plan_version_id'],
  [`POST ${V}/{unknown}/migrate`, { pricing_plan_version_id: '{version}' }, 'RESOURCE_NOT_FOUND'],
  [`POST ${V}/{cardVersion}/migrate`, { pricing_plan_version_id: '{version}' }, 'INVALID_OPERATION'],
  ['GET /v1/pricing-plan-version-migrations/{unknown}', null, 'RESOURCE_NOT_FOUND'],
]
