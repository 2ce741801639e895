// Whether a pricing names things that can be sold, at prices that can be billed.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import type { Id } from '../../../../../shared/ids.ts'
import { requireAll } from '../../../../resource/store.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { checkConditions, type MeteredConditions, refuseOptional, testsOf } from '../../conditions/check-conditions.ts'
import type { Conditions } from '../../conditions/schema.ts'
import { requireOpenTo } from '../../products/private-entries.ts'
import { productItemResource, productResource } from '../../products/product.ts'
import { isMeasured } from '../../products/schema.ts'
import type { Product, ProductItem } from '../../products/table.ts'
import type { PricingItem, PricingItemConfig } from '../schema.ts'
import { type Pricing, pricingPlans, pricingPlanVersions } from '../table.ts'
import { checkVariants } from '../variants/check-variants.ts'
import { type Variant, variantsOf } from '../variants/variants.ts'
import { checkCadence } from './check-cadence.ts'
import { checkCreditTypes } from './check-credit-types.ts'
import { checkPrice, type Priced } from './check-price.ts'
import { checkVolumeGroups, type GroupMember } from './check-volume-groups.ts'
import { type Measure, measuresOf } from './measures.ts'

type Contents = Pick<Pricing, 'pricing_plan_version_id' | 'product_ids' | 'items'> & { readonly id?: string | null }

/** What a pricing names, locked against deletion and change of status until commit. */
type Named = {
  readonly products: ReadonlyMap<string, Product>
  readonly items: ReadonlyMap<string, ProductItem>
  /** Its prices that find their tier together with others. */
  readonly groups: readonly GroupMember[]
}

/**
 * Checks products, items and prices; `previous` is what the pricing held before, whose products and items may stay
 * though they are DEPRECATED since. A plan for one customer may price what is for that customer, and no other plan may. Throws INVALID_FIELD, MISSING_FIELD or RESOURCE_NOT_FOUND with the path.
 */
export async function checkPricing(uow: Uow, row: Contents, previous: Contents | null): Promise<Named> {
  checkShape(row.items)
  const productIds = row.product_ids.map((id, index) => ({ id, field: `product_ids.${index}` }))
  const itemIds = row.items.map((item, index) => ({
    id: productItemIdOf(item),
    field: `items.${index}.product_item_ids.0`,
  }))
  const products = byId(await requireAll(uow, productResource, productIds))
  const items = byId(await requireAll(uow, productItemResource, itemIds))
  const customerId = await customerOf(uow, row.pricing_plan_version_id)
  const before = [...(previous?.product_ids ?? []), ...(previous?.items ?? []).map(productItemIdOf)]
  for (const { id, field } of [...productIds, ...itemIds]) {
    const named = products.get(id) ?? items.get(id)
    if (named) requireOpenTo(customerId, named, { noun: products.has(id) ? 'product' : 'product item', field })
    if (!before.includes(id) && named?.status !== 'DRAFT' && named?.status !== 'ACTIVE') {
      throw new AppError('INVALID_FIELD', `${id} is ${named?.status} and cannot be added to a pricing.`, { field })
    }
  }
  const measures = await measuresOf(uow, [...items.values()])
  const conditions = row.items.flatMap((item, index) =>
    checkItem(item, row.product_ids, items.get(productItemIdOf(item)), measures, `items.${index}`),
  )
  await checkConditions(uow, conditions)
  await checkCreditTypes(uow, row, previous)
  const groups = row.items.flatMap((item, index) =>
    groupMembers(item, items.get(productItemIdOf(item)), measures, `items.${index}`),
  )
  checkVolumeGroups(groups)
  await checkCadence(uow, row, items)
  return { products, items, groups }
}

/** The customer of a CUSTOM plan; null for a plan for everyone. */
async function customerOf(uow: Uow, versionId: Id<'ppve'>): Promise<string | null> {
  const [plan] = await uow.tx
    .select({ customer_id: pricingPlans.customer_id })
    .from(pricingPlanVersions)
    .innerJoin(
      pricingPlans,
      and(inThisTenant(uow, pricingPlans), eq(pricingPlans.id, pricingPlanVersions.pricing_plan_id)),
    )
    .where(and(inThisTenant(uow, pricingPlanVersions), eq(pricingPlanVersions.id, versionId)))
  return plan?.customer_id ?? null
}

const productItemIdOf = (item: PricingItem): string => item.product_item_ids[0] ?? ''

/** One product item an item, each once, so that no usage is priced twice. */
function checkShape(items: readonly PricingItem[]): void {
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const field = `items.${index}`
    if (item.product_item_ids.length !== 1) {
      throw new AppError('INVALID_FIELD', 'A pricing item prices exactly one product item.', {
        field: `${field}.product_item_ids`,
      })
    }
    checkVariants(item, field)
    if (seen.has(productItemIdOf(item))) {
      throw new AppError('INVALID_FIELD', 'This product item is priced by another item already.', {
        field: `${field}.product_item_ids.0`,
      })
    }
    seen.add(productItemIdOf(item))
  }
}

/** Tests and variables in the conditions of one item: the usage of each config is queried with those of all before it. */
const TESTS_MAX = 200
const VARIABLES_MAX = 10

/** The conditions that are left to check against what exists. */
function checkItem(
  item: PricingItem,
  productIds: readonly string[],
  productItem: ProductItem | undefined,
  measures: ReadonlyMap<string, Measure>,
  field: string,
): MeteredConditions[] {
  if (!productItem) throw new Error('a checked pricing item has its product item')
  if (!productIds.includes(productItem.product_id)) {
    const message = `It belongs to the product ${productItem.product_id}, which product_ids does not list.`
    throw new AppError('INVALID_FIELD', message, { field: `${field}.product_item_ids.0` })
  }
  const measure = measures.get(productItem.meter_value_calculation_id ?? '')
  const priced: Priced = !isMeasured(productItem.model_type)
    ? { model: productItem.model_type }
    : {
        model: 'USAGE_BASED',
        converts: productItem.model_type === 'USAGE_BASED_CONVERSION',
        metric: measure?.metric ?? 'NUMBER',
        sums: measure?.type === 'SUM' && !measure.persist,
        tieringMetric: Boolean(productItem.usage_based?.tiering_meter_value_calculation_id),
      }
  return variantsOf(item).flatMap(variant => {
    for (const [index, config] of variant.configs.entries())
      checkPrice(config, priced, `${field}.${variant.path}.${index}`, variant)
    return conditionsOf(variant, { productItem, measures, field })
  })
}

type Place = {
  readonly productItem: ProductItem
  readonly measures: ReadonlyMap<string, Measure>
  /** Where the item stands. */
  readonly field: string
}

/** The conditions of one variant of an item, and its other requirements on events. */
function conditionsOf(variant: Variant<PricingItemConfig>, place: Place): MeteredConditions[] {
  const { productItem, measures } = place
  const field = `${place.field}.${variant.path}`
  const measure = measures.get(productItem.meter_value_calculation_id ?? '')
  const own = variant.configs.flatMap(({ conditions }, index) =>
    conditions ? [{ conditions, field: `${field}.${index}.conditions` }] : [],
  )
  const shared = productItem.usage_based?.conditions
  const all = [...own, ...(shared ? [{ conditions: shared, field: `${place.field}.product_item_ids.0` }] : [])]
  const [first] = all
  for (const [index, { split_pricing: split }] of variant.configs.entries()) {
    for (const [turn, property] of (split?.meter_properties ?? []).entries()) {
      const path = `${field}.${index}.split_pricing.meter_properties.${turn}`
      if (measure) refuseOptional(property, measure.meter, path)
    }
  }
  const tiering = tieringConditions(variant, place)
  if (!first) return tiering
  if (!measure) throw new AppError('INVALID_FIELD', 'Only metered items have usage to test.', { field: first.field })
  checkSize([...all, ...tiering])
  return [...all.map(each => ({ ...each, meter: measure.meter })), ...tiering]
}

/** Conditions of tiers test the metric that decides the tier. */
function tieringConditions(
  { configs, path }: Variant<PricingItemConfig>,
  { productItem, measures, field }: Place,
): MeteredConditions[] {
  const id = productItem.usage_based?.tiering_meter_value_calculation_id ?? productItem.meter_value_calculation_id
  const measure = measures.get(id ?? '')
  return configs.flatMap(({ tiering_conditions: tiering }, index) =>
    tiering && measure
      ? [
          {
            conditions: { ...tiering, meter_properties: [] },
            meter: measure.meter,
            field: `${field}.${path}.${index}.tiering_conditions`,
          },
        ]
      : [],
  )
}

/** The prices of an item that find their tier together with others. */
export function groupMembers(
  item: PricingItem,
  productItem: ProductItem | undefined,
  measures: ReadonlyMap<string, Measure>,
  field: string,
): GroupMember[] {
  const measure = measures.get(productItem?.meter_value_calculation_id ?? '')
  return variantsOf(item).flatMap(variant =>
    variant.configs.flatMap((config, index) =>
      config.volume_group_reference && measure
        ? [
            {
              group: config.volume_group_reference,
              metric: measure.metric,
              persist: measure.persist,
              billingPeriod: config.billing_period,
              pricingPeriod: config.pricing_period,
              variant,
              field: `${field}.${variant.path}.${index}`,
            },
          ]
        : [],
    ),
  )
}

function checkSize(conditions: readonly { conditions: Conditions; field: string }[]): void {
  const tests = conditions.flatMap(each => testsOf(each.conditions, each.field))
  const variables = new Set(tests.flatMap(({ test }) => test.meter_property_variable_id ?? []))
  if (tests.length <= TESTS_MAX && variables.size <= VARIABLES_MAX) return
  const message = `The conditions of one item have at most ${TESTS_MAX} tests and ${VARIABLES_MAX} variables together.`
  throw new AppError('INVALID_FIELD', message, { field: conditions[0]?.field ?? '' })
}

const byId = <R extends { id: string }>(rows: readonly R[]): Map<string, R> => new Map(rows.map(row => [row.id, row]))
