// Versions of a pricing plan. A DRAFT is built up from pricings; once ACTIVE it never changes, so a price can always be
// explained by the version a schedule names (semantics 3.1).
import { and, eq, max } from 'drizzle-orm'
import Type from 'typebox'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field, LIFECYCLE_RULES, type Resource, readOnly } from '../../../resource/define-resource.ts'
import { Currency, IdText, LifecycleStatus } from '../../../resource/shapes.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { featureResource } from '../features/feature.ts'
import { meterPropertyVariableResource } from '../meter-property-variables/variable.ts'
import { checkActivation } from './checks/check-activation.ts'
import { pricingPlanResource } from './pricing-plan.ts'
import { checkRateCard } from './rate-card.ts'
import { PricingCategories, RateCardShape } from './schema.ts'
import { type PricingPlanVersion, pricingPlanVersions } from './table.ts'
import { pricingCategoriesOf } from './version-pricings.ts'

export const pricingPlanVersionResource: Resource<PricingPlanVersion> = defineResource<PricingPlanVersion>({
  objectType: 'PRICING_PLAN_VERSION',
  shapeName: 'PricingPlanVersion',
  idPrefix: 'ppve',
  path: 'pricing-plan-versions',
  table: pricingPlanVersions,
  fields: {
    pricing_plan_id: field(IdText('pricing plan'), { create: 'required', change: 'never' }),
    version: readOnly(Type.Integer()),
    status: field(LifecycleStatus),
    copied_from_pricing_plan_version_id: field(IdText('pricing plan version'), { change: 'never' }),
    rate_card: field(RateCardShape, { change: 'draft' }),
  },
  operations: ['create', 'list', 'get', 'update', 'delete'],
  filters: { pricing_plan_id: { kind: 'equals', column: 'pricing_plan_id' } },
  orderBy: ['version'],
  byReference: false,
  statuses: LIFECYCLE_RULES,
  expand: {
    pricing_plan: { by: 'pricing_plan_id', to: () => pricingPlanResource },
    meter_property_variable: {
      by: 'meter_property_variable_id',
      to: () => meterPropertyVariableResource,
      within: '**',
    },
    feature: { by: 'feature_id', to: () => featureResource, within: '**' },
  },
  references: {
    pricing_plan_id: () => pricingPlanResource,
    copied_from_pricing_plan_version_id: () => pricingPlanVersionResource,
  },
  // The lock on the plan queues those who would take the same number.
  defaults: async (uow, given) => {
    const plan = await lockOne(uow, pricingPlanResource, given.pricing_plan_id)
    if (!plan) throw notFound(pricingPlanResource, given.pricing_plan_id, 'pricing_plan_id')
    const [highest] = await uow.tx
      .select({ version: max(pricingPlanVersions.version) })
      .from(pricingPlanVersions)
      .where(and(inThisTenant(uow, pricingPlanVersions), eq(pricingPlanVersions.pricing_plan_id, plan.id)))
    return { version: (highest?.version ?? 0) + 1 }
  },
  check: async (uow, row, previous) => {
    await checkRateCard(uow, row)
    if (row.status !== 'ACTIVE' || previous?.status === 'ACTIVE') return
    if (!previous) {
      const message = 'A new version is DRAFT: give it its pricings, then make it ACTIVE.'
      throw new AppError('INVALID_FIELD', message, { field: 'status' })
    }
    await checkActivation(uow, row.id)
  },
  computed: {
    pricing_categories: PricingCategories,
    pricing_currency_settings: Type.Object({
      default_pricing_currency: Currency,
      pricing_currencies: Type.Array(Currency),
    }),
  },
  compute: pricingCategoriesOf,
  fixture: {
    create: async seed => ({ pricing_plan_id: (await seed.make(pricingPlanResource)).id }),
    // Only its status can be changed, and not before it has pricings.
    update: {},
  },
})
