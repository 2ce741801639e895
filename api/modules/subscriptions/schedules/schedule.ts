// Schedules: which plan version a subscription is on, and from when to when (semantics 4.3).
import { and, eq, ne } from 'drizzle-orm'
import Type from 'typebox'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { defineResource, field, readOnly } from '../../../resource/define-resource.ts'
import { Currency, IdText, OneOf, Period, Timestamp } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { canonicalEntitlements } from '../../catalog/features/canonical-entitlements.ts'
import { featureResource } from '../../catalog/features/feature.ts'
import { EntitlementsShape } from '../../catalog/features/schema.ts'
import { activatePrices } from '../../catalog/pricing-plans/prices-of-schedules/save-prices.ts'
import { GivenCategories } from '../../catalog/pricing-plans/prices-of-schedules/schema.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { PricingCategories } from '../../catalog/pricing-plans/schema.ts'
import { DiscountShape } from '../clauses/discount-schema.ts'
import { CommitmentShape, MarkupShape } from '../clauses/schema.ts'
import { SeatsValuesShape, UnitsShape } from '../counts/schema.ts'
import { startingNow } from '../counts/seat-spans.ts'
import { AppliedCouponShape, AppliedDiscountShape, CouponIds, PromotionCodes } from '../coupons/schema.ts'
import { couponsOf } from '../coupons/show-coupons.ts'
import { takeCoupons } from '../coupons/take-coupons.ts'
import { EnabledPricings } from '../enabled-pricings/schema.ts'
import { IncludedVolumesShape } from '../included-volumes/schema.ts'
import { changedOverrides } from '../overrides/merge-overrides.ts'
import { OverridePricings } from '../overrides/schema.ts'
import { isWithoutPlan, ownPricesOf } from '../own-prices/show-own-prices.ts'
import { type GivenOwnPrices, takeOwnPrices } from '../own-prices/take-own-prices.ts'
import { VersionSelector } from '../schema.ts'
import { subscriptionResource } from '../subscription.ts'
import { type Schedule, type Subscription, schedules } from '../table.ts'
import { checkTerms } from './check-terms.ts'
import { requireSellable, versionAtStart } from './schedule-version.ts'
import { inTimelineOrder, timelineFault } from './timeline.ts'

export const scheduleResource = defineResource<Schedule, GivenOwnPrices>({
  objectType: 'PRICING_PLAN_SCHEDULE',
  shapeName: 'PricingPlanSchedule',
  idPrefix: 'ppsc',
  path: 'pricing-plan-schedules',
  table: schedules,
  fields: {
    type: field(OneOf('DEFAULT', 'TRIAL'), { change: 'never' }),
    status: readOnly(
      OneOf('DRAFT', 'ACTIVE'),
      'POST /v1/pricing-plan-schedules/{id}/activate makes it ACTIVE. One that is ACTIVE stays so and ends at its end_at; DELETE removes a DRAFT, or the last one before it begins.',
    ),
    pricing_plan_subscription_id: field(IdText('subscription'), { create: 'required', change: 'never' }),
    pricing_plan_id: readOnly(Type.String()),
    pricing_plan_version_id: field(IdText('pricing plan version'), { change: 'draft' }),
    pricing_plan_version_selector: field(VersionSelector, { change: 'draft' }),
    approval_status: readOnly(OneOf('PENDING_REVIEW', 'APPROVED', 'DECLINED', 'CANCELLED')),
    // The start of an ACTIVE schedule may move until it has begun. That extends the trial before it, or postpones a change of plan.
    start_at: field(Timestamp, { create: 'required' }),
    // An end that lies ahead may move, or be set, while the schedule is ACTIVE: it is how a plan ends.
    end_at: field(Timestamp),
    pricing_currency: field(Currency, { change: 'draft' }),
    billing_period: field(Period, { change: 'draft' }),
    realign_invoice_date_to_pricing_plan_schedule_start_at: field(Type.Boolean(), {
      change: 'draft',
    }),
    // Besides, or instead of, what the pricings of its version grant.
    entitlements: field(EntitlementsShape, { change: 'draft' }),
    // May change while the schedule is ACTIVE, in time that no FINAL invoice has billed.
    discount: field(DiscountShape),
    markup: field(MarkupShape),
    commitment: field(CommitmentShape),
    enabled_pricings: field(EnabledPricings),
    // A change names what it changes; overrides that it does not name stay.
    override_pricings: field(OverridePricings, { change: 'draft' }),
    // Seats may change while the schedule is ACTIVE, in time that no FINAL invoice has billed.
    seats_values: field(SeatsValuesShape),
    // As may what is included.
    included_volumes: field(IncludedVolumesShape),
    units: field(UnitsShape, { change: 'draft' }),
    // Redeemed when they are saved; may change while the schedule is ACTIVE.
    coupon_ids: field(CouponIds),
    promotion_codes: field(PromotionCodes),
  },
  given: {
    // Prices of this schedule alone, without a plan or on top of one.
    pricing_categories: field(GivenCategories, { change: 'draft', shown: PricingCategories }),
  },
  // What changes a schedule also minds its neighbours and its subscription: those calls are in routes.ts; its GET is in read-schedule.ts.
  operations: ['list'],
  byReference: false,
  testClockOf: 'pricing_plan_subscription_id',
  statuses: { ACTIVE: ['DRAFT'] },
  paged: false,
  filters: {
    pricing_plan_subscription_id: { kind: 'equals', column: 'pricing_plan_subscription_id' },
  },
  names: { pricing_plan_subscription_id: () => subscriptionResource },
  orderBy: ['start_at'],
  expand: {
    pricing_plan_version: { by: 'pricing_plan_version_id', to: () => pricingPlanVersionResource },
    feature: { by: 'feature_id', to: () => featureResource, within: 'entitlements' },
  },
  defaults: async (uow, row) => ({
    type: 'DEFAULT',
    realign_invoice_date_to_pricing_plan_schedule_start_at: false,
    pricing_currency: (await subscriptionOf(uow, row)).billing_currency,
    entitlements: [],
    enabled_pricings: [],
    override_pricings: [],
    seats_values: [],
    included_volumes: [],
    units: [],
    coupon_ids: [],
    promotion_codes: [],
  }),
  resolve: async (uow, given, previous) => {
    const subscription = await subscriptionOf(uow, given)
    const row = await takeOwnPrices(uow, given, { previous, subscription })
    const { own_pricing_plan_version_id: own } = row
    if (own && row.status === 'ACTIVE' && !previous) await activatePrices(uow, own)
    return {
      ...row,
      pricing_plan_version_id:
        row.status === 'ACTIVE' && previous ? row.pricing_plan_version_id : await versionAtStart(uow, row),
      // Another end is one that was given.
      ...(previous && row.end_at !== previous.end_at ? { ended_by_next: false } : {}),
      entitlements: await canonicalEntitlements(uow, row.entitlements),
      override_pricings: changedOverrides([], row.override_pricings),
      seats_values: startingNow(row.seats_values, formatInstant(uow.now)),
      applied_coupons: await takeCoupons(uow, { schedule: row, previous, subscription }),
    }
  },
  computed: {
    coupons: Type.Array(AppliedCouponShape),
    coupon_discount: AppliedDiscountShape,
    // Only a GET that asks for it shows it.
    combined_pricing_plan_version: pricingPlanVersionResource.view,
  },
  compute: async (uow, rows) => {
    const own = await ownPricesOf(uow, rows)
    return (await couponsOf(uow, rows)).map((coupons, index) => ({ ...coupons, ...own[index] }))
  },
  // What sells its own prices alone has no plan to show.
  derive: row => (isWithoutPlan(row) ? { pricing_plan_id: null, pricing_plan_version_id: null } : {}),
  shownNull: ['pricing_plan_id', 'pricing_plan_version_id'],
  check: checkSchedule,
  fixture: {
    create: async seed => ({
      pricing_plan_subscription_id: (await seed.make(subscriptionResource)).id,
      pricing_plan_version_id: (await seed.make(pricingPlanVersionResource)).id,
      start_at: '2026-01-01T00:00:00Z',
    }),
    update: { start_at: '2026-02-01T00:00:00+01:00' },
  },
})

const REALIGN = 'realign_invoice_date_to_pricing_plan_schedule_start_at'

const subscriptionOf = async (
  uow: Uow,
  schedule: { pricing_plan_subscription_id: Id<'ppsu'> },
): Promise<Subscription> => await getOne(uow, subscriptionResource, schedule.pricing_plan_subscription_id)

/** The schedules of a subscription in the order of time. */
export async function listSchedules(uow: ReadUow, subscriptionId: Id<'ppsu'>): Promise<Schedule[]> {
  const where = and(inThisTenant(uow, schedules), eq(schedules.pricing_plan_subscription_id, subscriptionId))
  return inTimelineOrder(await uow.tx.select().from(schedules).where(where))
}

/** The caller holds the lock of the subscription, so neither its state nor the other schedules change meanwhile. */
async function checkSchedule(uow: Uow, row: Schedule, previous: Schedule | null): Promise<void> {
  const subscription = await subscriptionOf(uow, row)
  requireOpen(subscription)
  if (previous) {
    requireAhead(uow, subscription, previous, row.end_at, 'end_at')
    requireWaiting(uow, subscription, previous, row.start_at, 'start_at')
  }
  const own = previous?.id ?? ''
  const where = and(
    inThisTenant(uow, schedules),
    eq(schedules.pricing_plan_subscription_id, row.pricing_plan_subscription_id),
    previous ? ne(schedules.id, previous.id) : undefined,
  )
  const others = await uow.tx.select().from(schedules).where(where)
  const billedUntil = subscription.status === 'ACTIVE' ? formatInstant(uow.now) : null
  const fault = timelineFault({ ...row, id: own }, others, billedUntil)
  if (fault) throw new AppError('INVALID_FIELD', fault.message, { field: fault.field })
  requireExact(row, subscription)
  // A new one is ACTIVE where a command puts it before another that is.
  if (row.status === 'DRAFT' || previous === null)
    await requireSellable(uow, row, subscription, row.status === 'ACTIVE')
  await checkTerms(uow, row, previous)
}

/** Throws INVALID_FIELD for a schedule that sets the billing day of periods that start with the calendar (semantics 4.3). */
export function requireExact(row: Pick<Schedule, typeof REALIGN>, { billing_time }: Subscription): void {
  if (!row[REALIGN] || billing_time === 'EXACT') return
  const message =
    'Only an EXACT subscription is billed from the start of a schedule on; CALENDAR periods start with the calendar. Leave it out.'
  throw new AppError('INVALID_FIELD', message, { field: REALIGN })
}

/** Throws unless the subscription can still be given, or change, its schedules. */
export function requireOpen(subscription: Subscription): void {
  if (subscription.status === 'DRAFT' || subscription.status === 'ACTIVE') return
  throw new AppError(
    'INVALID_OPERATION',
    `The subscription is ${subscription.status}; its schedules cannot change any more.`,
    {
      resourceId: subscription.id,
      resourceType: subscriptionResource.objectType,
    },
  )
}

/** Throws when a new end would change what a schedule has billed: neither its old end nor the new one may have passed. */
export function requireAhead(
  uow: Uow,
  subscription: Subscription,
  schedule: Schedule,
  end: string | null,
  field: string,
): void {
  if (subscription.status !== 'ACTIVE' || schedule.status !== 'ACTIVE' || end === schedule.end_at) return
  const now = formatInstant(uow.now)
  if (![schedule.end_at, end].some(each => each !== null && each < now)) return
  const message = `The schedule ${schedule.id} is ACTIVE, so its past cannot change: its end, old and new, must lie ahead.`
  throw new AppError('INVALID_FIELD', message, { field })
}

/** Throws when a new start would change what a schedule has billed: neither its old start nor the new one may have passed. */
export function requireWaiting(
  uow: Uow,
  subscription: Subscription,
  schedule: Schedule,
  start: string,
  field: string,
): void {
  if (subscription.status !== 'ACTIVE' || schedule.status !== 'ACTIVE' || start === schedule.start_at) return
  const now = formatInstant(uow.now)
  if (schedule.start_at > now && start >= now) return
  const message =
    schedule.start_at > now
      ? `The schedule ${schedule.id} is ACTIVE, so it cannot start in the past; have it start now or later.`
      : `The schedule ${schedule.id} is ACTIVE and has begun, so its start stays.`
  throw new AppError('INVALID_FIELD', message, { field })
}
