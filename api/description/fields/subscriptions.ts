// Fields of subscriptions and schedules.
const ACCEPTORS =
  'Ids of the payment acceptors by which its invoices can be paid. Empty: all that are ACTIVE of its billing entity.'
const VARIANT =
  'FORWARD_BILLING: another customer gets the invoices. SELF_BILLING: the billing entity issues them in the name of the customer, who sells. SELLER: it is billed for a seller. Default DEFAULT.'
const OWN_PRICES =
  'Prices of this schedule alone, without a plan or on top of its version. The list is replaced as a whole; what is sent with its id keeps it. Only while the schedule is DRAFT.'

export const SUBSCRIPTIONS: Readonly<Record<string, string>> = {
  billing_time:
    'CALENDAR: periods align to months, quarters and years. EXACT: they count from `billing_anchor`. Default CALENDAR.',
  billing_anchor:
    'The billing day of an EXACT subscription: its periods count from this day in its time zone. Default: the start of its first schedule.',
  realign_invoice_date_to_pricing_plan_schedule_start_at:
    'Of an EXACT subscription: whether billing periods count from the start of the schedule on. The period before it is prorated. Default false.',
  upgraded_from_pricing_plan_subscription_id:
    'Id of the subscription whose place this one takes: that one ends when this one starts.',
  upgraded_to_pricing_plan_subscription_id: 'Id of the subscription that takes the place of this one.',
  'PlatformDefaultPricingPlanSubscriptionSettings.payment_acceptor_ids':
    'Ids of the payment acceptors of new subscriptions. Subscriptions of another billing entity start without any.',
  'PricingPlanSubscription.payment_acceptor_ids': ACCEPTORS,
  'PricingPlanSubscriptionCreate.payment_acceptor_ids': ACCEPTORS,
  'PricingPlanSubscriptionUpdate.payment_acceptor_ids': ACCEPTORS,
  'PricingPlanSubscriptionInit.payment_acceptor_ids': ACCEPTORS,
  'PricingPlanSubscriptionInitCreatePricingPlanSubscription.payment_acceptor_ids': ACCEPTORS,
  payment_acceptors: 'The payment acceptors of the subscription. Included by `expand[]=payment_acceptors`.',
  template: 'Only of a TEMPLATE: what `init` does with it.',
  allow_promotion_codes:
    'How many promotion codes a customer may use who chooses on top of the template: NONE, or SINGLE for one. Null: any number.',
  apply_billing_entity_selector:
    'Whether `init` chooses the billing entity by the country of the customer and the currency, where the call names none. Default false.',
  activated_at: 'When it became ACTIVE. Null: it has not been.',
  billing_entity_reference: 'Reference of the billing entity.',
  'PricingPlanSchedulePricingPlanVersionSelector.pricing_plan_reference': 'Reference of the plan.',
  pending_review_pricing_plan_schedule_ids: 'Ids of the schedules that are pending review, in the order of time.',
  approval_status:
    'How the last approval request of the schedule stands. PENDING_REVIEW: it stays as it is until it is decided or cancelled. Null: its activation needed no approval.',
  'PricingPlanSchedule.pricing_categories':
    'The prices that the schedule has without a plan, or on top of one, grouped by product category. Where one schedule is read, also those that it has instead of prices of its version.',
  'PricingPlanScheduleCreate.pricing_categories': OWN_PRICES,
  'PricingPlanScheduleUpdate.pricing_categories': OWN_PRICES,
  'PricingCategoryOfSchedule.pricings': 'The pricings of the category that are in no group.',
  'PricingGroupOfSchedule.pricings': 'The pricings of the group.',
  'PricingPlanSubscriptionInitCreate.enabled_pricings': 'ADDON pricings of the first schedule. Not with a template.',
  'PricingPlanSubscriptionInit.enabled_pricings':
    'The ADDONs and the pricings of groups that the first schedule sells.',
  'PricingPlanSubscription.variant': VARIANT,
  'PricingPlanSubscriptionCreate.variant': VARIANT,
  next_invoice: 'The invoice of the subscription that becomes FINAL first. Null: none is OPEN or DRAFT.',
  'NextInvoice.invoice_id': 'Id of the invoice.',
  'NextInvoice.invoice_date': 'Its date so far. Null: it is dated when it becomes FINAL.',
  'PricingPlanSubscription.forward_customer':
    'The customer that gets the invoices. Included by `expand[]=forward_customer`.',
  forward_customer_id: 'Of FORWARD_BILLING: id of the customer that gets the invoices, is taxed and pays.',
  seller_details: 'Of SELLER: the seller that is billed for.',
  seller_customer_id: 'Id of the seller: a customer with the role SELLER.',
  due_date_configuration: 'How long after its date an invoice is due.',
  'PricingPlanSubscriptionDueDateConfiguration.period': 'The time from the invoice date to the due date.',
  init_invoice_on_hold: 'Whether invoices are made on hold, and become FINAL only after release. Default false.',
  combine:
    'Whether its invoices are issued together with those of the customer’s other subscriptions that combine. Default false.',
  purchase_order_number: 'Your customer’s order number, printed on invoices.',
  replicate_meter_data_ingest_to_parent:
    'Whether usage of this subscription is billed to the customer’s parents as well. Default false.',
  display_invoice_sub_lines_per_processing_only_customer:
    'Whether usage lines show a sub line for each customer whose events they contain. It changes no amount. Default false.',
  inactive_periods: 'When the subscription bills nothing.',
  refund_advance_charges:
    'Whether what was charged ahead is credited for the days that are left, on the last invoice. Default false.',
  initial_term: 'For how long the subscription was agreed, from the start of its first schedule. Default: it runs on.',
  renewal_term: 'For how long it is renewed each time. Default: as long as the initial term.',
  auto_renewal:
    'Whether the subscription is renewed at the end of each term. When false it ends with the term that runs. Default true.',
  'PricingPlanSubscriptionInitCreate.template_pricing_plan_subscription_id':
    'Id of the ACTIVE subscription of type TEMPLATE that this one is made from.',
  pricing_plan_subscription_start_at:
    'When the first schedule starts; those after it follow at the same distance. Default: now.',
  'PricingPlanSubscriptionInit.pricing_plan_subscription_start_at': 'When the first schedule starts.',
  'PricingPlanSubscriptionInitCreate.customer': 'A new customer, created with the subscription. Not with a template.',
  pricing_plan_subscription: 'The subscription.',
  'PricingPlanSubscriptionInitCreate.pricing_plan_subscription': 'The subscription in full. Not with a template.',
  pricing_plan_schedules: 'The schedules of the subscription, in order.',
  'PricingPlanSubscriptionInitCreate.pricing_plan_schedules':
    'The schedules in order. One without `start_at` starts where the one before it ends. Not with a template.',
  pricing_plan_subscription_group_id: 'Id of the group that the subscription is in. It is in one at most.',
  'PricingPlanSubscriptionGroup.pricing_plan_subscription_ids': 'Ids of the subscriptions of the group.',
  'PricingPlanSubscriptionGroupCreate.pricing_plan_subscription_ids': 'Ids of the subscriptions to put into the group.',
  'PricingPlanSubscriptionGroupUpdate.pricing_plan_subscription_ids':
    'Ids of all subscriptions that the group has then.',
  'PricingPlanSubscriptionGroup.owner_customer': 'The owner. Included by `expand[]=owner_customer`.',
  owner_customer_id:
    'Id of the customer whose subscriptions, and those of its children, the group is for. Null: of any.',
  default_pricing_plan_subscription_settings:
    'What a new subscription has where it does not say otherwise. Copies and subscriptions from a template have what the original has.',
  entitlements_summary:
    'What the customer is entitled to now. Null for callers without the permission to view customers.',
  'PricingPlanSubscriptionInit.variant': VARIANT,
  'PricingPlanSubscriptionInitCreate.variant': VARIANT,
  'PricingPlanSubscriptionInitCreatePricingPlanSubscription.variant': VARIANT,
  pricing_plan_schedule_infos: 'The schedules of the subscription, in order.',
  override_pricings:
    'Prices of the schedule instead of those of its plan version. A change names what it changes: overrides that it does not name stay.',
  original_pricing_id: 'Id of the pricing of the plan version.',
  original_pricing_item_id: 'Id of the item of the plan version.',
  original_pricing_item_config_id: 'Id of the config of the plan version.',
  'OverridePricing.override':
    'SPECIFIC, the default, changes the prices that are named; ALL restates all of them, so that what it leaves out is not charged.',
  'OverridePricingItem.override': 'As `override` of the pricing, for this item; absent for the same.',
  'OverridePricing.items': 'What is overridden of the pricing. Without items, the override is taken back.',
  'OverridePricingItem.configs': 'The prices of the item. Without any, the override of the item is taken back.',
  'OverridePricing.name': 'What invoices call the pricing instead.',
  is_overridden: 'Whether the schedule has this price by its `override_pricings`.',
  combined_pricing_plan_version:
    'The plan version with the `override_pricings` of the schedule and its own prices merged into it, where `include_combined_pricing_plan_version` is true. Absent without a plan.',
  indexing_settings: 'By how much prices rise or fall; of a copy, of everything that has no settings of its own.',
  'IndexingSettings.percentage': 'By how many per cent; `"3.5"` is a rise of 3.5 %, and a negative one is a fall.',
  'IndexingSettings.rounding_mode':
    'DECIMALS rounds to `number_of_decimals`, PRESERVE_SCALE to as many places as the price has; absent for no rounding.',
  number_of_decimals: 'Places after the point, for DECIMALS.',
  'IndexingTarget.id': 'Id of what is indexed.',
  'PricingPlanScheduleCopy.pricings': 'The pricings that are indexed; when nothing is listed, everything is.',
  'PricingPlanScheduleCopy.pricing_items': 'The pricing items that are indexed, before their pricing.',
  'PricingPlanScheduleCopy.pricing_item_configs': 'The prices that are indexed, before their item and pricing.',
  pricing_plan_schedule_customizations: 'What schedules of the template are given besides.',
  'PricingPlanScheduleCustomization.pricing_plan_schedule_id': 'Id of the schedule of the template.',
  'PricingPlanScheduleCustomization.units':
    'Units of prices of the schedule; for other prices those of the template hold.',
  included_volumes:
    'How much usage prices of the schedule include, and from when to when. At other times what the price includes counts.',
  'ScheduleIncludedVolume.number': 'How many units are free, where numbers are metered; 0 for none.',
  'ScheduleIncludedVolume.amount': 'How much is free, where money is metered.',
  'ScheduleIncludedVolume.count': 'How many events are free, where money is metered.',
  'ScheduleIncludedVolume.reset_type':
    'When it is granted again; absent or null for as the price says. The same for all of one price.',
  'ScheduleIncludedVolume.start_at': 'From when on; absent or null for the start of the schedule.',
  'ScheduleIncludedVolume.end_at': 'Until when; absent or null for as long as the schedule lasts.',
  seats_values:
    'How many seats prices of PER_SEAT items charge, and from when to when. At other times the number of the price counts, or what is assigned.',
  'SeatsValue.number': 'How many seats.',
  'SeatsValue.start_at': 'From when on; absent or null for the start of the schedule.',
  'SeatsValue.end_at': 'Until when; absent or null for as long as the schedule lasts.',
  set_start_at_to_now: 'Start when the request is handled, instead of giving `start_at`.',
  units: 'How many units prices of ONE_OFF items charge, instead of their `default_units`.',
  'ScheduleUnits.number': 'How many units.',
  pricing_plan_id: 'Id of a pricing plan.',
  pricing_plan_version_id: 'Id of a pricing plan version.',
  pricing_plan_version_selector:
    'Chooses the plan version by the plan and its number. `init` chooses the LATEST of a template again.',
  'PricingPlanSubscriptionCancel.type':
    'When it ends: at once, at the end of the billing period or of the term, or on `cancel_at`. UNDO takes a pending cancellation back.',
  cancel_at: 'With a date: when the subscription ends.',
  revenue_gate: 'How much the prices of the file may change what customers pay. Planning fails when they change more.',
  'CatalogPlanned.revenue_gate':
    'What became of the limits of the revenue gate. Null: the file and the call have none.',
  simulated_amount: 'What would have been billed by the version.',
  'SimulatedCustomer.difference': 'How much more the customer would have paid; below zero: less.',
  'SimulatedInvoice.difference': 'How much more it would have been; below zero: less.',
  'SimulatedLine.difference': 'How much more it would have been; below zero: less.',
  migrated_amount: 'What the invoice becomes on the other version, before tax.',
  'MigratedSubscription.amount': 'What the invoice would be without the migration, before tax.',
  'MigratedSubscription.difference': 'How much more the invoice becomes; below zero: less.',
  'MigratedSubscription.start_at': 'When the new schedule starts.',
  'MigratedSubscription.invoice_date': 'The date of the first invoice that bills the other version.',
  'MigratedSubscription.status':
    'PREVIEWED: it can be moved. SKIPPED: it stays, such as one that ends before. ERROR: it cannot be moved.',
  'MigratedSubscription.pricing_plan_schedule_id': 'The new schedule, once it is MOVED.',
  'MigrationTotal.amount': 'What the invoices would be without the migration.',
  'MigrationTotal.difference': 'How much more the invoices become; below zero: less.',
  'PricingPlanVersionMigration.from_pricing_plan_version_id': 'The version that the subscriptions are on.',
  'PricingPlanVersionMigration.pricing_plan_version_id': 'The version that they move to.',
  'PricingPlanVersionMigrate.pricing_plan_version_id': 'The version to move to; it must be ACTIVE.',
  'PricingPlanVersionMigrate.type':
    'NEXT_BILLING_PERIOD, the default, moves each subscription at the end of its billing period. It credits what was charged beyond that, and IMMEDIATE_PRO_RATA what was charged ahead for the days left.',
  'PricingPlanVersionMigrate.start_at': 'When the subscriptions move; now by default. NEXT_BILLING_PERIOD takes none.',
  'SimulationTotal.difference': 'How much higher the revenue would have been; below zero: lower.',
}
