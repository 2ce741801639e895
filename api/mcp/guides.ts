// The order of steps for what people ask an agent for most: which tool, and what its body needs. `<x>` is the id that an earlier
// step answered, or a choice of the user.

export type Guide = { readonly task: string; readonly title: string; readonly steps: readonly string[] }

const MONTH = '"billing_period":{"type":"MONTH","value":1}'

const METER = [
  'meter_values_create {"reference":"tokens","name":"Tokens","type":"NUMBER","status":"ACTIVE"} → <value>',
  'meters_create {"reference":"completion","name":"Completion","status":"ACTIVE","meter_values":[{"reference":"tokens","required":true}]} → <meter>',
  'meter_value_calculations_create {"reference":"sum-of-tokens","name":"Sum of tokens","calculation_type":"SUM","meter_id":"<meter>","meter_value_id":"<value>"} → <calculation>',
]
const PLAN = [
  'products_create {"reference":"assistant","name":"Assistant","status":"ACTIVE"} → <product>',
  'product_items_create {"reference":"tokens-used","name":"Tokens used","product_id":"<product>","status":"ACTIVE","model_type":"USAGE_BASED","usage_based":{"meter_value_calculation_id":"<calculation>"}} → <item>; for a fixed fee instead: "model_type":"RECURRING" without usage_based',
  'pricing_plans_create {"reference":"basic","name":"Basic"} → <plan>',
  'pricing_plan_versions_create {"pricing_plan_id":"<plan>"} → <version>',
  `pricings_create {"pricing_plan_version_id":"<version>","name":"Basic","product_ids":["<product>"],"items":[{"product_item_ids":["<item>"],"configs":[{"pricing_type":"FLAT",${MONTH},"bands":[{"amount":{"quantity":"0.015","currency":"EUR"},"block_size":{"number":"1000"}}]}]}]}`,
  'pricing_plan_versions_update id <version> {"status":"ACTIVE"}; from then on it cannot change',
]
const SUBSCRIBE = [
  'billing_entities_create {"reference":"ourselves","legal_name":"Ourselves B.V.","registered_address":{"country":"NL"}} → <entity>; or billing_entities_list for one there is',
  'customers_create {"reference":"acme","type":"ORGANIZATION","status":"ACTIVE","organization":{"legal_name":"Acme B.V.","registered_address":{"country":"NL"}}} → <customer>',
  `pricing_plan_subscriptions_create {"reference":"acme-basic","customer_id":"<customer>","billing_entity_id":"<entity>","billing_currency":"EUR",${MONTH},"billing_time":"CALENDAR"} → <subscription>`,
  'pricing_plan_schedules_create {"pricing_plan_subscription_id":"<subscription>","pricing_plan_version_id":"<version>","start_at":"2026-01-01T00:00:00Z","pricing_currency":"EUR"}',
]
const SEND =
  'events_ingest_list {"meter_datas":[{"reference":"req-1","customer_reference":"acme","meter_reference":"completion","timestamp":"2026-01-15T10:00:00Z","meter_values":[{"reference":"tokens","number":"3450"}]}]}; a reference sent again is not counted again'
const PREVIEW =
  'invoices_preview {"pricing_plan_subscription_id":"<subscription>"}; stores nothing; amounts are in invoice'
const ACTIVATE =
  'pricing_plan_subscriptions_update id <subscription> {"status":"ACTIVE"}; activates its schedules and starts billing'

/** The ten commonest tasks. */
export const GUIDES: readonly Guide[] = [
  {
    task: 'meter_to_preview',
    title: 'Start from nothing: a meter, a plan, a subscription, events and a preview',
    steps: [...METER, ...PLAN, ...SUBSCRIBE, SEND, PREVIEW, ACTIVATE],
  },
  { task: 'define_meter', title: 'Define what is measured', steps: METER },
  {
    task: 'make_plan',
    title: 'Make a plan and its prices, or a new version of one',
    steps: [
      ...PLAN,
      'For tiers: "pricing_type":"TIERED" (each unit at its tier’s price), "TOP_TIERED" (all at the tier reached) or "STAIR_STEP" (one fixed_amount for the tier reached), one band a tier, each but the last with "tier_top_bound":{"number":"1000"}',
    ],
  },
  { task: 'subscribe_customer', title: 'Put a customer on a plan', steps: [...SUBSCRIBE, PREVIEW, ACTIVATE] },
  {
    task: 'send_usage',
    title: 'Send usage events',
    steps: [SEND, 'events_list customer_id <customer>: processed_details says whether each is billed'],
  },
  {
    task: 'preview_invoice',
    title: 'See what a customer will be billed',
    steps: ['pricing_plan_subscriptions_list customer_id <customer> → <subscription>', PREVIEW],
  },
  {
    task: 'explain_event',
    title: 'Find out why an event is not billed',
    steps: [
      'events_event_trace_read id <event id or reference>',
      'meter_data.processed_details.not_matched.variant is the reason; put right what it names: customers_activate, a schedule for the time, a price for the meter',
    ],
  },
  {
    task: 'correct_usage',
    title: 'Correct or delete a wrong event',
    steps: [
      'events_get id <reference>: what it is now',
      'events_amend id <reference> {"meter_values":[{"reference":"tokens","number":"3400"}],"reason":"…"}, or events_delete id <reference>',
      'invoices_refresh id <invoice> {"types":["FULL"]} for an OPEN or DRAFT invoice; a FINAL one never changes',
    ],
  },
  {
    task: 'change_price',
    title: 'Change the price of customers who are subscribed',
    steps: [
      'pricing_plan_versions_create {"pricing_plan_id":"<plan>"} → <version>; its prices as in make_plan',
      'pricing_plan_versions_update id <version> {"status":"ACTIVE"}',
      'pricing_plan_schedules_create set_previous_end_at true {"pricing_plan_subscription_id":"<subscription>","pricing_plan_version_id":"<version>","start_at":"<first of a period>","pricing_currency":"EUR"} → <schedule>',
      PREVIEW,
      'pricing_plan_schedules_activate id <schedule>',
    ],
  },
  {
    task: 'cancel_subscription',
    title: 'Cancel a subscription',
    steps: [
      'pricing_plan_subscriptions_cancel id <subscription> {"type":"NOW"} with dry_run true: show your user what would change',
      'The same without dry_run. Types: NOW, NEXT_BILLING_PERIOD, AFTER_INITIAL_TERM, DATE with cancel_at, UNDO',
    ],
  },
]

/** How a step is read and called. */
export const GUIDE_NOTE =
  'Each step is a tool, its arguments, and its body in braces. Call it with call_read_tool or call_write_tool, the body as `body`. ' +
  'Names, currencies and times are examples; money and quantities are texts. describe_tool has the other fields.'
