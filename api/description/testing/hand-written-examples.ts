// Examples of what is no resource: usage events, a preview, an invitation.

const EVENT = {
  reference: 'call-2026-01-15-0001',
  customer_reference: 'acme',
  meter_reference: 'completions',
  timestamp: '2026-01-15T09:30:00Z',
  meter_values: [{ reference: 'tokens', number: '431' }],
  meter_properties: [{ reference: 'model', value: 'large' }],
}

/** By the name of the component. */
export const HAND_WRITTEN: Readonly<Record<string, object>> = {
  MeterDataCreate: EVENT,
  MeterDataCreateList: { meter_datas: [EVENT, { ...EVENT, reference: 'call-2026-01-15-0002' }] },
  InvoicePreviewCreate: { pricing_plan_subscription_id: 'ppsu_0w4mZQ1SgqhV5Yd0CFFkZ2' },
  PricingPlanSubscriptionInitCreate: {
    template_pricing_plan_subscription_id: 'ppsu_0w4mZQ1SgqhV5Yd0CFFkZ2',
    customer_id: 'cust_0w4mZQ1SgqhV5Yd0CFFkZ2',
    status: 'ACTIVE',
  },
  PersistDataCreate: {
    customer_id: 'cust_0w4mZQ1SgqhV5Yd0CFFkZ2',
    pricing_plan_subscription_id: 'ppsu_0w4mZQ1SgqhV5Yd0CFFkZ2',
    pricing_id: 'prcg_0w4mZQ1SgqhV5Yd0CFFkZ2',
    pricing_item_id: 'prit_0w4mZQ1SgqhV5Yd0CFFkZ2',
    pricing_item_config_id: 'pric_0w4mZQ1SgqhV5Yd0CFFkZ2',
    persist_usage: '37',
    timestamp: '2026-01-15T00:00:00Z',
  },
  UserCreate: { username: 'ada@example.com', account_memberships: [{ role_ids: ['role_0w4mZQ1SgqhV5Yd0CFFkZ2'] }] },
  Money: { quantity: '12.50', currency: 'EUR' },
  BillingPeriod: { type: 'MONTH', value: 1 },
  Address: { line1: 'Keizersgracht 1', city: 'Amsterdam', postal_code: '1015 CJ', country: 'NL' },
}
