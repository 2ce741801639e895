// Wire shapes of the lines of invoices, and of how their amounts came about. `proration`, `pricing_scale`,
// `previously_billed`, `persisted_usage` and `late_for_invoice_id` are additions of Millrace, so that every figure that
// led to an amount is shown.
import Type from 'typebox'
import { LINE_KINDS } from '../../../../shared/billing/steps/line.ts'
import { OneOf, Optional, TaxCategory } from '../../../resource/shapes.ts'
import { Comparator } from '../../catalog/conditions/schema.ts'
import { Credits, WalletBalanceValue } from '../../catalog/credit-types/schema.ts'
import { ModelType } from '../../catalog/products/schema.ts'

export const Text = Type.String()
export const Money = Type.Object({ quantity: Text, currency: Text })
const Quantity = Type.Object(
  { number: Optional(Text), amount: Optional(Money), count: Optional(Text) },
  { title: 'InvoiceBlockSize' },
)
export const TextOrNull = Type.Union([Text, Type.Null()])
const Conditions = Type.Object({
  name: TextOrNull,
  meter_properties: Type.Array(
    Type.Object({
      id: Text,
      reference: Text,
      comparator: Comparator,
      value: TextOrNull,
      values: Type.Union([Type.Array(Text), Type.Null()]),
      meter_property_variable_id: TextOrNull,
    }),
  ),
})
export const BandDetails = Type.Object(
  {
    amount: Optional(Money),
    percentage: Optional(Text),
    /** For a price in credits, in place of an amount. */
    credits: Optional(Credits),
    fixed_amount: Optional(Money),
    minimum_amount: Optional(Money),
    maximum_amount: Optional(Money),
    minimum_number: Optional(Text),
    maximum_number: Optional(Text),
    block_size: Optional(Quantity),
    tier_lower_bound: Optional(Quantity),
    tier_top_bound: Optional(Quantity),
    /** The line's share of the band, for prices in a volume group. */
    volume_share: Optional(Text),
    /** The included volume that was used before it; on the first band. */
    included_volume: Optional(Quantity),
  },
  { title: 'InvoiceBand' },
)

export const MeterValue = Type.Object(
  {
    id: Optional(Text),
    reference: Optional(Text),
    type: OneOf('NUMBER', 'AMOUNT'),
    number: Optional(Text),
    amount: Optional(Money),
    count: Optional(Text),
    /** Of a sub line: its part of the usage of the line. Of a prorated line: the part of the period that it pays for. */
    ratio: Optional(Text),
  },
  { title: 'InvoiceMeterValue' },
)

const ReportedMeterValue = Type.Object(
  {
    meter_value_calculation_id: Text,
    number: Optional(Text),
    amount: Optional(Money),
    count: Text,
    /** Its part of the usage that the line bills; absent where the two cannot be compared. */
    ratio: Optional(Text),
  },
  { title: 'ReportIngestDataSummary' },
)

/** Money that was metered in one currency, and its worth in the currency of the price. */
const ConvertedMeterValue = Type.Object(
  {
    amount: Money,
    amount_in_pricing_currency: Money,
    count: Type.Integer(),
    /** Its part of the usage of all currencies. */
    ratio: Optional(Text),
  },
  { title: 'IngestDataSummary' },
)

/** What a wallet paid of a line, net, with its balance before and after (contract: wallet_balances). */
export const WalletBalanceDetails = Type.Object(
  {
    wallet_id: Text,
    used_balance: WalletBalanceValue,
    left_balance: WalletBalanceValue,
    available_balance: WalletBalanceValue,
    /** The part that grants for the seats of customers paid; absent where none did. */
    customer_details: Optional(
      Type.Array(
        Type.Object(
          { customer_id: Text, used_balance: WalletBalanceValue },
          { title: 'InvoiceWalletBalanceCustomerDetail' },
        ),
      ),
    ),
  },
  { title: 'InvoiceWalletBalance' },
)

/** From `rate_timestamp` on, one unit of `base_currency` is `rate` units of `currency`. */
export const UsedExchangeRate = Type.Object(
  { currency: Text, base_currency: Text, rate: Text, rate_timestamp: Text, source: Text },
  { title: 'UsedExchangeRate' },
)

/** In the currency of the tax authority, where the invoice is in another one and charges tax. */
export const TaxAmounts = Type.Object(
  {
    base_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    used_exchange_rate: UsedExchangeRate,
    /** Whether documents show them. */
    display: Type.Boolean(),
  },
  { title: 'InvoiceTaxAmounts' },
)
/** The tax of one authority. */
export const TaxRate = Type.Object({ name: Text, percentage: Text, tax_amount: Money }, { title: 'InvoiceRate' })

/** The part of a tax summary that a line, a group or a period accounts for. What is optional follows from the summary. */
export const TaxCategoryShare = Type.Object(
  {
    base_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    percentage: Text,
    name: Text,
    category: TaxCategory,
    local_amounts: Optional(TaxAmounts),
    notes: Optional(Type.Array(Text)),
    rates: Optional(Type.Array(TaxRate)),
  },
  { title: 'InvoicePeriodTaxCategory' },
)

export const PriceDetails = Type.Object({
  wallet_balances: Optional(Type.Array(WalletBalanceDetails)),
  /** Deprecated, use wallet_balances: the first wallet of credits that paid. */
  wallet_balance_details: Optional(
    Type.Object(
      { used_wallet_credits: Credits, left_wallet_credits: Credits, available_wallet_credits: Credits },
      { title: 'PricingItemSummaryWalletBalanceDetails' },
    ),
  ),
  amount: Money,
  pricing_currency: Text,
  pricing_amount: Money,
  /** The rates by which the amount was converted; absent when the price is in the currency of the invoice. */
  used_exchange_rates: Optional(Type.Array(UsedExchangeRate)),
  band: Optional(BandDetails),
  meter_value: Optional(MeterValue),
  /** The usage by currency, where some of it was converted to that of the price. */
  meter_values: Optional(Type.Array(ConvertedMeterValue)),
  /** What decided the tier, where that is other usage than what is billed. */
  tiering_meter_value: Optional(MeterValue),
  price_bound: Optional(Text),
  /** Usage that the line shows and does not bill: the report calculations of the item. */
  report_meter_values: Optional(Type.Array(ReportedMeterValue)),
  /** For usage that is turned into credits: how many. */
  conversion: Optional(
    Type.Object(
      { credits: Credits, convert_from_meter_value_id: Optional(Text) },
      { title: 'PricingItemSummaryPriceDetailsConversion' },
    ),
  ),
  /** For a split price: the values that are priced. A value that events lack is absent. */
  split_pricing: Optional(
    Type.Object({ meter_properties: Type.Array(Type.Object({ id: Text, reference: Text, value: Optional(Text) })) }),
  ),
  /** For a customer's sub line: its share of the usage that the line rates, from 0 to 1. */
  meter_value_share_of_total: Optional(Text),
  /** The same among the customers other than the subscription's own, whose sub line has none. */
  meter_value_share_of_processing_only_customer_total: Optional(Text),
  description: Text,
  proration: Optional(Type.Object({ covered_days: Type.Integer(), days: Type.Integer() })),
  pricing_scale: Optional(Type.Object({ numerator: Text, denominator: Text })),
  previously_billed: Optional(Type.Object({ pricing_amount: Money, meter_value: MeterValue })),
  /** For usage counted on top of a persisted state (persist data): that state, which is included in the meter value. */
  persisted_usage: Optional(Type.Object({ persist_data_id: Text, start_at: Text, meter_value: Quantity })),
  /** The included volume of the price: for the reset window, what was left of it, and what this time used. */
  included_volume_details: Optional(
    Type.Object({
      included_volume: MeterValue,
      available_included_volume: MeterValue,
      period_volume: MeterValue,
    }),
  ),
})

export const SubLine = Type.Object({
  sub_line_order: Type.Integer(),
  description: Text,
  /** The customer of the sub line, also when it is the invoice's own; both names are those of the interface. */
  processing_only_customer_resource_id: Optional(Text),
  processing_only_customer_id: Optional(Text),
  /** Of usage that is turned into credits: under which conditions. */
  type: Optional(Type.Literal('USAGE_BASED_CONVERSION')),
  usage_based_conversion: Optional(
    Type.Object({ conditions: Optional(Conditions) }, { title: 'InvoiceSubLineUsageBasedConversion' }),
  ),
  details: PriceDetails,
})

const LineProductItem = Type.Object({
  object_type: Text,
  id: Text,
  product_id: Text,
  name: Text,
  reference: Optional(Text),
  type: OneOf('REVENUE', 'DEDUCTION'),
  model_type: ModelType,
})

export const Line = Type.Object({
  id: Text,
  line_order: Type.Integer(),
  description: Text,
  pricing_item_id: Optional(Text),
  pricing_item_config_id: Optional(Text),
  product_items: Type.Array(LineProductItem),
  type: OneOf(...LINE_KINDS),
  pricing_type: Optional(Text),
  discount_type: Optional(Text),
  commitment_type: Optional(Text),
  /** The path of the clause in its schedule that made the line. */
  clause: Optional(Text),
  /** For a discount by a coupon. */
  coupon_data: Optional(
    Type.Object(
      {
        coupon_id: Text,
        coupon_name: Text,
        promotion_code_id: Optional(Text),
        promotion_code: Optional(Text),
      },
      { title: 'InvoiceLineCouponData' },
    ),
  ),
  /** For an added line: the clauses that apply to it. */
  applicable_for_clauses: Optional(Type.Array(OneOf('discount.totals'))),
  tax_categories: Type.Array(TaxCategoryShare),
  amount_excluding_tax: Money,
  amount_including_tax: Money,
  conditions: Optional(Conditions),
  meter_value: Optional(MeterValue),
  details: PriceDetails,
  sub_lines: Optional(Type.Array(SubLine)),
  /** For usage that arrived after the invoice of its time was FINAL: that invoice. */
  late_for_invoice_id: Optional(Text),
})
