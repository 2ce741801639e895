// Wire shapes of invoices; those of their lines are in lines/schema.ts. Names as in the interface.
import Type, { type Static } from 'typebox'
import type { OpenQuestion } from '../../../shared/billing/tax/tax-engine.ts'
import { CustomFieldValues } from '../../resource/custom-fields/schema.ts'
import { Included, OneOf, Optional, Period, TaxCategory } from '../../resource/shapes.ts'
import { CreditTypes } from '../catalog/credit-types/shown-credit-types.ts'
import { BankAccount, CustomRedirect } from '../parties/payment-acceptors/schema.ts'
import { TaxRegistration } from '../parties/tax-ids/schema.ts'
import { BillingEntitySnapshot, CustomerSnapshot } from './document/party-shapes.ts'
import {
  type BandDetails,
  Line,
  type MeterValue,
  Money,
  type PriceDetails,
  type SubLine,
  TaxAmounts,
  TaxCategoryShare,
  TaxRate,
  Text,
  TextOrNull,
  UsedExchangeRate,
  WalletBalanceDetails,
} from './lines/schema.ts'
import { INVOICE_TYPES, PAYMENT_STATUSES } from './settlement/settlement.ts'

export const InvoiceStatus = OneOf('OPEN', 'DRAFT', 'FINAL', 'VOID', 'ARCHIVED')

const TaxCategorySummary = Type.Object(
  {
    base_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    local_amounts: Optional(TaxAmounts),
    percentage: Text,
    name: Text,
    category: TaxCategory,
    notes: Type.Array(Text),
    rates: Type.Array(TaxRate),
  },
  { title: 'InvoiceTaxCategory' },
)
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
  billing_customer_id: Optional(Text),
  forwarded_from_customer_id: Optional(Text),
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
  local_amounts: Optional(TaxAmounts),
  notes: Type.Array(Text),
  country_code: Optional(Text),
})

/** The country of the registration, and the billing entity's data about it. */
const UsedTaxRegistration = Type.Object({ country: Text, ...Type.Partial(TaxRegistration).properties })

const contentFields = {
  customer_reference: Optional(Text),
  customer: CustomerSnapshot,
  billing_entity: BillingEntitySnapshot,
  purchase_order_number: Optional(Text),
  pricing_plan_subscription_ids: Type.Array(Text),
  /** Of an invoice for several subscriptions: those that it was made from, by subscription. */
  combined_invoice_ids: Optional(Type.Array(Text)),
  billing_period: Optional(Period),
  billing_period_date: Optional(Text),
  pricing_amount_type: OneOf('EXCLUDING_TAX', 'INCLUDING_TAX'),
  rounding_mode: OneOf('DEFAULT', 'UNROUNDED'),
  tax_categories: Type.Array(TaxCategorySummary),
  tax_summary: TaxSummary,
  wallet_balances: Optional(Type.Array(WalletBalanceDetails)),
  used_tax_registration: Optional(UsedTaxRegistration),
  other_tax_registrations: Optional(Type.Array(UsedTaxRegistration)),
  used_exchange_rates: Optional(Type.Array(UsedExchangeRate)),
  notes: Type.Array(Text),
  other_custom_fields: Optional(Type.Array(CopiedField)),
  footnote: Optional(Text),
  has_usage_based_pricing: Type.Boolean(),
  display_invoice_sub_lines_per_processing_only_customer: Optional(Type.Boolean()),
  processing_only_customers: Optional(Type.Array(CustomerSnapshot)),
  forwarded_from_customers: Optional(Type.Array(CustomerSnapshot)),
  validation_result: Type.Array(Type.Object({ status: OneOf('ERROR', 'WARNING'), details: Text })),
}

const Content = Type.Object({
  ...contentFields,
  periods: Type.Array(InvoicePeriod),
})

const Credit = Type.Object({
  original_invoice_id: Text,
  /** Where the invoice is read or changed by itself; lists leave it out. */
  original_invoice_info: Optional(
    Type.Object({ id: Text, invoice_number: TextOrNull }, { title: 'OriginalInvoiceInfo' }),
  ),
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

/** How the customer can pay what is open. */
const PaymentAction = Type.Object(
  {
    payment_acceptor_id: Text,
    type: OneOf('BANK_ACCOUNT', 'CUSTOM_REDIRECT'),
    bank_account: Optional(
      Type.Object(
        {
          ...BankAccount.properties,
          legal_name: Optional(Text),
          country_code: Text,
          /** What the customer gives as the reason of the transfer: the number of the invoice. */
          reference: Optional(Text),
        },
        { title: 'InvoiceBankAccount' },
      ),
    ),
    custom_redirect: Optional(CustomRedirect),
  },
  { title: 'InvoicePaymentAction' },
)

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
    type: OneOf(...INVOICE_TYPES),
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
    /** The FINAL invoice that an ARCHIVED one was issued in. */
    combined_into_invoice_id: Optional(Text),
    credit: Optional(Credit),
    linked_invoices: Optional(Type.Array(LinkedInvoice)),
    linked_invoices_ids: Optional(Type.Array(Text)),
    /** The ACTIVE payment acceptors of its billing entity. Lists leave them, and what follows from them, out. */
    payment_acceptor_ids: Optional(Type.Array(Text)),
    payment_actions: Optional(Type.Array(PaymentAction)),
    custom_fields: CustomFieldValues,
    coupons: Optional(Type.Array(InvoiceCoupon)),
    promotion_codes: Optional(Type.Array(InvoicePromotionCode)),
    ...contentFields,
    periods: Optional(Type.Array(ViewPeriod)),
    credit_types: Optional(CreditTypes),
    /** Those of its usage. Only where one invoice is read. */
    meter_values: Optional(Type.Array(Included('MeterValue'))),
    reprocess: Optional(
      Type.Object(
        {
          to_be_reprocessed_at: Text,
          reprocess_status: OneOf('SCHEDULED', 'IN_PROGRESS'),
          reprocess_id: Text,
        },
        { title: 'InvoiceReprocess' },
      ),
    ),
    /** Those of its periods that credit notes gave back in full. */
    closed_periods: Optional(Type.Array(ViewPeriod)),
  },
  { title: 'Invoice' },
)

export type InvoiceContent = Static<typeof Content> & {
  /** Not shown: what the tax engine has to answer before the invoice can become FINAL. */
  readonly tax_question?: OpenQuestion
  /** Not shown: the key of the question to the tax engine whose answer it has, or waits for. */
  readonly tax_key?: string
}
export type LinkedInvoice = Static<typeof LinkedInvoice>
export type InvoiceView = Static<typeof InvoiceView>
export type CopiedFieldView = Static<typeof CopiedField>
export type PaymentActionView = Static<typeof PaymentAction>
export type MoneyView = Static<typeof Money>
export type MeterValueView = Static<typeof MeterValue>
export type BandView = Static<typeof BandDetails>
export type PriceDetailsView = Static<typeof PriceDetails>
export type CustomerView = Static<typeof CustomerSnapshot> & Readonly<Record<string, unknown>>
export type WalletBalanceView = Static<typeof WalletBalanceDetails>
export type SubLineView = Static<typeof SubLine>
export type LineView = Static<typeof Line>
export type GroupView = Static<typeof Group>
export type PeriodView = Static<typeof InvoicePeriod>
export type TaxShareView = Static<typeof TaxCategoryShare>
export type TaxAmountsView = Static<typeof TaxAmounts>
export type TaxCategoryView = Static<typeof TaxCategorySummary>
export type TaxSummaryView = Static<typeof TaxSummary>
