// Fields of products, features, plans and prices.

const SHOWN_OVERRIDE =
  'Of what a schedule overrides: ALL of it, or SPECIFIC prices. Taken where it is sent back, and not read.'
const TAX =
  'STANDARD: taxed by the rules of the countries. NO_TAX and EXEMPT: without tax. Null: the platform’s default.'
const PLAN_VARIANT =
  'DEFAULT: a schedule keeps the version it is on. RATE_CARD: it is priced at each moment by the version in force then.'
const ONE_CUSTOMER =
  'Id of the only customer it is for. What is in it, and the plan that prices it, is for the same customer. It never changes.'
const ONE_SELLER =
  'Id of the only billing entity that sells the product: subscriptions and invoices of others are refused it. Null (the default): all sell it.'
const PRICED = 'Ids of the products that are priced.'

export const CATALOG: Readonly<Record<string, string>> = {
  tax_category: TAX,
  'InvoiceTaxCategory.category': 'The tax category: STANDARD, NO_TAX or EXEMPT.',
  product_type:
    'DEFAULT: every schedule on the plan sells it. ADDON: only those that enable it. A pricing that does not say is what its first product is.',
  parent_product_id: 'Id of the product that it belongs to.',
  'Product.features': 'The features that the product has.',
  'ProductCreate.features': 'The features that the product has, each by id, by reference or by both.',
  'ProductUpdate.features': 'The features that the product has, each by id, by reference or by both.',
  'Product.parent_product': 'The product that it belongs to, when it is expanded.',
  'FeatureReference.id': 'Id of the feature.',
  'FeatureReference.reference': 'Its reference.',
  'PricingGroup.product_type':
    'How clients show the group: DEFAULT, as part of the plan; ADDON, as an extra. Prices do not depend on it.',
  'PricingGroupCreate.product_type':
    'How clients show the group: DEFAULT (the default), as part of the plan; ADDON, as an extra. Prices do not depend on it.',
  'PricingGroupUpdate.product_type': 'How clients show the group: DEFAULT, as part of the plan; ADDON, as an extra.',
  'PricingGroup.name': 'What customers see. The groups of one version have different names.',
  'PricingGroupCreate.name': 'What customers see. The groups of one version have different names.',
  'PricingGroupUpdate.name': 'What customers see. The groups of one version have different names.',
  'PricingGroup.pricings': 'The pricings in the group.',
  selection_constraint:
    'How many pricings of the group a schedule enables at any time: ANY number (the default), AT_LEAST_ONE, AT_MOST_ONE or EXACTLY_ONE.',
  pricing_group_id:
    'Id of the pricing group that the pricing is in, of the same version. It is then sold only by the schedules that enable it. Null: none.',
  pricing_groups: 'The pricing groups of the category, each with its pricings, which are not in `pricings`.',
  enabled_pricings:
    'The ADDONs and the pricings of pricing groups that the schedule sells, and when. One that is not listed is not sold.',
  'EnabledPricing.pricing_id': 'Id of a pricing of the plan version: an ADDON, or one in a pricing group.',
  'EnabledPricing.start_at': 'From when on; absent: from the start of the schedule.',
  'EnabledPricing.end_at': 'Until when, exclusive; absent: until the schedule ends.',
  model_type:
    'USAGE_BASED: measured by a calculation. USAGE_BASED_CONVERSION: measured too, and turned into credits. RECURRING: once a billing period. ONE_OFF: once, at the start of the schedule. ' +
    'PER_SEAT: each billing period, by the number of seats.',
  usage_based: 'With USAGE_BASED and USAGE_BASED_CONVERSION: what measures the item.',
  report_meter_value_calculation_ids: 'Ids of calculations that invoice lines show beside what they bill.',
  unit_name: 'What one unit is called on invoices, such as "token" and "tokens".',
  singular: 'For one unit.',
  plural: 'For other numbers of units.',
  'ProductItemUsageBased.conditions': 'Which events count for the item. Null: all.',
  // Features and entitlements
  'Feature.type': 'What an entitlement to it holds.',
  'FeatureCreate.type': 'What an entitlement to it holds. It never changes.',
  feature_id: 'Id of a feature.',
  feature_reference: 'Reference of the feature.',
  entitlements: 'What is granted, one entry for each feature.',
  override: 'Whether this takes the place of other grants of the same subscription instead of adding to them.',
  overwrite: 'The same as `override`.',
  switch: 'For a SWITCH: whether it is on.',
  enum: 'For an ENUM: one of the feature’s `enum_values`.',
  string: 'For a STRING: the text.',
  enums: 'For an ENUM: the values granted.',
  strings: 'For a STRING: the texts granted.',
  pricing_plan_subscription_entitlements: 'What each subscription grants by itself.',
  // Plans and prices
  amount_type: 'Whether prices are without tax (EXCLUDING_TAX, the default) or contain it.',
  'PricingPlan.variant': PLAN_VARIANT,
  'PricingPlanCreate.variant': PLAN_VARIANT,
  'PricingPlanUpdate.variant': 'It never changes.',
  rate_card: 'Of a version of a rate card: when it comes into force.',
  'RateCard.start_at':
    'From when on the version prices the schedules of its plan, until the next version comes into force. The local day that it falls on ' +
    'is the first that the version prices.',
  'PricingPlan.type': 'STANDARD: for every customer. CUSTOM: for one.',
  'PricingPlanCreate.type': 'STANDARD (the default): for every customer. CUSTOM: for one. It never changes.',
  'PricingPlanUpdate.type': 'It never changes.',
  'ProductCategory.customer_id': 'Of a private category: id of the only customer it is for.',
  'ProductCategoryCreate.customer_id': ONE_CUSTOMER,
  'Product.customer_id': 'Of a private product: id of the only customer it is for.',
  'ProductCreate.customer_id': ONE_CUSTOMER,
  'Product.billing_entity_id':
    'Of a product that one billing entity alone sells: id of that. Null: every billing entity sells it.',
  'ProductCreate.billing_entity_id': `${ONE_SELLER} It changes only while the product is DRAFT.`,
  'ProductUpdate.billing_entity_id': `${ONE_SELLER} It changes only while the product is DRAFT.`,
  'ProductItem.customer_id': 'Of a private item: id of the only customer it is for.',
  'ProductItemCreate.customer_id': ONE_CUSTOMER,
  'PricingPlan.customer_id': 'Of a CUSTOM plan: id of the customer it is for.',
  'PricingPlanCreate.customer_id':
    'With CUSTOM: id of the customer it is for. No other customer can have a schedule on it.',
  'PricingPlanUpdate.customer_id': 'It never changes.',
  pricing_plan_version_infos: 'The versions of the plan, newest first.',
  pricing_plan_ids:
    'Ids of the plans, lowest tier first, at most 100. A plan is in one group at most, unless the other is ARCHIVED.',
  upgrade_type:
    'What a move to a plan further up the list does. IMMEDIATE: starts now. IMMEDIATE_PRO_RATA (the default): starts now, credits the ' +
    'rest of what was charged in advance and charges the rest of the new price. NEXT_BILLING_PERIOD: starts at the next invoice ' +
    'date, and credits what was charged beyond it. NOT_ALLOWED: is refused.',
  downgrade_type:
    'What a move to a plan further down the list does: one of the values of `upgrade_type`, NEXT_BILLING_PERIOD by default.',
  version: 'The number of the version, from 1.',
  'PricingPlanVersionUpsert.version':
    'The number of a DRAFT, or the next one. Left out: the newest DRAFT, else the next number.',
  pricing_categories: 'The prices of the version, grouped by product category.',
  'PricingPlanVersion.credit_types': 'The credit types that its prices are in, sell, or grant, by reference.',
  'PricingItem.override': SHOWN_OVERRIDE,
  'PricingOfSchedule.override': SHOWN_OVERRIDE,
  'PricingItem.product_items': 'The product items that are priced, when they are expanded.',
  product_category_id: 'Id of a product category. Null: products without one.',
  pricing_currency_settings:
    'The currencies that the version is sold in. Left out: those that its prices name. Each pricing must have a price in each of them ' +
    'before the version can be ACTIVE.',
  'PricingCurrencySettings.': 'The currencies that a version is sold in.',
  pricing_currencies: 'The currencies that the version is sold in.',
  'PricingPlan.pricing_currencies': 'The currencies that ACTIVE versions of the plan are sold in.',
  default_pricing_currency: 'The currency that is offered first. Left out: the first of `pricing_currencies`.',
  billing_period_settings:
    'The billing periods that the version is sold by. Left out: those that its prices name, and any where none does. Each pricing must ' +
    'have a price for each of them before the version can be ACTIVE.',
  'BillingPeriodSettings.': 'The billing periods that a version is sold by.',
  billing_periods: 'The billing periods; the first is offered first.',
  'BillingPeriodOption.': 'A billing period that a version is sold by.',
  'BillingPeriodOption.period': 'How long it is.',
  'BillingPeriodOption.description': 'What it is called where it is offered.',
  pricing_currency_configs:
    'The prices by pricing currency, in place of `configs`. The schedule decides which apply: by its `pricing_currency`, and by its ' +
    '`billing_period` or that of its subscription.',
  'PricingItemPricingCurrencyConfig.': 'The prices of an item in one currency.',
  'PricingItemPricingCurrencyConfig.currency': 'The pricing currency of the schedules that these prices are for.',
  'PricingItemPricingCurrencyConfig.configs': 'The prices in this currency, for every billing period.',
  fallback_currency:
    'The currency of another entry whose prices apply where this one has none for a billing period. They are converted at the exchange ' +
    'rates of the platform; a schedule is not activated without a rate.',
  billing_period_configs: 'The prices by billing period, in place of `configs`.',
  'PricingItemBillingPeriodConfig.': 'The prices of an item for one billing period.',
  'PricingItemBillingPeriodConfig.billing_period': 'The billing period; 12 MONTH and 1 YEAR are the same.',
  'PricingItemBillingPeriodConfig.configs': 'The prices for this billing period.',
  'PricingPlanVersionCalculate.pricing_currency':
    'The currency to calculate in. Left out: the one that the version offers first.',
  pricing_plan_selection_rules:
    'Which customers the plan is offered to; all rules must hold. A schedule of another customer is refused.',
  'SelectionRule.': 'A rule on the customers that a plan is offered to.',
  'SelectionRule.type': 'RESOURCE: a rule on a field of the customer.',
  'SelectionRule.resource': 'What must hold of the customer.',
  'SelectionRuleResource.': 'What must hold of the customer.',
  'SelectionRuleResource.type': 'CUSTOMER.',
  'SelectionRuleResource.field':
    'COUNTRY: of the registered address of an organization, or the residential address of an individual.',
  'SelectionRuleResource.comparator':
    'EQUALS and NOT_EQUALS compare with `value`, IN and NOT_IN with `values`; EMPTY and NOT_EMPTY ask whether a country is known.',
  'SelectionRuleResource.value': 'With EQUALS and NOT_EQUALS: the country.',
  'SelectionRuleResource.values': 'With IN and NOT_IN: the countries.',
  items: 'What the pricing prices, at most 200 items.',
  'PricingItem.': 'The prices of one product item.',
  configs: 'The prices. Of several, the first by `order` whose conditions hold takes the event.',
  'PricingItemConfig.': 'One price: its type, its bands, and how often it is billed.',
  pricing_type:
    'How usage becomes an amount. FLAT: each unit at one price. TIERED: each unit at the price of its tier. TOP_TIERED: all units at ' +
    'the price of the tier reached. STAIR_STEP: one amount for the tier reached. FLAT_TOP_UP, TIERED_TOP_UP and STAIR_STEP_TOP_UP: ' +
    'whole blocks or steps, bought as usage reaches them. PASS_THROUGH: metered money as it is. FIXED: one amount a period. ' +
    'NONE: no charge. FLEXIBLE is for on-demand charges only.',
  'PricingItemConfig.type': 'The same as `pricing_type`, under its other name.',
  'OverridePricingItemConfig.type': 'The same as `pricing_type`, under its other name.',
  bands: 'The tiers, lowest first. FLAT and FIXED have one.',
  'PricingBand.': 'One tier of a price.',
  'PricingBand.amount': 'The price of one unit, or of one block of `block_size` units.',
  fixed_amount: 'An amount added once when the tier is used.',
  'PricingBand.percentage': 'For metered money: the share that is charged, in percent.',
  minimum_amount: 'The least that is charged for the tier.',
  maximum_amount: 'The most that is charged for the tier.',
  minimum_number: 'The fewest units that are charged.',
  maximum_number: 'The most units that are charged.',
  block_size:
    'How many units one price is for. Part of a block costs its share, except in the TOP_UP types and with `block_rounding`.',
  top_up: 'With a TOP_UP type: what becomes of the unused rest of the last block.',
  'PricingTopUp.': 'What becomes of the unused rest of the last block.',
  rollover: 'Whether the rest serves the next pricing period of the schedule; else it is lost, which is the default.',
  step_accumulation:
    'With STAIR_STEP: NONE charges the fee of the step reached (the default), STEPS_REACHED the fees of all steps up to it.',
  block_rounding:
    'With FLAT, TIERED and TOP_TIERED: what a part of a block costs. NONE: its share (the default). UP: as much as a whole block. ' +
    'DOWN: nothing. HALF_UP: as much as a whole block from its half on.',
  rate_per:
    'PERIOD (the default) prices the usage of a pricing period together. EVENT prices each event on its own, with its tiers, fees ' +
    'and limits, and adds them up.',
  default_included_volume: 'Usage that is free, taken off before the tiers begin. Null: none.',
  'PricingDefaultIncludedVolume.': 'Usage that is free, taken off before the tiers begin.',
  'PricingDefaultIncludedVolume.number': 'Free units, where numbers are metered.',
  'PricingDefaultIncludedVolume.amount': 'Free money, where money is metered.',
  'PricingDefaultIncludedVolume.count':
    'Free events, where money is metered: they are left out of the price for each event.',
  reset_type:
    'When the volume is granted anew and the unused rest is lost: each BILLING_PERIOD (the default; a partial one has its part by ' +
    'days), each PRICING_PERIOD, or once for the whole SCHEDULE. With `top_up.rollover` the rest is added to the next grant.',
  tiering_conditions: 'Which events decide on the tier: an expression. Null: the usage that is billed.',
  'TieringConditions.name': 'What the conditions are called.',
  'TieringConditions.expression': 'What must hold of an event that counts for the tier.',
  volume_group_reference:
    'Prices of a version with the same text find their tier by what they use together; each pays its share of every band.',
  split_pricing:
    'The properties whose values are priced apart: tiers, minimums, blocks and what is included start anew for each combination. ' +
    'Null: usage is priced together.',
  'SplitPricing.meter_properties': 'One to five properties that the meter requires, each by its id or its reference.',
  tiering_meter_value_calculation_id:
    'Id of the calculation that decides on the tier of prices with tiers, where that is another than the one that is billed.',
  'ProductItemUsageBased.tiering_meter_value_calculation':
    'The calculation that decides on the tier, when it is expanded.',
  wallet_grants: 'Rules by which each charge of the price grants to a wallet of the customer. Null: none.',
  'PricingItemConfigWalletGrant.wallet_type_id':
    'The type of the wallet; the wallet is made where the customer has none.',
  'PricingItemConfigWalletGrant.wallet_type': 'The wallet type, when it is expanded.',
  'PricingItemConfigWalletGrant.source':
    'Of a PER_SEAT item. PER_SEAT: a fixed number of credits for each assignment, by its share of the period, for its occupant alone. ' +
    'SEAT_POOL (the default): a fixed quantity for each paid seat, for all together.',
  'PricingItemConfigWalletGrant.amount_grant': 'For wallets of money: an amount, or a percentage of the price.',
  'PricingItemConfigWalletGrant.credits_grant':
    'For wallets of credits: a number of credits, or a conversion of what is paid.',
  'PricingItemConfigWalletGrantAmountGrant.amount': 'The amount granted; on a ONE_OFF item priced FLAT, for each unit.',
  'PricingItemConfigWalletGrantAmountGrant.percentage': 'The percentage of the price that is granted: "10" is 10 %.',
  'PricingItemConfigWalletGrantCreditsGrant.credits':
    'The credits granted; on a ONE_OFF item priced FLAT, for each unit.',
  'PricingItemConfigWalletGrantCreditsGrant.conversion':
    'How many credits one unit of money that is paid gives: a rate, alone or with its credit type. 5.00 at a rate of 10 gives 50.',
  'WalletGrantConversion.rate': 'How many credits one unit of money gives.',
  'WalletGrantConversion.credit_type_id': 'Id of the credit type; null: that of the wallet type.',
  'PricingItemConfigWalletGrant.expiry_policy': 'When what is granted expires. Null: never.',
  'PricingItemConfigWalletGrantExpiryPolicy.expiry_period': 'How long after its start a grant expires.',
  'ProductItemCredits.credit_type': 'The credit type, when it is expanded.',
  default_units: 'Of a ONE_OFF item that is priced FLAT: how many units are sold. Only `number`. Null: 1.',
  default_seats_value: 'Of a PER_SEAT item: how many seats are charged. Only `number`. Null: those that are assigned.',
  on_demand:
    'Of a ONE_OFF item: the billing periods never charge it; only a charge on demand does, by itself. A FLEXIBLE price needs it.',
  tier_top_bound: 'The end of the tier, inclusive: what is metered, or a number of events. Null on the last tier.',
  'PricingItemConfigMeterValue.':
    'A size of a block, a bound of a tier, or a number of units or seats. One of its members is given.',
  'PricingItemConfigMeterValue.number': 'Units or seats; as the size of a block of metered money, events.',
  'PricingItemConfigMeterValue.amount':
    'Money, where money is metered: `amount` of the band is then the price of a block of so much.',
  'PricingItemConfigMeterValue.count':
    'Events: as a bound, the tier is found by how many events there were. All bands of a price have the same kind of bound.',
  'PricingItemConfig.order': 'Which of several prices is tried first; the lowest.',
  billing_in_advance: 'Whether a recurring price is billed at the start of its period. Default false.',
  billing_period: 'How often it is billed. Null: every billing period of the subscription.',
  pricing_period: 'The span that prices and tiers apply to. Null: the billing period.',
  'PricingItemConfig.conditions': 'Which usage the price is for. Null: usage that no other price of the item takes.',
  'Pricing.product_ids': PRICED,
  'PricingCreate.product_ids': PRICED,
  'PricingUpdate.product_ids': PRICED,
  product_id: 'Id of a product.',
  pricing_item_id: 'Id of the item of the pricing.',
  pricing_item_config_id: 'Id of the price.',
  pricing_id: 'Id of the pricing.',
  'PricingCategory.pricings': 'The pricings of the category.',
  // Prices that are tried and drawn
  value_type: 'Of a price that is sent: whether numbers or money are metered. Default NUMBER.',
  pricing_item_config: 'A price to try, as `configs` of a pricing takes it.',
  tiering_number: 'The quantity that decides on the tier, where that is other usage.',
  rollover_number: 'Units that were bought before and are left.',
  billable_meter_value: 'The quantity after what is included.',
  calculations: 'What each quantity costs, in the order of the request.',
  rounded_amount: 'The amount, rounded to the currency.',
  'Calculation.amount': 'What the quantity costs, exactly.',
  'Calculation.bands': 'What each band charges, lowest first. Their amounts sum to the amount.',
  'CalculatedBand.amount': 'What the band charges, exactly.',
  'Calculation.credits': 'What the quantity costs, exactly, where the price is in credits.',
  'CalculatedBand.credits': 'What the band charges, exactly, where the price is in credits.',
  'PriceCalculation.credit_type_id': 'Id of the credit type of a price in credits, which has no currency.',
  'PriceCurve.credit_type_id': 'Id of the credit type of a price in credits, which has no currency.',
  'CurvePoint.credits': 'What is charged, exactly, where the price is in credits.',
  'CalculatedBand.band': 'The band as the price has it.',
  'CalculatedBand.meter_value': 'The part of the quantity that the band prices.',
  'Calculation.meter_value': 'The quantity.',
  'PriceQuantity.number': 'A quantity of metered numbers; of a FLEXIBLE price the amount that is chosen.',
  'PricingPlanVersionSimulation.max_revenue_change':
    'How many percent the total of any currency may rise or fall. Null: any change.',
  'PricingPlanVersionSimulation.max_customer_increase': 'How many percent more any customer may pay. Null: any rise.',
  'SimulatedCustomer.amount': 'What was billed.',
  'SimulatedInvoice.amount': 'What was billed.',
  'SimulatedLine.amount': 'What was billed.',
  'SimulationTotal.amount': 'What was billed.',
  'PriceQuantity.amount': 'A sum of metered money.',
  'PriceQuantity.count': 'How many events the money is of.',
  'VersionQuantity.number': 'A quantity of metered numbers, in each pricing period.',
  'VersionQuantity.amount': 'A sum of metered money, in each pricing period.',
  'VersionQuantity.count': 'How many events the money is of.',
  'PriceCalculate.meter_values':
    'The quantities to price, at most 100. A price that does not depend on usage needs none.',
  'ImaginedCustomer.country': 'Where the customer is: it decides on the tax.',
  'ImaginedCustomer.type': 'Whether the customer is an ORGANIZATION (the default) or an INDIVIDUAL.',
  'PriceCurve.product_item_id': 'Id of the product item that is priced.',
  'PricingPlanVersionCalculation.invoices': 'What is billed ahead at the start of the period, and what at its end.',
  curves: 'One for each price of the version.',
  pieces: 'Straight pieces from 0 on, in order.',
  'CurvePiece.from': 'Where the piece starts: just beyond this quantity, unless it is the first.',
  'CurvePiece.to': 'Where the piece ends, inclusive.',
  'CurvePiece.kind': 'LINE: the piece starts where the one before it ends. STEP: the charge jumps at its start.',
  'CurvePiece.bands': 'The bands that charge in the piece, by their index.',
  price_bounds: 'The limits of the bands that hold in the piece.',
  charge: 'What is charged, exactly.',
  'CurvePoint.number': 'The quantity.',
  'CurvePoint.amount': 'The quantity, where money is metered.',
}
