// A price with what it prices: one stored price, or all prices of a plan version.

import { and } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Metric } from '../../../../shared/rating/price.ts'
import { containingAt } from '../../../resource/rules.ts'
import { findMany } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { measuresOf } from '../../catalog/pricing-plans/checks/measures.ts'
import type { PricingItemConfig } from '../../catalog/pricing-plans/schema.ts'
import { type Pricing, pricings } from '../../catalog/pricing-plans/table.ts'
import { variantsOf } from '../../catalog/pricing-plans/variants/variants.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import type { ProductItem } from '../../catalog/products/table.ts'

export type PricedConfig = {
  readonly pricingId: string
  readonly itemId: string
  readonly config: PricingItemConfig
  readonly productItem: ProductItem
  readonly metric: Metric
  /** The currency that its variant is for; null where it is for any. */
  readonly currency: string | null
}

/** The prices of these pricings, in their order. */
export async function configsOf(uow: ReadUow, rows: readonly Pricing[]): Promise<PricedConfig[]> {
  const ids = rows.flatMap(row => row.items.flatMap(item => item.product_item_ids))
  const items = new Map((await findMany(uow, productItemResource, ids)).map(item => [item.id, item]))
  const measures = await measuresOf(uow, [...items.values()])
  return rows.flatMap(row =>
    row.items.flatMap(item =>
      variantsOf(item).flatMap(({ configs, currency }): PricedConfig[] => {
        const productItem = items.get(idOf('proi', item.product_item_ids[0] ?? ''))
        if (!productItem) return []
        const metric = measures.get(productItem.meter_value_calculation_id ?? '')?.metric ?? 'NUMBER'
        return configs.map(config => ({ pricingId: row.id, itemId: item.id, config, productItem, metric, currency }))
      }),
    ),
  )
}

/** The stored price with this id. Throws RESOURCE_NOT_FOUND. */
export async function storedConfig(uow: ReadUow, id: string): Promise<PricedConfig> {
  const named = containingAt(pricings.items, '$.**.configs[*].id')
  const rows = await uow.tx
    .select()
    .from(pricings)
    .where(and(inThisTenant(uow, pricings), named(id)))
  const found = (await configsOf(uow, rows)).find(({ config }) => config.id === id)
  if (found) return found
  throw new AppError('RESOURCE_NOT_FOUND', `There is no price ${JSON.stringify(id)}.`, {
    field: 'pricing_item_config_id',
    resourceType: 'PRICING_ITEM_CONFIG',
  })
}
