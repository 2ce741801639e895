// Everything an invoice is computed from, except usage: plain values in wire shape, so that they can be hashed and
// compared. Only what the invoice depends on is here; any other field cannot change an invoice.
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import type { BillingTime, PeriodLength } from '../../../../shared/billing/periods.ts'
import type { TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import type { BandInput, IncludedVolumeInput } from '../../../../shared/rating/parse/parse-price-config.ts'
import type { ConditionNamesInput } from '../../catalog/conditions/load-names.ts'
import type { Conditions } from '../../catalog/conditions/schema.ts'
import type { RateCardVersions } from '../../catalog/pricing-plans/rate-card.ts'
import type { SplitPricing, Tiering, WalletGrantRule } from '../../catalog/pricing-plans/schema.ts'
import type { CurrencyVariant, PeriodVariant } from '../../catalog/pricing-plans/variants/variants.ts'
import type { ModelType } from '../../catalog/products/schema.ts'
import type { CustomerInput, InvoicingSettings, NamedCustomer, Parties } from '../../invoices/document/parties.ts'
import type { CopiedFieldView } from '../../invoices/schema.ts'
import type { LateEventPolicy } from '../../parties/platforms/schema.ts'
import { decidingAttribution } from '../../subscriptions/attribution/deciding-attribution.ts'
import type { AttributionInputs } from '../../subscriptions/attribution/load-attribution.ts'
import type { IssuedZone } from '../../subscriptions/billing-time/issued-zones.ts'
import type { Discount } from '../../subscriptions/clauses/discount-schema.ts'
import type { Commitment, Markup } from '../../subscriptions/clauses/schema.ts'
import type { ScheduleUnits, SeatsValue } from '../../subscriptions/counts/schema.ts'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import type { EnabledPricing } from '../../subscriptions/enabled-pricings/schema.ts'
import type { ScheduleIncludedVolume } from '../../subscriptions/included-volumes/schema.ts'
import type { OverridePricing } from '../../subscriptions/overrides/schema.ts'
import type { Variant } from '../../subscriptions/schema.ts'
import type { PersistedUsageInput } from '../persisted-usage/load-persisted-usage.ts'
import { hashOfMembers } from './json-of-members.ts'

export type PlatformInput = InvoicingSettings & { readonly late_event_policy: LateEventPolicy }

export type SubscriptionInput = {
  readonly id: string
  readonly status: string
  readonly name: string | null
  readonly purchase_order_number: string | null
  readonly customer_id: string
  readonly billing_entity_id: string
  readonly billing_period: PeriodLength
  readonly billing_currency: string
  readonly billing_time: BillingTime
  readonly billing_anchor: string | null
  readonly due_date_configuration: { readonly type: string; readonly period?: PeriodLength | null }
  readonly sales_tax_percentage: string | null
  /** Absent for DEFAULT. */
  readonly variant?: Exclude<Variant, 'DEFAULT'>
  /** Who gets the invoices instead of its customer; only of FORWARD_BILLING. */
  readonly forward_customer_id?: string
  readonly init_invoice_on_hold: boolean
  /** Whether its invoices are issued together with those of the customer's others; absent where they are not. */
  readonly combine?: boolean
  /** By which it can be paid; only of one that combines. */
  readonly payment_acceptor_ids?: readonly string[]
  /** Whether usage lines show each customer's part. */
  readonly display_invoice_sub_lines_per_processing_only_customer: boolean
  readonly inactive_periods: readonly {
    readonly type?: 'CANCEL' | 'UPGRADE' | 'PAUSE'
    readonly start_at: string
    readonly end_at?: string | null
    readonly refund_advance_charges?: boolean | null
    readonly ends_with_term?: boolean | null
  }[]
}

export type ScheduleInput = {
  readonly id: string
  readonly pricing_plan_id: string
  readonly pricing_plan_version_id: string
  /** The version of the prices that it has besides its plan, or without one; absent where it has none. */
  readonly own_version_id?: string
  /** Of a rate card: the versions in force during the schedule, in order of time; absent for any other plan. */
  readonly rate_card?: RateCardVersions
  readonly start_at: string
  readonly end_at: string | null
  readonly pricing_currency: string
  readonly billing_period: PeriodLength | null
  readonly discount: Discount | null
  /** Absent where it has none. */
  readonly coupons?: readonly AppliedCoupon[]
  /** The ADDONs and the pricings of groups that it sells; absent where there are none. */
  readonly enabled_pricings?: readonly EnabledPricing[]
  /** The prices it has instead of those of its version; absent where there are none. */
  readonly override_pricings?: readonly OverridePricing[]
  /** What is included in its prices, and when; absent where it states nothing. */
  readonly included_volumes?: readonly ScheduleIncludedVolume[]
  readonly markup?: Markup
  readonly commitment?: Commitment
  /** How many seats its prices charge, and when; absent where it states none. */
  readonly seats_values?: readonly Omit<SeatsValue, 'set_start_at_to_now'>[]
  /** How many units its prices charge; absent where it states none. */
  readonly units?: readonly ScheduleUnits[]
  /** Whether its advance charges are credited for the days left when it ends; absent where they are not. */
  readonly refund_advance_charges?: true
  /** Only for a TRIAL that charges nothing; absent for any other, and for a TRIAL with prices of its own. */
  readonly trial?: true
  /** Only for a TRIAL with prices of its own: it charges those and its `override_pricings`, and nothing else that its plan sells. */
  readonly only_overrides?: true
  /**
   * Whether it continues the schedule that ends where it starts: calculations with `persist` count on, and what is sold once is not charged
   * again; absent where it does not.
   */
  readonly carries_usage?: true
  /** Whether the billing periods of an EXACT subscription count from its start on; absent where they do not. */
  readonly realign?: boolean
}

export type ConfigInput = {
  readonly id: string
  readonly billing_period?: PeriodLength | null
  readonly pricing_type: string
  readonly pricing_period?: PeriodLength | null
  readonly bands?: readonly BandInput[] | null
  readonly order?: number | null
  readonly billing_in_advance?: boolean | null
  readonly top_up?: { readonly rollover?: boolean | null } | null
  readonly step_accumulation?: string | null
  readonly block_rounding?: string | null
  readonly rate_per?: string | null
  readonly default_included_volume?: IncludedVolumeInput | null
  readonly tiering_conditions?: Tiering | null
  readonly volume_group_reference?: string | null
  readonly split_pricing?: SplitPricing | null
  readonly default_units?: { readonly number?: string | null } | null
  readonly default_seats_value?: { readonly number?: string | null } | null
  readonly wallet_grants?: readonly WalletGrantRule[] | null
  readonly conditions?: Conditions | null
  readonly on_demand?: boolean | null
}

export type ItemInput = {
  readonly id: string
  readonly product_item_ids: readonly string[]
  readonly configs: readonly ConfigInput[]
  /** Its variants (pricing-plans/variants). Each schedule uses one. Absent where the item has none. */
  readonly pricing_currency_configs?: readonly CurrencyVariant<ConfigInput>[]
  readonly billing_period_configs?: readonly PeriodVariant<ConfigInput>[]
  /** Of an item as a schedule sells it: the currency that its prices are in, where that is not the schedule's. */
  readonly fallback_currency?: string
  readonly display_order?: number | null
}

export type PricingInput = {
  readonly id: string
  readonly pricing_plan_version_id: string
  readonly name: string
  readonly display_order: number | null
  readonly items: readonly ItemInput[]
  /** Of an ADDON, or what is in a group: it is sold only while a schedule has it enabled; absent for any other. */
  readonly addon?: true
}

/** A seat assignment of an item that is charged by its assignments. */
export type SeatInput = {
  /** Only where the seat is granted something to a wallet. */
  readonly id?: string
  readonly customer_id?: string
  readonly product_item_id: string
  readonly start_at: string
  readonly end_at: string | null
}

export type PlanInput = { readonly id: string; readonly amount_type: 'EXCLUDING_TAX' | 'INCLUDING_TAX' }

export type CalculationInput = {
  readonly id: string
  readonly reference: string
  readonly calculation_type: 'SUM' | 'MAX' | 'MIN' | 'AVERAGE' | 'UNIQUE'
  /** Whether the state is carried over from the schedule's start. */
  readonly persist: boolean
  readonly meter_reference: string
  readonly value_reference: string | null
  /** Of usage that is turned into credits; absent for any other. */
  readonly value_id?: string
  readonly value_type: 'NUMBER' | 'AMOUNT' | null
  readonly property_reference: string | null
  readonly property_type: 'NUMBER' | 'ENUM' | 'STRING' | null
}

export type ProductItemInput = {
  readonly id: string
  readonly product_id: string
  readonly reference: string | null
  readonly name: string
  readonly type: 'REVENUE' | 'DEDUCTION'
  readonly model_type: ModelType
  readonly meter_value_calculation_id: string | null
  readonly usage_based?: {
    readonly conditions?: Conditions | null
    readonly tiering_meter_value_calculation_id?: string | null
    readonly report_meter_value_calculation_ids?: readonly string[]
  } | null
  /** Only of an item that sells credits. */
  readonly credits?: { readonly credit_type_id: string }
  readonly tax_category: TaxCategory | null
  readonly display_order: number | null
  readonly unit_name: { readonly singular?: string | null; readonly plural?: string | null } | null
}

export type ProductInput = {
  readonly id: string
  readonly name: string
  readonly category_id: string | null
  readonly tax_category: TaxCategory | null
  readonly display_order: number | null
}

export type CategoryInput = {
  readonly id: string
  readonly name: string
  readonly tax_category: TaxCategory | null
  readonly display_order: number | null
}

/** `customer` gets the invoices. */
export type BillingInputs = Parties & {
  /** The customer that uses what is sold, where another gets its invoices; absent for any other. */
  readonly forwarded_from?: CustomerInput
  readonly platform: PlatformInput
  readonly subscription: SubscriptionInput
  /** In the order of time. */
  readonly schedules: readonly ScheduleInput[]
  /** Times, in order, at which a schedule starts and a closed invoice ends. If one is inside a billing period, the rest of the period has its own invoice. */
  readonly resumed_at?: readonly string[]
  /**
   * The time from its end on that closed invoices charged ahead, where it ended with a refund exactly where one of them ends; otherwise
   * absent.
   */
  readonly charged_after_end?: { readonly start_at: string; readonly end_at: string }
  /** The zones that its issued invoices were in before, in the order of time; absent where they were in none but that of the parties. */
  readonly issued_zones?: readonly IssuedZone[]
  readonly plans: readonly PlanInput[]
  readonly pricings: readonly PricingInput[]
  readonly product_items: readonly ProductItemInput[]
  readonly products: readonly ProductInput[]
  readonly product_categories: readonly CategoryInput[]
  readonly calculations: readonly CalculationInput[]
  readonly persisted_usages: readonly PersistedUsageInput[]
  /** Absent where nothing is charged by assignments. */
  readonly seats?: readonly SeatInput[]
  /** For prices in another currency than the invoice; absent where there are none. */
  readonly exchange_rates?: readonly ExchangeRate[]
  /** What the conditions of prices and items name. */
  readonly condition_names: ConditionNamesInput
  /** What decides which events are the subscription's. */
  readonly attribution: AttributionInputs
  /** Custom fields that invoices show: of the parties, the subscription and what it sells. */
  readonly copied_fields: readonly CopiedFieldView[]
  /** The customers whose events may be the subscription's; empty when its lines are not shared among customers. */
  readonly sub_line_customers: readonly NamedCustomer[]
}

/** The customer whose usage is billed. Another customer may get the invoice. */
export const usingCustomer = ({
  customer,
  forwarded_from,
}: Pick<BillingInputs, 'customer' | 'forwarded_from'>): CustomerInput => forwarded_from ?? customer

/** A hash of the inputs: equal exactly when the invoice computed from the same usage is the same. */
export const inputsHashOf = (inputs: BillingInputs): string =>
  hashOfMembers({ ...inputs, attribution: decidingAttribution(inputs.attribution) })
