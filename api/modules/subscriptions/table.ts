import { boolean, pgTable, pgView, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import type { BillingTime, PeriodLength } from '../../../shared/billing/periods.ts'
import type { Id } from '../../../shared/ids.ts'
import { tenantColumns, timestamp, wireJson } from '../../resource/columns.ts'
import type { Entitlement } from '../catalog/features/schema.ts'
import type { DueDateConfiguration } from '../parties/platforms/subscription-settings.ts'
import type { Discount } from './clauses/discount-schema.ts'
import type { Commitment, Markup } from './clauses/schema.ts'
import type { ScheduleUnits, SeatsValue } from './counts/schema.ts'
import type { AppliedCoupon } from './coupons/schema.ts'
import type { EnabledPricing } from './enabled-pricings/schema.ts'
import type { ScheduleIncludedVolume } from './included-volumes/schema.ts'
import type { OverridePricing } from './overrides/schema.ts'
import type {
  InactivePeriod,
  SellerDetails,
  SubscriptionType,
  TemplateSettings,
  Variant,
  VersionSelector,
} from './schema.ts'

export const subscriptions = pgTable('pricing_plan_subscriptions', {
  ...tenantColumns<'ppsu'>(),
  reference: text(),
  status: text().$type<'DRAFT' | 'ACTIVE' | 'CANCELLED' | 'VOID' | 'ARCHIVED'>().notNull(),
  name: text(),
  description: text(),
  purchase_order_number: text(),
  /** Null of a TEMPLATE alone. */
  customer_id: text().$type<Id<'cust'>>(),
  billing_entity_id: text().$type<Id<'bill'>>().notNull(),
  billing_period: wireJson<PeriodLength>().notNull(),
  billing_currency: text().notNull(),
  billing_time: text().$type<BillingTime>().notNull(),
  /** What periods count from instead of the start; only of an EXACT subscription. */
  billing_anchor: timestamp(),
  due_date_configuration: wireJson<Static<typeof DueDateConfiguration>>().notNull(),
  type: text().$type<SubscriptionType>().notNull(),
  variant: text().$type<Variant>().notNull(),
  /** Who gets the invoices instead; only of FORWARD_BILLING. */
  forward_customer_id: text().$type<Id<'cust'>>(),
  /** Only of SELLER. */
  seller_details: wireJson<SellerDetails>(),
  sales_tax_percentage: text(),
  init_invoice_on_hold: boolean().notNull(),
  /** Whether its invoices are issued together with those of the customer's others. */
  combine: boolean().notNull(),
  activated_at: timestamp(),
  inactive_periods: wireJson<Static<typeof InactivePeriod>[]>().notNull(),
  cancelled_at: timestamp(),
  next_billing_at: timestamp(),
  replicate_meter_data_ingest_to_parent: boolean().notNull(),
  display_invoice_sub_lines_per_processing_only_customer: boolean().notNull(),
  /** That of the billing entity when it was activated; selectors go by it. */
  billing_entity_country: text(),
  initial_term: wireJson<PeriodLength>(),
  renewal_term: wireJson<PeriodLength>(),
  auto_renewal: boolean().notNull(),
  pricing_plan_subscription_group_id: text().$type<Id<'ppsg'>>(),
  /** The one whose place it takes, and the one that takes its place. */
  upgraded_from_pricing_plan_subscription_id: text().$type<Id<'ppsu'>>(),
  upgraded_to_pricing_plan_subscription_id: text().$type<Id<'ppsu'>>(),
  /** How it is paid; empty for every ACTIVE payment acceptor of its billing entity. */
  payment_acceptor_ids: text().array().$type<Id<'paya'>[]>().notNull(),
  /** Only of a TEMPLATE. */
  template: wireJson<TemplateSettings>(),
  /** The start of its first schedule; lists filter by it. */
  start_at: timestamp(),
})

export const schedules = pgTable('pricing_plan_schedules', {
  ...tenantColumns<'ppsc'>(),
  pricing_plan_subscription_id: text().$type<Id<'ppsu'>>().notNull(),
  type: text().$type<'DEFAULT' | 'TRIAL'>().notNull(),
  status: text().$type<'DRAFT' | 'ACTIVE'>().notNull(),
  pricing_plan_id: text().$type<Id<'pric'>>().notNull(),
  pricing_plan_version_id: text().$type<Id<'ppve'>>().notNull(),
  /** The version of its own prices, which stand beside those of the plan; without a plan it is the version above. */
  own_pricing_plan_version_id: text().$type<Id<'ppve'>>(),
  /** How the version was named; null by its id. */
  pricing_plan_version_selector: wireJson<VersionSelector>(),
  /** How its last approval request stands; null where none was needed. */
  approval_status: text().$type<'PENDING_REVIEW' | 'APPROVED' | 'DECLINED' | 'CANCELLED'>(),
  start_at: timestamp().notNull(),
  end_at: timestamp(),
  pricing_currency: text().notNull(),
  billing_period: wireJson<PeriodLength>(),
  entitlements: wireJson<Entitlement[]>().notNull(),
  discount: wireJson<Discount>(),
  markup: wireJson<Markup>(),
  commitment: wireJson<Commitment>(),
  /** The ADDON pricings that it sells besides, and when. */
  enabled_pricings: wireJson<readonly EnabledPricing[]>().notNull().default([]),
  /** The prices it has instead of those of its version. */
  override_pricings: wireJson<readonly OverridePricing[]>().notNull().default([]),
  /** What it includes in its prices, and when. */
  included_volumes: wireJson<readonly ScheduleIncludedVolume[]>().notNull().default([]),
  seats_values: wireJson<SeatsValue[]>().notNull().default([]),
  units: wireJson<ScheduleUnits[]>().notNull().default([]),
  /** Named by the client, and as they were when the schedule took them on. */
  coupon_ids: text().array().notNull().default([]),
  promotion_codes: text().array().notNull().default([]),
  applied_coupons: wireJson<readonly AppliedCoupon[]>().notNull().default([]),
  /** Whether what it has charged ahead is credited for the days left when it ends. */
  refund_advance_charges: boolean().notNull().default(false),
  /** Whether it continues the schedule before: a copy, a migration within the plan, or another billing period of the plan. */
  carries_usage: boolean().notNull().default(false),
  /** Whether it ran on without an end until the one after it was created, and would again without that. */
  ended_by_next: boolean().notNull().default(false),
  /** Whether billing periods count from its start on; only of an EXACT subscription. */
  realign_invoice_date_to_pricing_plan_schedule_start_at: boolean().notNull().default(false),
})

/** The versions that price each schedule, and when: the one it names, or those of its rate card in turn; and that of its own prices besides. */
export const scheduleVersions = pgView('schedule_versions', {
  platform_id: text().notNull(),
  environment: text().notNull(),
  pricing_plan_schedule_id: text().$type<Id<'ppsc'>>().notNull(),
  pricing_plan_version_id: text().$type<Id<'ppve'>>().notNull(),
  start_at: timestamp().notNull(),
  end_at: timestamp(),
}).existing()

export type Subscription = typeof subscriptions.$inferSelect
export type Schedule = typeof schedules.$inferSelect
