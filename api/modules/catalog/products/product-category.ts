// Product categories: how products are grouped on a price list and on an invoice.
import { defineResource, field } from '../../../resource/define-resource.ts'
import { Description, DisplayOrder, IdText, Name, Reference, TaxCategory } from '../../../resource/shapes.ts'
import { type ProductCategory, productCategories } from './table.ts'

export const productCategoryResource = defineResource<ProductCategory>({
  objectType: 'PRODUCT_CATEGORY',
  shapeName: 'ProductCategory',
  idPrefix: 'proc',
  path: 'product-categories',
  table: productCategories,
  fields: {
    name: field(Name, { create: 'required' }),
    reference: field(Reference, { create: 'required' }),
    description: field(Description),
    tax_category: field(TaxCategory),
    display_order: field(DisplayOrder),
    // A foreign key checks it: the customers are above the catalog.
    customer_id: field(IdText('customer'), { change: 'never' }),
  },
  operations: ['create', 'upsert', 'list', 'search', 'get', 'update', 'delete'],
  byReference: true,
  // The catalog has no time of a customer.
  testClockOf: null,
  filters: { customer_id: { kind: 'equals', column: 'customer_id' } },
  names: { customer_id: 'CUSTOMER' },
  orderBy: ['name', 'reference', 'display_order'],
  searchable: ['name', 'reference', 'description'],
  fixture: {
    create: async seed => ({ reference: seed.unique('models'), name: seed.unique('Models'), display_order: 1 }),
    update: { description: 'Everything that infers.' },
  },
})
