// Wire shapes inside subscriptions and schedules. A field that is not here is refused by name.
import Type, { type Static } from 'typebox'
import { IdText, Included, Nullable, OneOf, Optional, Reference, Shape, Timestamp } from '../../resource/shapes.ts'

export const SubscriptionStatus = OneOf('DRAFT', 'ACTIVE', 'CANCELLED', 'VOID', 'ARCHIVED')

/** BILLING is billed; a QUOTE is what a quote offers; a TEMPLATE is what others are made from. */
export const SubscriptionTypes = OneOf('BILLING', 'QUOTE', 'TEMPLATE')
export const SubscriptionVariant = OneOf('DEFAULT', 'FORWARD_BILLING', 'SELF_BILLING', 'SELLER')
export type Variant = Static<typeof SubscriptionVariant>

/** The customer, of the role SELLER, on whose behalf a subscription is billed. */
export const SellerDetails = Shape({ seller_customer_id: IdText('customer') })
export type SellerDetails = Static<typeof SellerDetails>
export type SubscriptionType = Static<typeof SubscriptionTypes>

export const InactivePeriod = Shape({
  type: OneOf('CANCEL', 'UPGRADE', 'PAUSE'),
  start_at: Timestamp,
  end_at: Optional(Nullable(Timestamp)),
  refund_advance_charges: Optional(Nullable(Type.Boolean())),
  ends_with_term: Optional(
    Nullable(
      Type.Boolean({ description: 'Whether the subscription ends because its term ends and auto_renewal is false.' }),
    ),
  ),
})

/** Of its invoices that still change, the one that becomes FINAL first. Without a date: it is dated when it becomes FINAL. */
export const NextInvoice = Type.Object(
  { invoice_id: Type.String(), invoice_date: Nullable(Timestamp) },
  { title: 'NextInvoice' },
)

/** An active schedule, as its subscription lists it. */
export const ScheduleInfo = Type.Object({
  id: Type.String(),
  pricing_plan_schedule: Optional(Nullable(Included('PricingPlanSchedule'))),
  pricing_plan_id: Nullable(Type.String()),
  pricing_plan: Optional(Nullable(Included('PricingPlan'))),
  pricing_plan_version_id: Nullable(Type.String()),
  pricing_plan_version: Optional(Nullable(Included('PricingPlanVersion'))),
  start_at: Timestamp,
  end_at: Nullable(Timestamp),
  realign_invoice_date_to_pricing_plan_schedule_start_at: Type.Boolean(),
})

/** What `init` does with a template, and how many promotion codes a customer may use who chooses on top of it: any number without. */
export const TemplateSettings = Shape({
  apply_billing_entity_selector: Optional(Nullable(Type.Boolean())),
  allow_promotion_codes: Optional(Nullable(OneOf('NONE', 'SINGLE'))),
})
export type TemplateSettings = Static<typeof TemplateSettings>

export const VersionSelector = Shape({
  pricing_plan_id: Optional(IdText('pricing plan')),
  pricing_plan_reference: Optional(Reference),
  type: Optional(OneOf('LATEST', 'VERSION')),
  version: Optional(Type.Integer({ minimum: 1 })),
})
export type VersionSelector = Static<typeof VersionSelector>

export const CancelBody = Shape({
  type: OneOf('NOW', 'NEXT_BILLING_PERIOD', 'AFTER_INITIAL_TERM', 'DATE', 'UNDO'),
  cancel_at: Optional(Timestamp),
  refund_advance_charges: Optional(Type.Boolean()),
})
