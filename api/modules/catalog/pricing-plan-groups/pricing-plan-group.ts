// Groups of pricing plans: between which plans a subscription may move, and when a move takes effect (contract: Pricing plan group,
// Change-plan rules).
import { and, arrayOverlaps, asc, ne } from 'drizzle-orm'
import Type from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { defineResource, field, LIFECYCLE_RULES } from '../../../resource/define-resource.ts'
import { Description, IdText, LifecycleStatus, Name, Reference } from '../../../resource/shapes.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { pricingPlanResource } from '../pricing-plans/pricing-plan.ts'
import { pricingPlans } from '../pricing-plans/table.ts'
import { PlanChangeType } from './schema.ts'
import { type PricingPlanGroup, pricingPlanGroups } from './table.ts'

const PLANS_MAX = 100

export const pricingPlanGroupResource = defineResource<PricingPlanGroup>({
  objectType: 'PRICING_PLAN_GROUP',
  shapeName: 'PricingPlanGroup',
  idPrefix: 'ppgr',
  path: 'pricing-plan-groups',
  table: pricingPlanGroups,
  fields: {
    reference: field(Reference, { create: 'required', change: 'draft' }),
    name: field(Name),
    description: field(Description),
    status: field(LifecycleStatus),
    pricing_plan_ids: field(Type.Array(IdText('pricing plan'), { maxItems: PLANS_MAX })),
    upgrade_type: field(PlanChangeType),
    downgrade_type: field(PlanChangeType),
  },
  operations: ['create', 'list', 'search', 'get', 'update', 'delete', 'activate', 'deprecate', 'archive'],
  byReference: true,
  statuses: LIFECYCLE_RULES,
  filters: {
    'statuses[]': { kind: 'oneOf', column: 'status', schema: LifecycleStatus },
    pricing_plan_id: { kind: 'contains', column: 'pricing_plan_ids' },
  },
  orderBy: ['reference', 'name'],
  searchable: ['reference', 'name', 'description'],
  expand: { pricing_plans: { by: 'pricing_plan_ids', to: () => pricingPlanResource } },
  references: { pricing_plan_ids: () => pricingPlanResource },
  defaults: () => ({
    pricing_plan_ids: [],
    upgrade_type: 'IMMEDIATE_PRO_RATA',
    downgrade_type: 'NEXT_BILLING_PERIOD',
  }),
  // Before the plans are checked: who puts a plan into another group waits here, and then sees this one.
  resolve: async (uow, row, previous) => {
    await lockPlans(uow, joining(row, previous))
    return row
  },
  check: async (uow, row, previous) => {
    requireEachOnce(row)
    if (row.status !== 'DRAFT' && row.pricing_plan_ids.length === 0) {
      throw new AppError('MISSING_FIELD', 'A group that is not DRAFT has at least one plan; name its plans.', {
        field: 'pricing_plan_ids',
      })
    }
    await requireFree(uow, row, joining(row, previous))
  },
  fixture: {
    create: async seed => ({
      reference: seed.unique('tiers'),
      name: 'Self-service plans',
      status: 'ACTIVE',
      pricing_plan_ids: [(await seed.make(pricingPlanResource)).id, (await seed.make(pricingPlanResource)).id],
    }),
    update: { downgrade_type: 'NOT_ALLOWED' },
  },
})

/** The plans that were not in the group before. */
const joining = (row: PricingPlanGroup, previous: PricingPlanGroup | null): string[] =>
  (row.pricing_plan_ids ?? []).filter(id => !previous?.pricing_plan_ids.includes(id))

/** Its order is the order of the tiers, so a plan has one place. */
function requireEachOnce({ pricing_plan_ids: ids }: PricingPlanGroup): void {
  const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index)
  if (twice === -1) return
  throw new AppError('INVALID_FIELD', 'This plan is named twice; a plan has one place in its group.', {
    field: `pricing_plan_ids.${twice}`,
  })
}

async function lockPlans(uow: Uow, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await uow.tx
    .select({ id: pricingPlans.id })
    .from(pricingPlans)
    .where(and(inThisTenant(uow, pricingPlans), anyOf(pricingPlans.id, idsOf('pric', ids))))
    .orderBy(asc(pricingPlans.id))
    .for('no key update')
}

/** A subscription's plan has one group at most, or a move would have two directions. An ARCHIVED group holds no plan. */
async function requireFree(uow: Uow, row: PricingPlanGroup, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const [other] = await uow.tx
    .select({ id: pricingPlanGroups.id, ids: pricingPlanGroups.pricing_plan_ids })
    .from(pricingPlanGroups)
    .where(
      and(
        inThisTenant(uow, pricingPlanGroups),
        arrayOverlaps(pricingPlanGroups.pricing_plan_ids, [...ids]),
        ne(pricingPlanGroups.status, 'ARCHIVED'),
        ne(pricingPlanGroups.id, row.id ?? ''),
      ),
    )
    .limit(1)
  if (!other) return
  const index = row.pricing_plan_ids.findIndex(id => ids.includes(id) && other.ids.includes(id))
  throw new AppError('INVALID_FIELD', `The plan is in the group ${other.id}; a plan is in one group at most.`, {
    field: `pricing_plan_ids.${index}`,
  })
}
