import { sql } from 'drizzle-orm'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Static } from 'typebox'
import type { TaxCategory } from '../../../../shared/billing/tax/tax.ts'
import type { Id } from '../../../../shared/ids.ts'
import { tenantColumns, wireJson } from '../../../resource/columns.ts'
import type { AgentContext } from '../../../resource/shapes.ts'
import type { UnitName } from '../credit-types/schema.ts'
import type { NamedFeature } from '../features/named-features.ts'
import type { ItemCredits, ModelType, UsageBased } from './schema.ts'

type Lifecycle = 'DRAFT' | 'ACTIVE' | 'DEPRECATED' | 'ARCHIVED'

const sold = <Prefix extends string>() => ({
  ...tenantColumns<Prefix>(),
  name: text().notNull(),
  description: text(),
  tax_category: text().$type<TaxCategory>(),
  display_order: integer(),
  /** Of what is for one customer alone. */
  customer_id: text().$type<Id<'cust'>>(),
})

export const productCategories = pgTable('product_categories', { ...sold<'proc'>(), reference: text().notNull() })

export const products = pgTable('products', {
  ...sold<'prod'>(),
  reference: text(),
  category_id: text().$type<Id<'proc'>>(),
  /** The product that it belongs to. */
  parent_product_id: text().$type<Id<'prod'>>(),
  features: wireJson<readonly NamedFeature[]>().notNull(),
  status: text().$type<Lifecycle>().notNull(),
  product_type: text().$type<'DEFAULT' | 'ADDON'>().notNull(),
  /** Of one that this billing entity alone sells. */
  billing_entity_id: text().$type<Id<'bill'>>(),
  agent_context: wireJson<Static<typeof AgentContext>>(),
})

export const productItems = pgTable('product_items', {
  ...sold<'proi'>(),
  reference: text().notNull(),
  product_id: text().$type<Id<'prod'>>().notNull(),
  status: text().$type<Lifecycle>().notNull(),
  type: text().$type<'REVENUE' | 'DEDUCTION'>().notNull(),
  model_type: text().$type<ModelType>().notNull(),
  usage_based: wireJson<UsageBased>(),
  meter_value_calculation_id: text()
    .$type<Id<'bmet'>>()
    .generatedAlwaysAs(sql`usage_based ->> 'meter_value_calculation_id'`),
  report_meter_value_calculation_ids: wireJson<readonly string[]>().generatedAlwaysAs(
    sql`coalesce(usage_based -> 'report_meter_value_calculation_ids', '[]')`,
  ),
  credits: wireJson<ItemCredits>(),
  credit_type_id: text().$type<Id<'ctyp'>>().generatedAlwaysAs(sql`credits ->> 'credit_type_id'`),
  unit_name: wireJson<UnitName>(),
  agent_context: wireJson<Static<typeof AgentContext>>(),
})

export type ProductCategory = typeof productCategories.$inferSelect
export type Product = typeof products.$inferSelect
export type ProductItem = typeof productItems.$inferSelect
