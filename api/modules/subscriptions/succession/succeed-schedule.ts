// The schedule that comes after another: the same plan for longer, or another version of a plan (semantics 4.3).
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { pricingsOf } from '../../catalog/pricing-plans/version-pricings.ts'
import { cloneSchedule } from '../clone.ts'
import { changedOverrides, overridden } from '../overrides/merge-overrides.ts'
import type { OverridePricing } from '../overrides/schema.ts'
import { type NamesVersion, namedVersion } from '../schedules/named-version.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { lockSchedule, makeRoom, type Neighbours } from '../schedules/schedule-commands.ts'
import { statedWithin } from '../stated-times.ts'
import type { Schedule } from '../table.ts'
import { versionsSold } from '../versions-sold.ts'
import { type Indexing, indexedOverrides } from './indexing.ts'
import { termsInVersion } from './terms-in-version.ts'

/** When the new one starts and ends; times are canonical. An `end_at` of null runs on. */
export type Span = {
  readonly start_at?: string
  readonly end_at?: string | null
  /** Whether billing periods count from its start on. */
  readonly realign_invoice_date_to_pricing_plan_schedule_start_at?: boolean | null
}
/** Whether a new schedule has the coupons of the other (contract: coupon_discount_behaviour). */
export type CouponBehaviour = { readonly coupon_discount_behaviour?: 'NONE' | 'CARRY_OVER' }

/** The coupons of a schedule that is made from another, where they are not those of the other. NONE is the default. */
export const carriedCoupons = ({ coupon_discount_behaviour: behaviour }: CouponBehaviour) =>
  behaviour === 'CARRY_OVER' ? {} : { coupon_ids: [], promotion_codes: [] }

const realignedBy = ({ realign_invoice_date_to_pricing_plan_schedule_start_at: realign }: Span) => ({
  realign_invoice_date_to_pricing_plan_schedule_start_at: realign ?? false,
})

/**
 * Creates a DRAFT of the same version, with the same terms. It starts where the other ends, and runs on unless it is given an end. Its prices are indexed where
 * that is wanted.
 */
export async function copySchedule(
  uow: Uow,
  id: string,
  span: Span & CouponBehaviour & Indexing,
  neighbours: Neighbours,
): Promise<Schedule> {
  const { schedule, subscription } = await lockSchedule(uow, id)
  const placed = { start_at: startOf(schedule, span), end_at: span.end_at ?? null }
  await makeRoom(uow, subscription, placed, neighbours)
  return await cloneSchedule(uow, subscription, schedule, {
    ...placed,
    ...realignedBy(span),
    ...statedWithin(schedule, { start: placed.start_at, end: placed.end_at }),
    pricing_plan_version_selector: null,
    override_pricings: await indexedPrices(uow, schedule, span),
    carries_usage: true,
    ...carriedCoupons(span),
  }).catch(asVersionOf(schedule))
}

/** A copy names no version, so one that is not sold any more is no fault of the request: it is that of the schedule. */
const asVersionOf =
  ({ id }: Schedule) =>
  (error: unknown): never => {
    if (!(error instanceof AppError) || error.details.field !== 'pricing_plan_version_id') throw error
    const message = `The schedule ${id} cannot be copied. ${error.message} POST /v1/pricing-plan-schedules/${id}/migrate moves to another version.`
    throw new AppError('INVALID_OPERATION', message, {
      resourceId: id,
      resourceType: scheduleResource.objectType,
      cause: error,
    })
  }

/** The overrides of a schedule, with those that index its prices. */
async function indexedPrices(uow: Uow, schedule: Schedule, indexing: Indexing): Promise<readonly OverridePricing[]> {
  const { override_pricings: overrides } = schedule
  const sold = await pricingsOf(uow, await versionsSold(uow, schedule))
  const own = sold.map(pricing => overridden(pricing, overrides))
  return changedOverrides(overrides, indexedOverrides(own, indexing))
}

/**
 * Creates a DRAFT of another version, with the currency, billing period and entitlements of the schedule it comes after, and with the
 * discounts that are not limited to prices of the old version. Within a plan it keeps the overrides and the enabled ADDONs too. It ends
 * when that one ended, if that is after its own start.
 */
export async function migrateSchedule(
  uow: Uow,
  id: string,
  body: Span & CouponBehaviour & NamesVersion & { readonly status?: 'ACTIVE' },
  neighbours: Neighbours,
): Promise<Schedule> {
  const { schedule, subscription } = await lockSchedule(uow, id)
  const version = await namedVersion(uow, body)
  if (!version) {
    const message = 'Name the version to move to: pricing_plan_version_id, or pricing_plan_version_selector.'
    throw new AppError('MISSING_FIELD', message, { field: 'pricing_plan_version_id' })
  }
  const start_at = startOf(schedule, body)
  const until = schedule.end_at !== null && schedule.end_at > start_at ? schedule.end_at : null
  const placed = { start_at, end_at: body.end_at === undefined ? until : body.end_at }
  await makeRoom(uow, subscription, placed, neighbours)
  return await cloneSchedule(uow, subscription, schedule, {
    ...placed,
    ...realignedBy(body),
    ...(body.status ? { status: body.status } : {}),
    type: 'DEFAULT',
    carries_usage: version.pricing_plan_id === schedule.pricing_plan_id,
    ended_by_next: schedule.ended_by_next && placed.end_at === schedule.end_at,
    pricing_plan_version_selector: body.pricing_plan_version_selector ?? null,
    ...(await termsInVersion(uow, schedule, { version, start: start_at, end: placed.end_at })),
    ...carriedCoupons(body),
  })
}

function startOf({ id, end_at }: Schedule, { start_at }: Span): string {
  const start = start_at ?? end_at
  if (start !== null) return start
  const message = `The schedule ${id} runs on without an end; say when the new one starts.`
  throw new AppError('MISSING_FIELD', message, { field: 'start_at' })
}
