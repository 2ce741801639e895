// The pricings and groups of a version come with it: copied into a new one, and deleted with it.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import { saveNew, saveRemoval } from '../../../resource/commands.ts'
import { afterSave, withDelete } from '../../../resource/rules.ts'
import { canonicalEntitlements } from '../features/canonical-entitlements.ts'
import { groupsOf } from '../pricing-groups/load-groups.ts'
import { canonicalItems, withoutIds } from './canonical-items.ts'
import { checkPricing } from './checks/check-pricing.ts'
import { findInItems } from './find-in-items.ts'
import { pricingResource } from './pricing.ts'
import { pricingPlanVersionResource } from './pricing-plan-version.ts'
import { pricingGroupResource } from './selection/pricing-group.ts'
import type { PricingPlanVersion } from './table.ts'
import { pricingsOf } from './version-pricings.ts'

/** Copies every group and every pricing of the version a new one names. Throws naming the field of the copy when one cannot come along. */
async function copyPricings(uow: Uow, version: PricingPlanVersion, previous: PricingPlanVersion | null): Promise<void> {
  const from = version.copied_from_pricing_plan_version_id
  if (previous || from === null) return
  const groups = new Map<string, Id<'prgr'>>()
  for (const { id, name, product_type, selection_constraint, display_order } of await groupsOf(uow, [from])) {
    const shown = { name, product_type, selection_constraint, display_order }
    const copy = await saveNew(uow, pricingGroupResource, { pricing_plan_version_id: version.id, ...shown })
    groups.set(id, copy.id)
  }
  for (const source of await pricingsOf(uow, [from])) {
    const { name, product_type, product_ids, display_order } = source
    const copied = withoutIds(source.items)
    const items = canonicalItems(copied, [], await findInItems(uow, copied))
    await checkPricing(uow, { pricing_plan_version_id: version.id, product_ids, items }, null).catch(error => {
      if (!(error instanceof AppError)) throw error
      const message = `The pricing ${source.id} cannot be copied: ${error.details.field}: ${error.message}`
      throw new AppError(error.code, message, { field: 'copied_from_pricing_plan_version_id', cause: error })
    })
    const entitlements = await canonicalEntitlements(uow, source.entitlements)
    const pricing_group_id = groups.get(source.pricing_group_id ?? '') ?? null
    const shown = { pricing_group_id, name, product_type, product_ids, display_order, items, entitlements }
    await saveNew(uow, pricingResource, { pricing_plan_version_id: version.id, ...shown })
  }
}

/** Only a DRAFT is deleted, and only a DRAFT gives its pricings and groups up. */
async function removePricings(uow: Uow, version: PricingPlanVersion): Promise<void> {
  for (const pricing of await pricingsOf(uow, [version.id])) await saveRemoval(uow, pricingResource, pricing)
  for (const group of await groupsOf(uow, [version.id])) await saveRemoval(uow, pricingGroupResource, group)
}

export const PRICING_EFFECTS = [
  afterSave(pricingPlanVersionResource, copyPricings),
  withDelete(pricingPlanVersionResource, removePricings),
] as const
