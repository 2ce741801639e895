// The prices that a schedule has without a plan, or on top of one: what its bodies say of them (semantics 4.3).
import { isDeepStrictEqual } from 'node:util'
import { and, eq, ne } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError, within } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { savePrices } from '../../catalog/pricing-plans/prices-of-schedules/save-prices.ts'
import type { GivenCategories } from '../../catalog/pricing-plans/prices-of-schedules/schema.ts'
import { pricingPlanVersions } from '../../catalog/pricing-plans/table.ts'
import { type Schedule, type Subscription, schedules } from '../table.ts'
import { idsOfPrices } from './carried-own-prices.ts'

/** The member of a body that gives them. */
export type GivenOwnPrices = { readonly pricing_categories?: GivenCategories | null }

/**
 * The schedule with the version of the prices that its body gives; the same where the body says nothing of them. Without a plan that is the
 * version it sells. Throws with the path in `pricing_categories`, and MISSING_FIELD where neither a plan nor prices would be left.
 */
export async function takeOwnPrices(
  uow: Uow,
  { pricing_categories: given, ...schedule }: Schedule & GivenOwnPrices,
  { previous, subscription }: { readonly previous: Schedule | null; readonly subscription: Subscription },
): Promise<Schedule> {
  // A copy of a schedule has its version already.
  if (given === undefined || (given === null && !previous))
    return schedule.pricing_plan_version_id === null ? await withoutPlan(uow, schedule) : schedule
  const before = previous?.own_pricing_plan_version_id ?? null
  const stated = await withoutOverrides(uow, schedule, previous)
  const isWithoutPlan = (schedule.pricing_plan_version_id ?? before) === before
  if (!hasPricings(given ?? [])) {
    refuseEmptyGroups(given ?? [])
    if (isWithoutPlan) throw withoutPrices()
    return { ...stated, own_pricing_plan_version_id: null }
  }
  const saved = await within('pricing_categories', () =>
    savePrices(uow, given ?? [], {
      versionId: before,
      isShared: async () => previous !== null && before !== null && (await isShared(uow, before, previous.id)),
      customerId: subscription.customer_id,
    }),
  )
  const sold = isWithoutPlan ? { pricing_plan_id: saved.pricing_plan_id, pricing_plan_version_id: saved.id } : {}
  return { ...withIds(stated, saved.ids), own_pricing_plan_version_id: saved.id, ...sold }
}

const hasPricings = (given: GivenCategories): boolean =>
  given
    .flatMap(category => [category, ...(category.pricing_groups ?? [])])
    .some(({ pricings }) => (pricings ?? []).length > 0)

/** Throws MISSING_FIELD for the first group, where no category has a pricing: what is sold are the pricings. */
function refuseEmptyGroups(given: GivenCategories): void {
  const index = given.findIndex(({ pricing_groups }) => (pricing_groups ?? []).length > 0)
  if (index < 0) return
  throw new AppError(
    'MISSING_FIELD',
    'No category has a pricing, so there is nothing to sell; give one in this group.',
    {
      field: `pricing_categories.${index}.pricing_groups.0.pricings`,
    },
  )
}

/** The schedule whose plan is taken away: it sells its own prices alone. Throws MISSING_FIELD where it has none. */
async function withoutPlan(uow: Uow, schedule: Schedule): Promise<Schedule> {
  const { own_pricing_plan_version_id: own } = schedule
  if (own === null) throw withoutPrices()
  const v = pricingPlanVersions
  const [version] = await uow.tx
    .select({ pricing_plan_id: v.pricing_plan_id, pricing_plan_version_id: v.id })
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.id, own)))
  return { ...schedule, ...version }
}

/** The refusal of a schedule that would sell nothing. */
export const withoutPrices = (): AppError =>
  new AppError(
    'MISSING_FIELD',
    'Name the version: pricing_plan_version_id, or pricing_plan_version_selector; or give prices in pricing_categories.',
    { field: 'pricing_plan_version_id' },
  )

/** The schedule without the overrides of its own prices: these are as the body gives them, unless it gives overrides too. */
async function withoutOverrides(uow: Uow, schedule: Schedule, previous: Schedule | null): Promise<Schedule> {
  const { override_pricings: overrides } = schedule
  if (!previous || overrides.length === 0 || !isDeepStrictEqual(overrides, previous.override_pricings)) return schedule
  const own = await idsOfPrices(uow, previous.own_pricing_plan_version_id)
  return { ...schedule, override_pricings: overrides.filter(each => !own.has(each.original_pricing_id)) }
}

async function isShared(uow: Uow, versionId: Id<'ppve'>, exceptId: Id<'ppsc'>): Promise<boolean> {
  const s = schedules
  const [other] = await uow.tx
    .select({ id: s.id })
    .from(s)
    .where(and(inThisTenant(uow, s), eq(s.own_pricing_plan_version_id, versionId), ne(s.id, exceptId)))
    .limit(1)
  return other !== undefined
}

const OF_PRICES = [
  'discount',
  'markup',
  'commitment',
  'enabled_pricings',
  'override_pricings',
  'included_volumes',
  'seats_values',
  'units',
] as const

/** The schedule with what it states of prices moved to their new ids. */
function withIds(schedule: Schedule, ids: ReadonlyMap<string, string>): Schedule {
  if (ids.size === 0) return schedule
  const renamed = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_name, each: unknown) =>
      typeof each === 'string' ? (ids.get(each) ?? each) : each,
    )
  const stated = Object.fromEntries(OF_PRICES.map(name => [name, renamed(schedule[name] ?? null)]))
  return { ...schedule, ...(stated as Partial<Schedule>) }
}
