// The pricings of a version as part of it: shown with it, copied into a new one, and deleted with it.
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { emit } from '../../../outbox.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { insertRow } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { canonicalEntitlements } from '../features/canonical-entitlements.ts'
import { productCategories, products } from '../products/table.ts'
import { canonicalItems, withoutIds } from './canonical-items.ts'
import { currenciesOf } from './check-price.ts'
import { checkPricing } from './check-pricing.ts'
import { itemConditions } from './item-conditions.ts'
import { type Pricing, pricings } from './table.ts'

export const PRICING_ID_PREFIX = 'prcg'

/** The pricings of these versions: by display order, those without one last, then by age. */
export async function pricingsOf(uow: ReadUow, versionIds: readonly string[]): Promise<Pricing[]> {
  if (versionIds.length === 0) return []
  return await uow.tx
    .select()
    .from(pricings)
    .where(and(inThisTenant(uow, pricings), inArray(pricings.pricing_plan_version_id, [...versionIds])))
    .orderBy(asc(pricings.display_order), asc(pricings.created_at), asc(pricings.id))
}

/** A pricing as the API shows it. */
function pricingView({ platform_id: _platform, environment: _environment, ...row }: Pricing): Row {
  return { object_type: 'PRICING', ...row }
}

/** What a version shows of its pricings: grouped by the category of their first product, and the currencies priced. */
export async function pricingCategoriesOf(uow: ReadUow, versions: readonly { id: string }[]): Promise<Row[]> {
  const rows = await pricingsOf(
    uow,
    versions.map(({ id }) => id),
  )
  const categoryOf = await categoriesOfProducts(
    uow,
    rows.flatMap(row => row.product_ids[0] ?? []),
  )
  return versions.map(({ id }) => {
    const own = rows.filter(row => row.pricing_plan_version_id === id)
    const [currency = null, ...others] = currenciesOf(own.flatMap(row => row.items))
    return {
      pricing_categories: groupByCategory(own, categoryOf),
      pricing_currency_settings:
        currency === null ? null : { default_pricing_currency: currency, pricing_currencies: [currency, ...others] },
    }
  })
}

type Category = { id: string; display_order: number | null }

function groupByCategory(rows: readonly Pricing[], categoryOf: ReadonlyMap<string, Category>): Row[] {
  const groups = new Map<string, { category: Category | null; pricings: Row[] }>()
  for (const row of rows) {
    const category = categoryOf.get(row.product_ids[0] ?? '') ?? null
    const group = groups.get(category?.id ?? '') ?? { category, pricings: [] }
    group.pricings.push(pricingView(row))
    groups.set(category?.id ?? '', group)
  }
  // By display order, categories without one after the others, what is in no category last.
  const rank = ({ category }: { category: Category | null }): number =>
    category ? (category.display_order ?? Number.MAX_SAFE_INTEGER) : Number.POSITIVE_INFINITY
  return [...groups.values()]
    .sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)))
    .map(({ category, pricings }) => ({
      object_type: 'PRICING_CATEGORY',
      product_category_id: category?.id ?? null,
      display_order: category?.display_order ?? null,
      pricings,
    }))
}

async function categoriesOfProducts(uow: ReadUow, productIds: readonly string[]): Promise<Map<string, Category>> {
  if (productIds.length === 0) return new Map()
  const rows = await uow.tx
    .select({ product: products.id, id: productCategories.id, display_order: productCategories.display_order })
    .from(products)
    .innerJoin(
      productCategories,
      and(inThisTenant(uow, productCategories), eq(productCategories.id, products.category_id)),
    )
    .where(and(inThisTenant(uow, products), inArray(products.id, [...new Set(productIds)])))
  return new Map(rows.map(({ product, ...category }) => [product, category]))
}

/** Copies every pricing of one version into another, new, one. Throws naming the field of the copy when one cannot come along. */
export async function copyPricings(uow: Uow, fromVersionId: string, toVersionId: string): Promise<void> {
  for (const source of await pricingsOf(uow, [fromVersionId])) {
    const { name, product_type, product_ids, display_order } = source
    const copied = withoutIds(source.items)
    const items = canonicalItems(copied, [], await itemConditions(uow, copied))
    await checkPricing(uow, { product_ids, items }, null).catch(error => {
      if (!(error instanceof AppError)) throw error
      const message = `The pricing ${source.id} cannot be copied: ${error.details.field}: ${error.message}`
      throw new AppError(error.code, message, { field: 'copied_from_pricing_plan_version_id', cause: error })
    })
    const entitlements = await canonicalEntitlements(uow, source.entitlements)
    const shown = { name, product_type, product_ids, display_order, items, entitlements }
    const values = { pricing_plan_version_id: toVersionId, ...shown }
    const row = await insertRow(uow, { table: pricings, idPrefix: PRICING_ID_PREFIX }, values)
    await emit(uow, { type: 'PRICING.CREATED', objectId: row.id, data: pricingView(row as Pricing), previous: null })
  }
}

/** Deletes every pricing of a version that is about to be deleted. */
export async function removePricings(uow: Uow, versionId: string): Promise<void> {
  const rows = await pricingsOf(uow, [versionId])
  await uow.tx.delete(pricings).where(and(inThisTenant(uow, pricings), eq(pricings.pricing_plan_version_id, versionId)))
  for (const row of rows) {
    await emit(uow, { type: 'PRICING.DELETED', objectId: row.id, data: pricingView(row), previous: null })
  }
}
