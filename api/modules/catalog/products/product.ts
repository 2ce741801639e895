// Products and their items: what a customer buys, and the lines of an invoice it consists of (semantics 2). One file, since
// each knows the other: an item belongs to a product, and a product can take its items with it.
import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field, LIFECYCLE_RULES, type Resource, readOnly } from '../../../resource/define-resource.ts'
import {
  AgentContext,
  Description,
  DisplayOrder,
  IdText,
  LifecycleStatus,
  Name,
  OneOf,
  Reference,
  TaxCategory,
} from '../../../resource/shapes.ts'
import { getOne, requireAll } from '../../../resource/store.ts'
import { canonicalConditions } from '../conditions/canonical-conditions.ts'
import { checkConditions } from '../conditions/check-conditions.ts'
import { CONDITION_EXPANSIONS } from '../conditions/expansions.ts'
import { creditTypeResource } from '../credit-types/credit-type.ts'
import { UnitName } from '../credit-types/schema.ts'
import { namedFeatures } from '../features/named-features.ts'
import { meterResource } from '../meters/meter.ts'
import { meterValueCalculationResource } from '../meters/meter-value-calculation.ts'
import { alignItems } from './align-items.ts'
import { checkParent } from './check-parent.ts'
import { requireOpenTo } from './private-entries.ts'
import { productCategoryResource } from './product-category.ts'
import { ItemCredits, isMeasured, ModelType, ProductFeatures, UsageBased } from './schema.ts'
import { type Product, type ProductItem, productItems, products } from './table.ts'

export const productResource: Resource<Product> = defineResource<Product>({
  objectType: 'PRODUCT',
  shapeName: 'Product',
  idPrefix: 'prod',
  path: 'products',
  table: products,
  fields: {
    name: field(Name, { create: 'required' }),
    reference: field(Reference, { change: 'draft' }),
    category_id: field(IdText('product category')),
    parent_product_id: field(IdText('product')),
    features: field(ProductFeatures),
    description: field(Description),
    status: field(LifecycleStatus),
    product_type: field(OneOf('DEFAULT', 'ADDON')),
    tax_category: field(TaxCategory),
    display_order: field(DisplayOrder),
    // A foreign key checks it: the customers are above the catalog.
    customer_id: field(IdText('customer'), { change: 'never' }),
    // As that. No ACTIVE version prices a DRAFT, so what a schedule was checked by stays true.
    billing_entity_id: field(IdText('billing entity'), { change: 'draft' }),
    agent_context: field(AgentContext),
  },
  operations: ['create', 'upsert', 'list', 'search', 'get', 'update', 'delete', 'activate', 'deprecate', 'archive'],
  byReference: true,
  // The catalog has no time of a customer.
  testClockOf: null,
  customFields: true,
  statuses: LIFECYCLE_RULES,
  filters: {
    product_category_id: { kind: 'equals', column: 'category_id' },
    parent_product_id: { kind: 'equals', column: 'parent_product_id' },
    customer_id: { kind: 'equals', column: 'customer_id' },
    billing_entity_id: { kind: 'equals', column: 'billing_entity_id' },
  },
  names: { customer_id: 'CUSTOMER', billing_entity_id: 'BILLING_ENTITY' },
  orderBy: ['name', 'reference', 'display_order'],
  searchable: ['name', 'reference', 'description'],
  expand: {
    category: { by: 'category_id', to: () => productCategoryResource },
    parent_product: { by: 'parent_product_id', to: () => productResource },
  },
  references: { category_id: () => productCategoryResource, parent_product_id: () => productResource },
  flags: {
    align_product_item_status: {
      description: 'Whether the items of the product go with it: to the same status, or deleted with it.',
      apply: (uow, row, action) => alignItems(uow, productItemResource, row, action),
    },
  },
  defaults: () => ({ product_type: 'DEFAULT', features: [] }),
  resolve: async (uow, row) => ({ ...row, features: await namedFeatures(uow, row.features) }),
  check: async (uow, row, previous) => {
    await checkParent(uow, row, previous)
    if (row.category_id === null || row.category_id === previous?.category_id) return
    const category = await getOne(uow, productCategoryResource, row.category_id)
    requireOpenTo(row.customer_id, category, { noun: 'category', field: 'category_id' })
  },
  fixture: {
    create: async seed => {
      const category = await seed.make(productCategoryResource)
      return {
        reference: seed.unique('inference'),
        name: seed.unique('Inference'),
        category_id: category.id,
        status: 'ACTIVE',
      }
    },
    update: { description: 'Answers, by the token.' },
  },
})

export const productItemResource: Resource<ProductItem> = defineResource<ProductItem>({
  objectType: 'PRODUCT_ITEM',
  shapeName: 'ProductItem',
  idPrefix: 'proi',
  path: 'product-items',
  table: productItems,
  fields: {
    product_id: field(IdText('product'), { create: 'required', change: 'never' }),
    name: field(Name, { create: 'required' }),
    reference: field(Reference, { create: 'required', change: 'draft' }),
    description: field(Description),
    status: field(LifecycleStatus),
    // What prices and invoices rest on does not change once the item is live.
    type: field(OneOf('REVENUE', 'DEDUCTION'), { change: 'draft' }),
    model_type: field(ModelType, { create: 'required', change: 'draft' }),
    usage_based: field(UsageBased, { change: 'draft' }),
    credits: field(ItemCredits, { change: 'draft' }),
    meter_value_calculation_id: readOnly(IdText('meter value calculation')),
    report_meter_value_calculation_ids: readOnly(Type.Array(IdText('meter value calculation'))),
    tax_category: field(TaxCategory),
    display_order: field(DisplayOrder),
    unit_name: field(UnitName),
    // As that of a product.
    customer_id: field(IdText('customer'), { change: 'never' }),
    agent_context: field(AgentContext),
  },
  operations: ['create', 'upsert', 'list', 'search', 'get', 'update', 'delete', 'activate', 'deprecate', 'archive'],
  byReference: true,
  // The catalog has no time of a customer.
  testClockOf: null,
  customFields: true,
  statuses: LIFECYCLE_RULES,
  filters: {
    product_id: { kind: 'equals', column: 'product_id' },
    customer_id: { kind: 'equals', column: 'customer_id' },
  },
  names: { customer_id: 'CUSTOMER' },
  orderBy: ['name', 'reference', 'display_order'],
  searchable: ['name', 'reference', 'description'],
  expand: {
    ...CONDITION_EXPANSIONS,
    product: { by: 'product_id', to: () => productResource },
    credit_type: { by: 'credit_type_id', to: () => creditTypeResource, within: 'credits' },
    meter_value_calculation: { by: 'meter_value_calculation_id', to: () => meterValueCalculationResource },
    'usage_based.meter_value_calculation': {
      by: 'meter_value_calculation_id',
      to: () => meterValueCalculationResource,
      within: 'usage_based',
      member: 'meter_value_calculation',
    },
    tiering_meter_value_calculation: {
      by: 'tiering_meter_value_calculation_id',
      to: () => meterValueCalculationResource,
      within: '**',
    },
  },
  defaults: () => ({ type: 'REVENUE' }),
  resolve: async (uow, row) => ({
    ...row,
    usage_based: await canonicalUsage(uow, row.usage_based),
    credits: row.credits && { credit_type_id: row.credits.credit_type_id },
  }),
  check: async (uow, row, previous) => {
    if (!previous) await requireOpenProduct(uow, row)
    checkModel(row)
    if (!isDeepStrictEqual(row.credits, previous?.credits)) await checkCredits(uow, row)
    if (!row.usage_based || isDeepStrictEqual(row.usage_based, previous?.usage_based)) return
    await checkUsage(uow, row.usage_based)
  },
  fixture: {
    create: async seed => {
      const product = await seed.make(productResource)
      const calculation = await seed.make(meterValueCalculationResource)
      return {
        product_id: product.id,
        reference: seed.unique('tokens'),
        name: seed.unique('Tokens'),
        status: 'ACTIVE',
        model_type: 'USAGE_BASED',
        usage_based: { meter_value_calculation_id: calculation.id },
        unit_name: { singular: 'token', plural: 'tokens' },
      }
    },
    update: { description: 'Input tokens.' },
  },
})

/** Semantics 0.6: a product that is DEPRECATED takes no new items, one that is ARCHIVED is not usable. */
async function requireOpenProduct(uow: Uow, { product_id, customer_id }: ProductItem): Promise<void> {
  const [product] = await requireAll(uow, productResource, [{ id: product_id, field: 'product_id' }])
  if (product) requireOpenTo(customer_id, product, { noun: 'product', field: 'product_id' })
  if (product?.status === 'DRAFT' || product?.status === 'ACTIVE') return
  throw new AppError('INVALID_FIELD', `The product is ${product?.status} and takes no new items.`, {
    field: 'product_id',
  })
}

async function canonicalUsage(uow: Uow, usage: ProductItem['usage_based']): Promise<ProductItem['usage_based']> {
  if (!usage) return usage
  const { meter_value_calculation_id, tiering_meter_value_calculation_id: tiering } = usage
  const reports = usage.report_meter_value_calculation_ids ?? []
  const measured = {
    meter_value_calculation_id,
    ...(tiering ? { tiering_meter_value_calculation_id: tiering } : {}),
    ...(reports.length > 0 ? { report_meter_value_calculation_ids: reports } : {}),
  }
  if (!usage.conditions) return measured
  const placed = [{ conditions: usage.conditions, field: 'usage_based.conditions' }]
  const [conditions] = await canonicalConditions(uow, placed)
  return { ...measured, conditions: conditions ?? null }
}

async function checkUsage(uow: Uow, usage: NonNullable<ProductItem['usage_based']>): Promise<void> {
  const field = 'usage_based.meter_value_calculation_id'
  const tiering = usage.tiering_meter_value_calculation_id
  const [calculation] = await requireAll(uow, meterValueCalculationResource, [
    { id: usage.meter_value_calculation_id, field },
    ...(tiering ? [{ id: tiering, field: 'usage_based.tiering_meter_value_calculation_id' }] : []),
    ...(usage.report_meter_value_calculation_ids ?? []).map((id, index) => ({
      id,
      field: `usage_based.report_meter_value_calculation_ids.${index}`,
    })),
  ])
  if (!usage.conditions || !calculation) return
  const meter = await getOne(uow, meterResource, calculation.meter_id)
  await checkConditions(uow, [{ conditions: usage.conditions, meter, field: 'usage_based.conditions' }])
}

async function checkCredits(uow: Uow, { credits }: ProductItem): Promise<void> {
  if (!credits) return
  const field = 'credits.credit_type_id'
  const [found] = await requireAll(uow, creditTypeResource, [{ id: credits.credit_type_id, field }])
  if (found?.status !== 'ARCHIVED') return
  throw new AppError('INVALID_FIELD', 'The credit type is ARCHIVED; choose another.', { field })
}

function checkModel(row: ProductItem): void {
  if (isMeasured(row.model_type) && !row.usage_based) {
    const message = `A ${row.model_type} item needs the calculation that measures it; a meter without one cannot be sold.`
    throw new AppError('MISSING_FIELD', message, { field: 'usage_based.meter_value_calculation_id' })
  }
  if (row.model_type === 'CREDITS' && !row.credits) {
    const message = 'A CREDITS item needs the credit type that it sells.'
    throw new AppError('MISSING_FIELD', message, { field: 'credits.credit_type_id' })
  }
  if (row.model_type !== 'CREDITS' && row.credits) {
    throw new AppError('INVALID_FIELD', `A ${row.model_type} item sells no credits.`, { field: 'credits' })
  }
  if (!isMeasured(row.model_type) && row.usage_based) {
    throw new AppError('INVALID_FIELD', `A ${row.model_type} item is not measured.`, { field: 'usage_based' })
  }
}
