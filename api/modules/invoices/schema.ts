// Wire shapes of invoices. Names as in the interface. `proration`, `pricing_scale`, `previously_billed`,
// `persisted_usage` and `late_for_invoice_id` are additions of Millrace, so that every figure that led to an amount is
// shown.
import Type, { type Static } from 'typebox'
import { CustomFieldValues } from '../../resource/custom-fields/schema.ts'
import { OneOf, Optional, Period, TaxCategory } from '../../resource/shapes.ts'
import { Comparator } from '../catalog/conditions/schema.ts'
import { Credits, WalletBalanceValue } from '../catalog/credit-types/schema.ts'
import { ModelType } from '../catalog/products/schema.ts'
import { TaxRegistration } from '../parties/tax-ids/schema.ts'
import { PAYMENT_STATUSES } from './settlement.ts'

const Text = Type.String()
export const InvoiceStatus = OneOf('OPEN', 'DRAFT', 'FINAL', 'VOID', 'ARCHIVED')
const Money = Type.Object({ quantity: Text, currency: Text })
const Quantity = Type.Object({ number: Optional(Text), amount: Optional(Money) }, { title: 'InvoiceBlockSize' })
const TextOrNull = Type.Union([Text, Type.Null()])
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
const Snapshot = Type.Object({ object_type: Text, id: Text }, { additionalProperties: true })

const TaxCategorySummary = Type.Object(
  {
    base_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    percentage: Text,
    name: Text,
    category: TaxCategory,
    notes: Type.Array(Text),
    rates: Type.Array(Type.Object({ name: Text, percentage: Text, tax_amount: Money }, { title: 'InvoiceRate' })),
  },
  { title: 'InvoiceTaxCategory' },
)
/** The part of a tax summary that a line, a group or a period accounts for. */
const TaxCategoryShare = Type.Object(
  {
    base_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    percentage: Text,
    name: Text,
    category: TaxCategory,
  },
  { title: 'InvoicePeriodTaxCategory' },
)

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
  },
  { title: 'InvoiceMeterValue' },
)

/** What a wallet paid of a line, net, with its balance before and after (contract: wallet_balances). */
const WalletBalanceDetails = Type.Object(
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

const PriceDetails = Type.Object({
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
  band: Optional(BandDetails),
  meter_value: Optional(MeterValue),
  /** What decided the tier, where that is other usage than what is billed. */
  tiering_meter_value: Optional(MeterValue),
  price_bound: Optional(Text),
  /** For a split price: the values that are priced. A value that events lack is absent. */
  split_pricing: Optional(
    Type.Object({ meter_properties: Type.Array(Type.Object({ id: Text, reference: Text, value: Optional(Text) })) }),
  ),
  /** For a customer's sub line: its share of the usage that the line rates, from 0 to 1. */
  meter_value_share_of_total: Optional(Text),
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

const SubLine = Type.Object({
  sub_line_order: Type.Integer(),
  description: Text,
  /** The customer of the sub line, also when it is the invoice's own; both names are those of the interface. */
  processing_only_customer_resource_id: Optional(Text),
  processing_only_customer_id: Optional(Text),
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

const Line = Type.Object({
  id: Text,
  line_order: Type.Integer(),
  description: Text,
  pricing_item_id: Optional(Text),
  pricing_item_config_id: Optional(Text),
  product_items: Type.Array(LineProductItem),
  type: OneOf('REVENUE', 'DISCOUNT', 'COMMITMENT', 'MARKUP', 'WALLET'),
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

const Named = Type.Object({ object_type: Text, id: Text, name: Text })

const groupFields = {
  group_order: Type.Integer(),
  amount_excluding_tax: Money,
  amount_including_tax: Money,
  billing_period: Optional(Period),
  start_at: Text,
  end_at: Text,
  type: OneOf('PRICING', 'DISCOUNT', 'COMMITMENT', 'MARKUP', 'WALLET', 'ONE_OFF'),
  product_category: Optional(Named),
  products: Type.Array(Named),
  pricing: Optional(Type.Object({ id: Text, name: Text })),
  description: Text,
  pricing_plan_subscription_id: Optional(Text),
  pricing_plan_schedule_id: Optional(Text),
  tax_categories: Type.Array(TaxCategoryShare),
}
const Group = Type.Object({ ...groupFields, lines: Type.Array(Line) })

const InvoicePeriod = Type.Object({
  period_order: Type.Integer(),
  amount_excluding_tax: Money,
  amount_including_tax: Money,
  billing_period: Optional(Period),
  start_at: Text,
  end_at: Text,
  tax_categories: Type.Array(TaxCategoryShare),
  groups: Type.Array(Group),
})
// A list may leave the lines out; otherwise the shape is the same.
export const ViewPeriod = Type.Object({
  ...InvoicePeriod.properties,
  groups: Type.Array(Type.Object({ ...groupFields, lines: Optional(Type.Array(Line)) })),
})

/** A custom field of another resource, as it was when the invoice was computed. */
const CopiedField = Type.Object(
  {
    resource: Type.Object({ type: Text, id: Text }, { title: 'ResourceIdentifier' }),
    id: Text,
    reference: Text,
    name: Optional(Text),
    value: Optional(Text),
    values: Optional(Type.Array(Text)),
  },
  { title: 'OtherCustomFieldValue' },
)

const TaxSummary = Type.Object({
  base_amount: Money,
  tax_amount: Money,
  total_amount: Money,
  notes: Type.Array(Text),
  country_code: Optional(Text),
})

/** The country of the registration, and the billing entity's data about it. */
const UsedTaxRegistration = Type.Object({ country: Text, ...Type.Partial(TaxRegistration).properties })

const contentFields = {
  customer_reference: Optional(Text),
  customer: Snapshot,
  billing_entity: Snapshot,
  purchase_order_number: Optional(Text),
  pricing_plan_subscription_ids: Type.Array(Text),
  billing_period: Optional(Period),
  billing_period_date: Optional(Text),
  pricing_amount_type: OneOf('EXCLUDING_TAX', 'INCLUDING_TAX'),
  rounding_mode: OneOf('DEFAULT', 'UNROUNDED'),
  tax_categories: Type.Array(TaxCategorySummary),
  tax_summary: TaxSummary,
  used_tax_registration: Optional(UsedTaxRegistration),
  notes: Type.Array(Text),
  other_custom_fields: Optional(Type.Array(CopiedField)),
  footnote: Optional(Text),
  has_usage_based_pricing: Type.Boolean(),
  display_invoice_sub_lines_per_processing_only_customer: Optional(Type.Boolean()),
  processing_only_customers: Optional(Type.Array(Snapshot)),
  validation_result: Type.Array(Type.Object({ status: OneOf('ERROR', 'WARNING'), details: Text })),
}

export const InvoiceContent = Type.Object({
  ...contentFields,
  periods: Type.Array(InvoicePeriod),
})

const Credit = Type.Object({
  original_invoice_id: Text,
  note: Optional(Text),
  credit_details_source: OneOf('CURRENT', 'ORIGINAL'),
})
/** A linked document, and its relation to this invoice. */
const LinkedInvoice = Type.Object({
  id: Text,
  link_type: OneOf('ORIGINAL', 'CREDIT', 'COPY'),
  note: Optional(Text),
  invoice_number: TextOrNull,
  amount: Money,
  invoice_date: TextOrNull,
})

const InvoiceCoupon = Type.Object({ coupon_id: Text, coupon_name: Text }, { title: 'InvoiceCoupon' })
const InvoicePromotionCode = Type.Object(
  {
    coupon_id: Text,
    promotion_code_details: Type.Object({ promotion_code_id: Text, code: Text }, { title: 'PromotionCodeDetails' }),
  },
  { title: 'InvoicePromotionCode' },
)

export const InvoiceView = Type.Object(
  {
    object_type: Type.Literal('INVOICE'),
    id: Text,
    created_at: Text,
    updated_at: Text,
    platform_id: Text,
    invoice_number: TextOrNull,
    status: InvoiceStatus,
    type: OneOf('STANDARD', 'CREDIT', 'ONE_OFF', 'ONE_OFF_CREDIT'),
    billing_type: OneOf('DEFAULT', 'SELF_BILLING'),
    customer_id: Text,
    billing_entity_id: Text,
    pricing_plan_subscription_id: TextOrNull,
    period_start: TextOrNull,
    period_end: TextOrNull,
    invoice_date: TextOrNull,
    delivery_date: TextOrNull,
    due_date: TextOrNull,
    finalize_at: TextOrNull,
    updated_to_final_at: TextOrNull,
    usage_counted_until: TextOrNull,
    to_be_reprocessed: Type.Boolean(),
    to_be_reprocessed_at: TextOrNull,
    billing_currency: Text,
    timezone: Text,
    sales_tax_percentage: TextOrNull,
    on_hold: Type.Boolean(),
    paid: Type.Boolean(),
    payment_status: OneOf(...PAYMENT_STATUSES),
    payment_overdue: Type.Boolean(),
    invoice_amount_excluding_tax: Money,
    invoice_amount_including_tax: Money,
    paid_invoice_amount: Money,
    open_invoice_amount: Money,
    closed_invoice_amount: Money,
    refundable_amount: Money,
    credit: Optional(Credit),
    linked_invoices: Optional(Type.Array(LinkedInvoice)),
    linked_invoices_ids: Optional(Type.Array(Text)),
    custom_fields: CustomFieldValues,
    coupons: Optional(Type.Array(InvoiceCoupon)),
    promotion_codes: Optional(Type.Array(InvoicePromotionCode)),
    ...contentFields,
    periods: Optional(Type.Array(ViewPeriod)),
  },
  { title: 'Invoice' },
)

export type InvoiceContent = Static<typeof InvoiceContent>
export type LinkedInvoice = Static<typeof LinkedInvoice>
export type InvoiceView = Static<typeof InvoiceView>
export type CopiedFieldView = Static<typeof CopiedField>
export type MoneyView = Static<typeof Money>
export type MeterValueView = Static<typeof MeterValue>
export type BandView = Static<typeof BandDetails>
export type PriceDetailsView = Static<typeof PriceDetails>
export type CustomerView = Static<typeof Snapshot> & Readonly<Record<string, unknown>>
export type WalletBalanceView = Static<typeof WalletBalanceDetails>
export type SubLineView = Static<typeof SubLine>
export type LineView = Static<typeof Line>
export type GroupView = Static<typeof Group>
export type PeriodView = Static<typeof InvoicePeriod>
export type TaxShareView = Static<typeof TaxCategoryShare>
export type TaxCategoryView = Static<typeof TaxCategorySummary>
export type TaxSummaryView = Static<typeof TaxSummary>
