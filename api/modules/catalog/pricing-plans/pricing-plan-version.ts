// Versions of a pricing plan. A DRAFT is built up from pricings; once ACTIVE it never changes, so a price can always be
// explained by the version a schedule names (semantics 3.1).
import { and, eq, max } from 'drizzle-orm'
import Type from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field, LIFECYCLE_RULES, type Resource, readOnly } from '../../../resource/define-resource.ts'
import { IdText, LifecycleStatus } from '../../../resource/shapes.ts'
import { findOne, lockOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { CONDITION_EXPANSIONS } from '../conditions/expansions.ts'
import { CreditTypes } from '../credit-types/shown-credit-types.ts'
import { featureResource } from '../features/feature.ts'
import { productItemResource, productResource } from '../products/product.ts'
import { productCategoryResource } from '../products/product-category.ts'
import { checkActivation } from './checks/check-activation.ts'
import { pricingPlanResource } from './pricing-plan.ts'
import { checkRateCard } from './rate-card.ts'
import { PricingCategories, RateCardShape } from './schema.ts'
import { type PricingPlanVersion, pricingPlanVersions } from './table.ts'
import { CurrencySettings, checkSettings, PeriodSettings } from './variants/settings.ts'
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
    pricing_currency_settings: field(CurrencySettings, { change: 'draft' }),
    billing_period_settings: field(PeriodSettings, { change: 'draft' }),
  },
  operations: ['create', 'list', 'get', 'update', 'delete'],
  filters: { pricing_plan_id: { kind: 'equals', column: 'pricing_plan_id' } },
  orderBy: ['version'],
  byReference: false,
  statuses: LIFECYCLE_RULES,
  expand: {
    ...CONDITION_EXPANSIONS,
    pricing_plan: { by: 'pricing_plan_id', to: () => pricingPlanResource },
    feature: { by: 'feature_id', to: () => featureResource, within: '**' },
    product_category: { by: 'product_category_id', to: () => productCategoryResource, within: 'pricing_categories' },
    products: { by: 'product_ids', to: () => productResource, within: '**' },
    product_items: { by: 'product_item_ids', to: () => productItemResource, within: '**' },
    wallet_type: { by: 'wallet_type_id', to: 'WALLET_TYPE', within: '**' },
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
    return { version: (highest?.version ?? 0) + 1, ...(await settingsCopied(uow, given)) }
  },
  check: async (uow, row, previous) => {
    await checkRateCard(uow, row)
    checkSettings(row)
    if (row.status !== 'ACTIVE' || previous?.status === 'ACTIVE') return
    if (!previous) {
      const message = 'A new version is DRAFT: give it its pricings, then make it ACTIVE.'
      throw new AppError('INVALID_FIELD', message, { field: 'status' })
    }
    await checkActivation(uow, row)
  },
  computed: {
    pricing_categories: PricingCategories,
    credit_types: CreditTypes,
    pricing_currency_settings: CurrencySettings,
    billing_period_settings: PeriodSettings,
  },
  compute: pricingCategoriesOf,
  fixture: {
    create: async seed => ({ pricing_plan_id: (await seed.make(pricingPlanResource)).id }),
    // Only its status can be changed, and not before it has pricings.
    update: {},
  },
})

/** A copy is sold in what the version was that it is a copy of. */
async function settingsCopied(
  uow: Uow,
  { copied_from_pricing_plan_version_id: from }: Partial<PricingPlanVersion>,
): Promise<Partial<PricingPlanVersion>> {
  const source = from ? await findOne(uow, pricingPlanVersionResource, from) : null
  if (!source) return {}
  const { pricing_currency_settings, billing_period_settings } = source
  return { pricing_currency_settings, billing_period_settings }
}
