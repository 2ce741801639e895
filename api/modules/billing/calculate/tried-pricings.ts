// Which optional pricings of a version a trial of it enables. Pure.
import { AppError } from '../../../../shared/errors.ts'
import { SELECTION } from '../../catalog/pricing-groups/schema.ts'
import type { PricingGroup } from '../../catalog/pricing-groups/table.ts'
import { isOptional } from '../../catalog/pricing-plans/checks/optional.ts'
import type { Pricing } from '../../catalog/pricing-plans/table.ts'
import { allConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import type { EnabledPricing } from '../../subscriptions/enabled-pricings/schema.ts'
import type { VersionQuantity } from './schema.ts'

export type TriedVersion = {
  /** In the order in which they are shown. */
  readonly pricings: readonly Pick<Pricing, 'id' | 'product_type' | 'pricing_group_id' | 'items'>[]
  readonly groups: readonly Pick<PricingGroup, 'id' | 'name' | 'selection_constraint'>[]
}

/**
 * A trial of a version shows all that it can sell. Of a group that allows one pricing, that is the one with a quantity, else the first.
 * Throws INVALID_FIELD when two of such a group have quantities.
 */
export function triedPricings(
  { pricings, groups }: TriedVersion,
  quantities: readonly Pick<VersionQuantity, 'pricing_item_config_id'>[],
): EnabledPricing[] {
  const leftOut = new Set<string>()
  for (const group of groups) {
    if (SELECTION[group.selection_constraint].most !== 1) continue
    const own = pricings.filter(each => each.pricing_group_id === group.id)
    const named = own.map(each => quantities.findIndex(({ pricing_item_config_id: id }) => hasConfig(each, id)))
    const [, second] = named.filter(index => index !== -1).toSorted((a, b) => a - b)
    if (second !== undefined) {
      const message = `The group ${group.name} allows one pricing at a time, and another one of it has a quantity; leave one out.`
      throw new AppError('INVALID_FIELD', message, { field: `meter_values.${second}.pricing_item_config_id` })
    }
    const chosen = own[named.findIndex(index => index !== -1)] ?? own[0]
    for (const { id } of own) if (id !== chosen?.id) leftOut.add(id)
  }
  return pricings.filter(each => isOptional(each) && !leftOut.has(each.id)).map(({ id }) => ({ pricing_id: id }))
}

const hasConfig = ({ items }: Pick<Pricing, 'items'>, id: string): boolean =>
  items.some(item => allConfigs(item).some(config => config.id === id))
