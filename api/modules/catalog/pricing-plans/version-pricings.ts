// The pricings and pricing groups of a version as part of what is shown of it.
import { createHash } from 'node:crypto'
import { and, asc, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { base62, idsOf } from '../../../../shared/ids.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { creditTypeIdsIn, creditTypesOf } from '../credit-types/shown-credit-types.ts'
import { groupsOf } from '../pricing-groups/load-groups.ts'
import type { PricingGroup } from '../pricing-groups/table.ts'
import { productCategories, products } from '../products/table.ts'
import { creditTypesSold } from './credit-types-sold.ts'
import { type Pricing, type PricingPlanVersion, pricings } from './table.ts'
import { settingsShown } from './variants/settings.ts'

/** The pricings of these versions: by display order, those without one last, then by age. */
export async function pricingsOf(uow: ReadUow, versionIds: readonly string[]): Promise<Pricing[]> {
  if (versionIds.length === 0) return []
  return await uow.tx
    .select()
    .from(pricings)
    .where(and(inThisTenant(uow, pricings), anyOf(pricings.pricing_plan_version_id, idsOf('ppve', versionIds))))
    .orderBy(asc(pricings.display_order), asc(pricings.created_at), asc(pricings.id))
}

/** A pricing as the API shows it. */
export function pricingView(pricing: Pricing): Row {
  const { platform_id: _platform, environment: _environment, of_schedules: _of, ...row } = pricing
  return { object_type: 'PRICING', ...row, ...withoutVersion(pricing) }
}

/** What is sold by schedules alone shows no version. */
export const withoutVersion = ({ of_schedules }: { readonly of_schedules: boolean }): Row =>
  of_schedules ? { pricing_plan_version_id: null } : {}

/**
 * What a version shows of its pricings: grouped by the category of their first product, and the currencies priced. What is in a
 * pricing group stands in that, and the group in the category of its first pricing.
 */
export const pricingCategoriesOf = (uow: ReadUow, versions: readonly Shown[]): Promise<Row[]> =>
  pricingCategoriesAs(uow, versions, pricing => pricing)

type Shown = Pick<PricingPlanVersion, 'id'> & Partial<PricingPlanVersion>

/** The same of pricings as `soldAs` makes them. */
export async function pricingCategoriesAs(
  uow: ReadUow,
  versions: readonly Shown[],
  soldAs: (pricing: Pricing) => Pricing,
): Promise<Row[]> {
  const stored = await pricingsOf(
    uow,
    versions.map(({ id }) => id),
  )
  const rows = stored.map(soldAs)
  const categoryOf = await categoriesOfProducts(
    uow,
    rows.flatMap(row => row.product_ids[0] ?? []),
  )
  const groups = await groupsOf(
    uow,
    versions.map(({ id }) => id),
  )
  const pricingsBy = versions.map(({ id }) => rows.filter(row => row.pricing_plan_version_id === id))
  const creditTypes = await creditTypesOf(uow, await creditTypeIdsOf(uow, pricingsBy))
  return versions.map((version, index) => {
    const { id } = version
    const own = pricingsBy[index] ?? []
    return {
      credit_types: creditTypes[index],
      pricing_categories: groupByCategory(id, own, {
        groups: groups.filter(group => group.pricing_plan_version_id === id),
        categoryOf,
      }),
      ...settingsShown(
        version,
        own.flatMap(row => row.items),
      ),
    }
  })
}

/** Of the pricings of each version: the credit types that they price in, sell, or grant. */
async function creditTypeIdsOf(uow: ReadUow, versions: readonly (readonly Pricing[])[]): Promise<Set<string>[]> {
  const itemIds = (own: readonly Pricing[]) =>
    own.flatMap(({ items }) => items.flatMap(({ product_item_ids }) => product_item_ids))
  const sold = await creditTypesSold(uow, versions.flatMap(itemIds))
  return versions.map(own => {
    const ids = creditTypeIdsIn(own.map(({ items }) => items))
    for (const itemId of itemIds(own)) {
      const id = sold.get(itemId)
      if (id) ids.add(id)
    }
    return ids
  })
}

type Category = { id: string; display_order: number | null }

/** A pricing group as the API shows it, with its pricings. */
function groupView(whole: PricingGroup, pricings: readonly Pricing[]): Row {
  const { platform_id: _platform, environment: _environment, of_schedules: _of, ...group } = whole
  return { object_type: 'PRICING_GROUP', ...group, ...withoutVersion(whole), pricings: pricings.map(pricingView) }
}

/** The same for every read: a category of a version is nothing but its product category there. */
function pricingCategoryId(versionId: string, categoryId: string | null): string {
  const digest = createHash('sha256')
    .update(`${versionId} ${categoryId ?? ''}`)
    .digest()
  return `prca_${base62(digest.subarray(0, ID_BYTES))}`
}

/** As many bytes as ids have. */
const ID_BYTES = 16

type Grouped = { readonly category: Category | null; readonly pricings: Row[]; readonly pricing_groups: Row[] }

function groupByCategory(
  versionId: string,
  rows: readonly Pricing[],
  { groups, categoryOf }: { groups: readonly PricingGroup[]; categoryOf: ReadonlyMap<string, Category> },
): Row[] {
  const grouped = new Map<string, Grouped>()
  const placeOf = (row: Pricing | undefined): Grouped => {
    const category = categoryOf.get(row?.product_ids[0] ?? '') ?? null
    const place = grouped.get(category?.id ?? '') ?? { category, pricings: [], pricing_groups: [] }
    grouped.set(category?.id ?? '', place)
    return place
  }
  for (const row of rows) if (row.pricing_group_id === null) placeOf(row).pricings.push(pricingView(row))
  for (const group of groups) {
    const own = rows.filter(row => row.pricing_group_id === group.id)
    placeOf(own[0]).pricing_groups.push(groupView(group, own))
  }
  // By display order, categories without one after the others, what is in no category last.
  const rank = ({ category }: Grouped): number =>
    category ? (category.display_order ?? Number.MAX_SAFE_INTEGER) : Number.POSITIVE_INFINITY
  return [...grouped.values()]
    .sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)))
    .map(({ category, pricings, pricing_groups }) => ({
      object_type: 'PRICING_CATEGORY',
      id: pricingCategoryId(versionId, category?.id ?? null),
      product_category_id: category?.id ?? null,
      display_order: category?.display_order ?? null,
      pricings,
      pricing_groups,
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
    .where(and(inThisTenant(uow, products), anyOf(products.id, idsOf('prod', new Set(productIds)))))
  return new Map(rows.map(({ product, ...category }) => [product, category]))
}
