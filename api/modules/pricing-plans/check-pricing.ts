// Whether a pricing names things that can be sold, at prices that can be billed.
import { and, eq, inArray } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { requireAll } from '../../resource/store.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { meterValueCalculations, meterValues } from '../meters/table.ts'
import { productItemResource, productResource } from '../products/product.ts'
import type { Product, ProductItem } from '../products/table.ts'
import { checkPrice, type Priced } from './check-price.ts'
import type { PricingItem } from './schema.ts'
import type { Pricing } from './table.ts'

type Contents = Pick<Pricing, 'product_ids' | 'items'>

/** What a pricing names, locked against deletion and change of status until commit. */
type Named = {
  readonly products: ReadonlyMap<string, Product>
  readonly items: ReadonlyMap<string, ProductItem>
}

/**
 * Checks products, items and prices; `previous` is what the pricing held before, whose products and items may stay
 * though they are DEPRECATED since. Throws INVALID_FIELD, MISSING_FIELD or RESOURCE_NOT_FOUND with the path.
 */
export async function checkPricing(uow: Uow, row: Contents, previous: Contents | null): Promise<Named> {
  checkShape(row.items)
  const productIds = row.product_ids.map((id, index) => ({ id, field: `product_ids.${index}` }))
  const itemIds = row.items.map((item, index) => ({
    id: productItemIdOf(item),
    field: `items.${index}.product_item_ids.0`,
  }))
  const products = byId((await requireAll(uow, productResource, productIds)) as Product[])
  const items = byId((await requireAll(uow, productItemResource, itemIds)) as ProductItem[])
  const before = [...(previous?.product_ids ?? []), ...(previous?.items ?? []).map(productItemIdOf)]
  for (const { id, field } of [...productIds, ...itemIds]) {
    const named = products.get(id) ?? items.get(id)
    if (!before.includes(id) && named?.status !== 'DRAFT' && named?.status !== 'ACTIVE') {
      throw new AppError('INVALID_FIELD', `${id} is ${named?.status} and cannot enter a pricing.`, { field })
    }
  }
  const metrics = await metricsOf(uow, [...items.values()])
  for (const [index, item] of row.items.entries()) {
    checkItem(item, row.product_ids, items.get(productItemIdOf(item)), metrics, `items.${index}`)
  }
  return { products, items }
}

const productItemIdOf = (item: PricingItem): string => item.product_item_ids[0] ?? ''

/** One product item and one config an item, each product item once: conditions, which would choose, are not there yet. */
function checkShape(items: readonly PricingItem[]): void {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const field = `items.${index}`
    if (item.product_item_ids.length !== 1) {
      throw new AppError('INVALID_FIELD', 'A pricing item prices exactly one product item.', {
        field: `${field}.product_item_ids`,
      })
    }
    if (item.configs.length !== 1) {
      throw new AppError('INVALID_FIELD', 'A pricing item has exactly one config.', { field: `${field}.configs` })
    }
    if (seen.has(productItemIdOf(item))) {
      throw new AppError('INVALID_FIELD', 'This product item is priced by another item already.', {
        field: `${field}.product_item_ids.0`,
      })
    }
    seen.add(productItemIdOf(item))
  }
}

function checkItem(
  item: PricingItem,
  productIds: readonly string[],
  productItem: ProductItem | undefined,
  metrics: ReadonlyMap<string, 'NUMBER' | 'AMOUNT'>,
  field: string,
): void {
  const [config] = item.configs
  if (!productItem || !config) throw new Error('a checked pricing item has its product item and its config')
  if (!productIds.includes(productItem.product_id)) {
    const message = `It belongs to the product ${productItem.product_id}, which product_ids does not list.`
    throw new AppError('INVALID_FIELD', message, { field: `${field}.product_item_ids.0` })
  }
  const metric = metrics.get(productItem.meter_value_calculation_id ?? '') ?? 'NUMBER'
  const priced: Priced =
    productItem.model_type === 'RECURRING' ? { model: 'RECURRING' } : { model: 'USAGE_BASED', metric }
  checkPrice(config, priced, `${field}.configs.0`)
}

/** What each calculation of these items measures; a count of distinct values is a number. */
async function metricsOf(uow: Uow, items: readonly ProductItem[]): Promise<Map<string, 'NUMBER' | 'AMOUNT'>> {
  const ids = items.flatMap(item => item.meter_value_calculation_id ?? [])
  if (ids.length === 0) return new Map()
  const rows = await uow.tx
    .select({ id: meterValueCalculations.id, type: meterValues.type })
    .from(meterValueCalculations)
    .innerJoin(
      meterValues,
      and(inThisTenant(uow, meterValues), eq(meterValues.id, meterValueCalculations.meter_value_id)),
    )
    .where(and(inThisTenant(uow, meterValueCalculations), inArray(meterValueCalculations.id, ids)))
  return new Map(rows.map(row => [row.id, row.type]))
}

const byId = <R extends { id: string }>(rows: readonly R[]): Map<string, R> => new Map(rows.map(row => [row.id, row]))
