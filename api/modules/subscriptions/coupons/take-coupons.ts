// The coupons that a schedule names, judged when it takes them on (semantics 2): what it has already is not judged again.
import { and, asc, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { findOne, getOne, requireAll } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { meterValueResource } from '../../catalog/meters/meter-value.ts'
import { countRedemptions, timesOf } from '../../coupons/count-redemptions.ts'
import { couponResource } from '../../coupons/coupon.ts'
import { findCode, promotionCodeResource } from '../../coupons/promotion-code.ts'
import { type Coupon, coupons, type PromotionCode, promotionCodes } from '../../coupons/table.ts'
import { type Schedule, type Subscription, schedules } from '../table.ts'
import { startOfCoupon } from './coupon-lists.ts'
import type { AppliedCoupon } from './schema.ts'

const CODES = 'promotion_codes'
const invalid = (message: string, field: string): AppError => new AppError('INVALID_FIELD', message, { field })

type Named = { readonly couponId: string; readonly code: PromotionCode | null; readonly field: string }

/**
 * The coupons of the schedule as they are kept on it. A coupon counts once for a subscription: one that another schedule of it has
 * continues from where that began. Throws INVALID_FIELD when a coupon or a code cannot be redeemed; it holds their rows until commit,
 * so that a limit is never exceeded; a dry run, which redeems nothing, does not. Nor does a TEMPLATE redeem anything.
 */
export async function takeCoupons(
  uow: Uow,
  { schedule, previous, subscription }: TakenBy,
): Promise<readonly AppliedCoupon[]> {
  const named = await namedCoupons(uow, schedule)
  if (subscription.customer_id === null || named.length === 0) return []
  const own = previous?.applied_coupons ?? []
  const known = new Map([
    ...(await onOtherSchedules(uow, schedule)),
    ...own.map(each => [each.coupon_id, each] as const),
  ])
  const added = named.filter(({ couponId }) => !known.has(couponId))
  await hold(uow, added)
  const now = formatInstant(uow.now)
  // One that has not begun has its coupons from its start on, wherever that moves.
  const start = previous?.status === 'ACTIVE' && previous.start_at <= now ? now : null
  const taken: AppliedCoupon[] = []
  for (const one of named) {
    const before = known.get(one.couponId)
    const coupon = before ?? (await redeemed(uow, one, { subscription, start }))
    requireCurrency(coupon, schedule.pricing_currency, one.field)
    taken.push(coupon)
  }
  return taken
}

type TakenBy = {
  readonly schedule: Schedule
  readonly previous: Schedule | null
  readonly subscription: Subscription
}

/** What the schedule names, each coupon once. */
async function namedCoupons(uow: Uow, { coupon_ids, promotion_codes }: Schedule): Promise<Named[]> {
  const ids = coupon_ids ?? []
  await requireAll(
    uow,
    couponResource,
    ids.map((id, index) => ({ id, field: `coupon_ids.${index}` })),
  )
  const named: Named[] = ids.map((couponId, index) => ({ couponId, code: null, field: `coupon_ids.${index}` }))
  for (const text of promotion_codes ?? []) {
    const code = await findCode(uow, text)
    if (!code) throw invalid(`There is no promotion code ${JSON.stringify(text)}.`, CODES)
    named.push({ couponId: code.coupon_id, code, field: CODES })
  }
  const twice = named.find(({ couponId }, index) => named.findIndex(each => each.couponId === couponId) !== index)
  if (twice) throw invalid(`The coupon ${twice.couponId} is named twice; a schedule has it once.`, twice.field)
  return named
}

/** Coupons of the other schedules of its subscription, from where they began to count. */
async function onOtherSchedules(uow: Uow, schedule: Schedule): Promise<[string, AppliedCoupon][]> {
  const others = await uow.tx
    .select({ id: schedules.id, start_at: schedules.start_at, applied: schedules.applied_coupons })
    .from(schedules)
    .where(
      and(
        inThisTenant(uow, schedules),
        eq(schedules.pricing_plan_subscription_id, schedule.pricing_plan_subscription_id),
      ),
    )
    .orderBy(asc(schedules.start_at))
  return others
    .filter(({ id }) => id !== schedule.id)
    .toReversed()
    .flatMap(other =>
      other.applied.map((coupon): [string, AppliedCoupon] => [
        coupon.coupon_id,
        { ...coupon, start_at: startOfCoupon(coupon, other.start_at) },
      ]),
    )
}

/** In the order of their ids, so that two who redeem the same two wait for each other and never crosswise. */
async function hold(uow: Uow, named: readonly Named[]): Promise<void> {
  if (named.length === 0 || uow.isDryRun) return
  const couponIds = named.map(({ couponId }) => couponId)
  const codeIds = named.flatMap(({ code }) => (code ? [code.id] : []))
  await uow.tx
    .select({ id: coupons.id })
    .from(coupons)
    .where(and(inThisTenant(uow, coupons), anyOf(coupons.id, idsOf('coup', couponIds))))
    .orderBy(asc(coupons.id))
    .for('no key update')
  if (codeIds.length === 0) return
  await uow.tx
    .select({ id: promotionCodes.id })
    .from(promotionCodes)
    .where(and(inThisTenant(uow, promotionCodes), anyOf(promotionCodes.id, codeIds)))
    .orderBy(asc(promotionCodes.id))
    .for('no key update')
}

async function redeemed(
  uow: Uow,
  { couponId, code, field }: Named,
  { subscription, start }: { readonly subscription: Subscription; readonly start: string | null },
): Promise<AppliedCoupon> {
  const coupon = await getOne(uow, couponResource, couponId)
  requireRedeemable(uow, coupon, { noun: 'coupon', field })
  await requireLeft(uow, coupon, { noun: 'coupon', by: 'coupon_id', field })
  if (code) {
    const held = (await findOne(uow, promotionCodeResource, code.id)) ?? code
    requireRedeemable(uow, held, { noun: 'promotion code', field })
    requireCustomer(held, subscription)
    await requireLeft(uow, held, { noun: 'promotion code', by: 'promotion_code_id', field })
  }
  const { usage } = coupon.discount
  const value = usage ? await getOne(uow, meterValueResource, usage.meter_value_id) : null
  return {
    coupon_id: coupon.id,
    coupon_name: coupon.name,
    promotion_code_id: code?.id ?? null,
    promotion_code: code?.code ?? null,
    discount: coupon.discount,
    meter_value_reference: value?.reference ?? null,
    duration: coupon.duration,
    limited_to: coupon.limited_to,
    start_at: start,
  }
}

function requireRedeemable(
  uow: Uow,
  { status, start_at, end_at }: Pick<Coupon | PromotionCode, 'status' | 'start_at' | 'end_at'>,
  { noun, field }: { readonly noun: string; readonly field: string },
): void {
  const now = formatInstant(uow.now)
  if (status !== 'ACTIVE') throw invalid(`The ${noun} is ${status}; only one that is ACTIVE can be redeemed.`, field)
  if (start_at !== null && now < start_at) throw invalid(`The ${noun} can be redeemed from ${start_at} on.`, field)
  if (end_at !== null && now >= end_at) throw invalid(`The ${noun} could be redeemed until ${end_at}.`, field)
}

async function requireLeft(
  uow: Uow,
  { id, maximum_redemptions: maximum }: Pick<Coupon | PromotionCode, 'id' | 'maximum_redemptions'>,
  {
    noun,
    by,
    field,
  }: { readonly noun: string; readonly by: 'coupon_id' | 'promotion_code_id'; readonly field: string },
): Promise<void> {
  if (maximum === null) return
  const used = (await countRedemptions(uow, by, [id])).get(id) ?? 0
  if (used >= maximum)
    throw invalid(`The ${noun} was redeemed ${timesOf(used)}, which is as often as it can be.`, field)
}

/** Whether the customer of a subscription may redeem a code. */
export function mayRedeem(
  { limited_to }: Pick<PromotionCode, 'limited_to'>,
  { customer_id }: Pick<Subscription, 'customer_id'>,
): boolean {
  const ids = limited_to?.customer_ids ?? []
  return ids.length === 0 || (customer_id !== null && ids.includes(customer_id))
}

function requireCustomer(code: PromotionCode, subscription: Subscription): void {
  if (mayRedeem(code, subscription)) return
  throw invalid('The promotion code is for other customers.', CODES)
}

function requireCurrency({ discount, coupon_id }: AppliedCoupon, currency: string, field: string): void {
  const given = discount.amount ?? discount.usage?.amount ?? discount.condition?.value.amount
  if (!given || given.currency === currency) return
  throw invalid(`The schedule is priced in ${currency}, and the coupon ${coupon_id} is in ${given.currency}.`, field)
}
