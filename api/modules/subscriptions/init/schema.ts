// The body and the answer of `POST /v1/pricing-plan-subscriptions/init`: both its forms in one shape.
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { IdText, Nullable, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { CustomerEntitlementsShape } from '../../catalog/features/schema.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { UnitsShape } from '../counts/schema.ts'
import { EnabledPricings } from '../enabled-pricings/schema.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'

export const membersOf = (shape: TSchema): TProperties => (shape as TObject).properties

const ofSubscription = membersOf(subscriptionResource.createBody)
// A whole subscription may be sent, which says its type; `init` makes none of another.
const billed = { ...ofSubscription, type: Optional(OneOf('BILLING')) }
const { pricing_plan_subscription_id: _of, start_at: _start, ...ofSchedule } = membersOf(scheduleResource.createBody)

const SCHEDULES_MAX = 100

/** What may be said on top of a template; anything else is refused by name (contract: init). */
export const ON_TOP_OF_TEMPLATE = [
  'customer_id',
  'variant',
  'forward_customer_id',
  'billing_entity_id',
  'billing_currency',
  'combine',
  'custom_fields',
  'purchase_order_number',
  'name',
  'description',
  'display_invoice_sub_lines_per_processing_only_customer',
  'reference',
  'status',
] as const

/** What schedules of the template are given besides: units alone (contract: init). */
export const CUSTOMIZATIONS = 'pricing_plan_schedule_customizations'
const CustomizationsShape = Type.Array(
  Shape(
    { pricing_plan_schedule_id: IdText('schedule of the template'), units: UnitsShape },
    { title: 'PricingPlanScheduleCustomization' },
  ),
  { minItems: 1, maxItems: SCHEDULES_MAX },
)
export type Customization = Static<typeof CustomizationsShape>[number]

/** Of any other field beside a template: the rest of a sentence that begins with its name. */
export const NOT_ON_TOP = `is not accepted on top of a template. It takes ${[...ON_TOP_OF_TEMPLATE, CUSTOMIZATIONS, 'pricing_plan_subscription_start_at'].join(', ')}.`

/** The members that a body without a template has instead. */
export const WITHOUT_TEMPLATE = [
  'customer',
  'pricing_plan_subscription',
  'pricing_plan_schedules',
  'enabled_pricings',
  'first_payment',
] as const

const onTop = Object.fromEntries(
  Object.entries(ofSubscription).filter(([name]) => ON_TOP_OF_TEMPLATE.includes(name as never)),
)

export const InitBody = Shape(
  {
    template_pricing_plan_subscription_id: Optional(IdText('template')),
    ...onTop,
    pricing_plan_subscription_start_at: Optional(Timestamp),
    [CUSTOMIZATIONS]: Optional(CustomizationsShape),
    customer: Optional(customerResource.createBody),
    pricing_plan_subscription: Optional(Shape(billed)),
    enabled_pricings: Optional(EnabledPricings),
    pricing_plan_schedules: Optional(
      Type.Array(Shape({ start_at: Optional(Timestamp), ...ofSchedule }), { minItems: 1, maxItems: SCHEDULES_MAX }),
    ),
  },
  { title: 'PricingPlanSubscriptionInitCreate' },
)

/** The subscription, and beside its own members everything that was made with it. */
export const InitAnswer = Type.Object(
  {
    ...membersOf(subscriptionResource.view),
    customer: Optional(Nullable(customerResource.view)),
    pricing_plan_subscription: subscriptionResource.view,
    pricing_plan_schedules: Type.Array(scheduleResource.view),
    pricing_plan_subscription_start_at: Nullable(Timestamp),
    enabled_pricings: EnabledPricings,
    entitlements_summary: Nullable(CustomerEntitlementsShape),
  },
  { title: 'PricingPlanSubscriptionInit' },
)
