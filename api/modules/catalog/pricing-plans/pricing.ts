// Pricings: what the products of a plan version cost. They belong to their version and are fixed with it.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field } from '../../../resource/define-resource.ts'
import { DisplayOrder, IdText, Name, OneOf } from '../../../resource/shapes.ts'
import { findMany, getOne } from '../../../resource/store.ts'
import { CONDITION_EXPANSIONS } from '../conditions/expansions.ts'
import { canonicalEntitlements } from '../features/canonical-entitlements.ts'
import { featureResource } from '../features/feature.ts'
import { EntitlementsShape } from '../features/schema.ts'
import { productItemResource, productResource } from '../products/product.ts'
import { canonicalItems } from './canonical-items.ts'
import { checkPricing } from './checks/check-pricing.ts'
import { findInItems } from './find-in-items.ts'
import { pricingPlanVersionResource } from './pricing-plan-version.ts'
import { requireDraftVersion } from './require-draft-version.ts'
import { PricingItemsShape, ProductIds } from './schema.ts'
import { pricingGroupResource } from './selection/pricing-group.ts'
import { type Pricing, pricings } from './table.ts'
import { withoutVersion } from './version-pricings.ts'

export const pricingResource = defineResource<Pricing>({
  objectType: 'PRICING',
  shapeName: 'Pricing',
  idPrefix: 'prcg',
  path: 'pricings',
  table: pricings,
  fields: {
    pricing_plan_version_id: field(IdText('pricing plan version'), { create: 'required', change: 'never' }),
    pricing_group_id: field(IdText('pricing group')),
    name: field(Name),
    product_type: field(OneOf('DEFAULT', 'ADDON')),
    product_ids: field(ProductIds, { create: 'required' }),
    display_order: field(DisplayOrder),
    items: field(PricingItemsShape),
    entitlements: field(EntitlementsShape),
  },
  operations: ['create', 'get', 'update', 'delete'],
  byReference: false,
  expand: {
    ...CONDITION_EXPANSIONS,
    products: { by: 'product_ids', to: () => productResource },
    product_items: { by: 'product_item_ids', to: () => productItemResource, within: 'items' },
    feature: { by: 'feature_id', to: () => featureResource, within: 'entitlements' },
    wallet_type: { by: 'wallet_type_id', to: 'WALLET_TYPE', within: '**' },
  },
  references: {
    pricing_plan_version_id: () => pricingPlanVersionResource,
    pricing_group_id: () => pricingGroupResource,
    product_ids: () => productResource,
  },
  derive: withoutVersion,
  shownNull: ['pricing_plan_version_id'],
  defaults: async (uow, given) => {
    const products = await findMany(uow, productResource, given.product_ids.slice(0, 1))
    const { name = 'Pricing', product_type = 'DEFAULT' } = products[0] ?? {}
    return { name, product_type, items: [], entitlements: [] }
  },
  resolve: async (uow, row, previous) => ({
    ...row,
    items: canonicalItems(row.items, previous?.items ?? [], await findInItems(uow, row.items)),
    entitlements: await canonicalEntitlements(uow, row.entitlements),
  }),
  check: async (uow, row, previous) => {
    await requireDraftVersion(uow, row)
    await requireOwnGroup(uow, row)
    await checkPricing(uow, row, previous)
  },
  beforeDelete: requireDraftVersion,
  fixture: {
    create: async seed => {
      const version = await seed.make(pricingPlanVersionResource)
      const item = await seed.make(productItemResource)
      return {
        pricing_plan_version_id: version.id,
        name: seed.unique('Tokens'),
        product_ids: [item.product_id],
        items: [
          {
            product_item_ids: [item.id],
            configs: [
              {
                pricing_type: 'FLAT',
                bands: [{ amount: { quantity: '0.015', currency: 'EUR' }, block_size: { number: '1000' } }],
              },
            ],
          },
        ],
      }
    },
    update: { display_order: 2 },
  },
})

/** Throws INVALID_FIELD for a group of another version: a schedule selects among the pricings of one. */
async function requireOwnGroup(uow: Uow, { pricing_group_id: id, pricing_plan_version_id }: Pricing): Promise<void> {
  if ((id ?? null) === null) return
  const group = await getOne(uow, pricingGroupResource, String(id))
  if (group.pricing_plan_version_id === pricing_plan_version_id) return
  const owner = group.of_schedules ? 'sold by schedules alone' : `of the version ${group.pricing_plan_version_id}`
  const message = `The group ${id} is ${owner}; name a group of the version of the pricing.`
  throw new AppError('INVALID_FIELD', message, { field: 'pricing_group_id' })
}
