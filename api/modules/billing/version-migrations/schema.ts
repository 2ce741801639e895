// Wire shapes of migrations to another plan version: the migration with its progress, and what becomes of each subscription.
import Type, { type Static } from 'typebox'
import { Amount, Currency, IdText, Nullable, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'

const MigrationType = OneOf('IMMEDIATE', 'IMMEDIATE_PRO_RATA', 'NEXT_BILLING_PERIOD')
const CouponBehaviour = OneOf('NONE', 'CARRY_OVER')

export const MigrationBody = Shape(
  {
    pricing_plan_version_id: IdText('pricing plan version'),
    type: Optional(MigrationType),
    start_at: Optional(Timestamp),
    coupon_discount_behaviour: Optional(CouponBehaviour),
  },
  { title: 'PricingPlanVersionMigrate' },
)
export type MigrationRequest = Static<typeof MigrationBody>

const Difference = { amount: Amount, migrated_amount: Amount, difference: Amount }

const MigrationResult = Type.Object(
  {
    number_of_subscriptions: Type.Integer({ description: 'How many are on the version.' }),
    number_of_previewed: Type.Integer({ description: 'How many can be moved and are not moved yet.' }),
    number_of_moved: Type.Integer({ description: 'How many are moved.' }),
    number_of_skipped: Type.Integer({
      description: 'How many stay, such as those that end before; see their messages.',
    }),
    number_of_failed: Type.Integer({ description: 'How many cannot be moved; see their messages.' }),
    totals: Type.Array(Type.Object({ currency: Currency, ...Difference }, { title: 'MigrationTotal' }), {
      description: 'Of all subscriptions with a preview, for each currency. Amounts are before tax.',
    }),
  },
  { title: 'MigrationResult', description: 'What the preview found, and what has become of them so far.' },
)
export type MigrationResult = Static<typeof MigrationResult>

export const MigrationView = Type.Object(
  {
    object_type: Type.Literal('PRICING_PLAN_VERSION_MIGRATION'),
    id: IdText('migration'),
    from_pricing_plan_version_id: IdText('pricing plan version'),
    pricing_plan_version_id: IdText('pricing plan version'),
    type: MigrationType,
    start_at: Nullable(Timestamp),
    coupon_discount_behaviour: CouponBehaviour,
    status: Type.Enum(['SCHEDULED', 'PREVIEWED', 'IN_PROGRESS', 'DONE', 'CANCELLED', 'ERROR'], {
      description: 'SCHEDULED: being previewed. PREVIEWED: start it. ERROR: it could not be carried out.',
    }),
    percentage: Type.Integer({
      description: 'The percentage of the subscriptions that the preview, or the run, is done with.',
    }),
    message: Nullable(Type.String({ description: 'Why it is in ERROR.' })),
    result: Nullable(MigrationResult),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { title: 'PricingPlanVersionMigration' },
)

export const MigratedSubscriptionView = Type.Object(
  {
    object_type: Type.Literal('MIGRATED_SUBSCRIPTION'),
    id: Type.String(),
    pricing_plan_subscription_id: IdText('subscription'),
    customer_id: IdText('customer'),
    currency: Currency,
    status: Type.Enum(['SCHEDULED', 'PREVIEWED', 'MOVED', 'SKIPPED', 'ERROR']),
    start_at: Nullable(Timestamp),
    invoice_date: Nullable(Timestamp),
    amount: Nullable(Amount),
    migrated_amount: Nullable(Amount),
    difference: Nullable(Amount),
    pricing_plan_schedule_id: Nullable(IdText('schedule')),
    code: Nullable(Type.String({ description: 'The error code of a subscription that cannot be moved.' })),
    field: Nullable(Type.String({ description: 'The field of its new schedule that is refused.' })),
    message: Nullable(Type.String({ description: 'Why it stays, or cannot be moved.' })),
  },
  { title: 'MigratedSubscription' },
)
