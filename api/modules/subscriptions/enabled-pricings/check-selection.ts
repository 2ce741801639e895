// The constraints of pricing groups, whatever changes a schedule: they hold at every instant of it (semantics 3.1).
import { and, eq, or, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { pricingGroups } from '../../catalog/pricing-groups/table.ts'
import { loadRateCards, versionSpans } from '../../catalog/pricing-plans/rate-card.ts'
import { pricingPlanVersions } from '../../catalog/pricing-plans/table.ts'
import { zoneOfSubscription } from '../billing-time/billing-calendar.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Schedule } from '../table.ts'
import { type BrokenSelection, brokenSelection, type SelectionGroup } from './selection.ts'

/**
 * Throws INVALID_FIELD where what the schedule enables breaks the constraint of a pricing group at some instant, naming the field and
 * the instant. A DRAFT may enable too little still, never too much.
 */
export async function checkSelection(uow: Uow, schedule: Schedule): Promise<void> {
  const groups = await groupsByVersion(uow, schedule)
  if (groups.size === 0) return
  for (const { pricing_plan_version_id: id, span } of await versionsOf(uow, schedule)) {
    const own = groups.get(id) ?? []
    const judged = schedule.status === 'ACTIVE' ? own : own.map(withoutLeast)
    const broken = brokenSelection(judged, schedule.enabled_pricings, span)
    if (broken) throw refusal(broken, schedule)
  }
}

const MOST_ONLY = { ANY: 'ANY', AT_LEAST_ONE: 'ANY', AT_MOST_ONE: 'AT_MOST_ONE', EXACTLY_ONE: 'AT_MOST_ONE' } as const
const withoutLeast = (group: SelectionGroup): SelectionGroup => ({
  ...group,
  selection_constraint: MOST_ONLY[group.selection_constraint],
})

/** The versions that price the schedule in turn: its own, or those of its rate card; and that of the prices it has besides. */
async function versionsOf(uow: Uow, schedule: Schedule) {
  const span = { start: at(schedule.start_at), end: schedule.end_at === null ? null : at(schedule.end_at) }
  const { pricing_plan_version_id: id, own_pricing_plan_version_id: own } = schedule
  const besides = own && own !== id ? [{ pricing_plan_version_id: own, span }] : []
  const card = (await loadRateCards(uow, [schedule.pricing_plan_id])).get(schedule.pricing_plan_id)
  if (!card) return [{ pricing_plan_version_id: id, span }, ...besides]
  const subscription = await getOne(uow, subscriptionResource, schedule.pricing_plan_subscription_id)
  return [...versionSpans(card, span, await zoneOfSubscription(uow, subscription)), ...besides]
}

/** The groups of all versions of its plan, and of its own prices, with their pricings. */
async function groupsByVersion(
  uow: ReadUow,
  { pricing_plan_id: planId, own_pricing_plan_version_id: own }: Schedule,
): Promise<ReadonlyMap<string, readonly SelectionGroup[]>> {
  const g = pricingGroups
  const rows = await uow.tx
    .select({
      version: g.pricing_plan_version_id,
      name: g.name,
      selection_constraint: g.selection_constraint,
      pricingIds: sql<string[]>`array(select p.id from pricings p where p.platform_id = ${g.platform_id}
        and p.environment = ${g.environment} and p.pricing_group_id = ${g.id} order by p.id)`,
    })
    .from(g)
    .innerJoin(
      pricingPlanVersions,
      and(inThisTenant(uow, pricingPlanVersions), eq(pricingPlanVersions.id, g.pricing_plan_version_id)),
    )
    .where(
      and(
        inThisTenant(uow, g),
        or(eq(pricingPlanVersions.pricing_plan_id, planId), own ? eq(pricingPlanVersions.id, own) : undefined),
      ),
    )
    .orderBy(g.display_order, g.created_at, g.id)
  return groupBy(rows, row => row.version)
}

const RULE = {
  ANY: 'any number of its pricings',
  AT_LEAST_ONE: 'at least one of its pricings',
  AT_MOST_ONE: 'at most one of its pricings',
  EXACTLY_ONE: 'exactly one of its pricings',
} as const

function refusal({ group, at: instant, enabled, entry }: BrokenSelection, { id }: Schedule): AppError {
  const rule = RULE[group.selection_constraint]
  const message = `From ${formatInstant(instant)} on the schedule enables ${enabled} pricings of the group ${group.name}; enable ${rule} at any time.`
  const field = entry === null ? 'enabled_pricings' : `enabled_pricings.${entry}`
  return new AppError('INVALID_FIELD', message, { field, resourceId: id, resourceType: 'PRICING_PLAN_SCHEDULE' })
}
