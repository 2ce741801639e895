// Reads what invoices are computed from. Only the columns an invoice depends on, in a fixed order, so that two readings
// of the same state have the same inputs_hash.
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { TenantTable } from '../../../resource/define-resource.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { loadConditionNames } from '../../catalog/conditions/load-names.ts'
import type { Conditions } from '../../catalog/conditions/schema.ts'
import { meterProperties, meters, meterValueCalculations, meterValues } from '../../catalog/meters/table.ts'
import { pricingPlans, pricings } from '../../catalog/pricing-plans/table.ts'
import { productCategories, productItems, products } from '../../catalog/products/table.ts'
import { loadCopiedFields } from '../../invoices/custom-fields/copied-fields.ts'
import { loadBillingEntity, loadCustomer, missing, SETTINGS_COLUMNS } from '../../invoices/document/load-parties.ts'
import { loadNumberFields } from '../../parties/platforms/number-fields.ts'
import { platforms } from '../../parties/platforms/table.ts'
import { loadAttribution } from '../../subscriptions/load-attribution.ts'
import { schedules, subscriptions } from '../../subscriptions/table.ts'
import { loadPersistedUsage } from '../persisted-usage/load-persisted-usage.ts'
import type {
  BillingInputs,
  CalculationInput,
  CategoryInput,
  PlanInput,
  PlatformInput,
  PricingInput,
  ProductInput,
  ProductItemInput,
  ScheduleInput,
  SubscriptionInput,
} from './billing-inputs.ts'
import { loadSubLineCustomers } from './load-sub-line-customers.ts'

/**
 * The inputs of a subscription's invoices. Its DRAFT schedules count only for a preview of a subscription that is DRAFT
 * itself. Throws RESOURCE_NOT_FOUND when the tenant has no such subscription.
 */
export async function loadBillingInputs(uow: ReadUow, subscriptionId: string): Promise<BillingInputs> {
  const subscription = await loadSubscription(uow, subscriptionId)
  const loaded = await loadSchedules(uow, subscription)
  const prices = await loadPricings(uow, loaded)
  const sold = await loadProducts(uow, prices)
  const attribution = await loadAttribution(uow, {
    customerIds: [subscription.customer_id],
    with: 'CHILDREN',
    ...(subscription.status === 'DRAFT' ? { previewing: subscription.id } : {}),
  })
  const platform = await loadPlatform(uow)
  const { customer_id: customerId, billing_entity_id: billingEntityId } = subscription
  return {
    platform,
    customer: await loadCustomer(uow, subscription.customer_id),
    billing_entity: await loadBillingEntity(uow, subscription.billing_entity_id),
    number_fields: await loadNumberFields(uow, platform.invoice_settings, { customerId, billingEntityId }),
    subscription,
    schedules: loaded,
    plans: await loadPlans(uow, loaded),
    pricings: prices,
    ...sold,
    calculations: await loadCalculations(uow, sold.product_items),
    persisted_usages: await loadPersistedUsage(uow, subscription.id),
    condition_names: await loadConditionNames(uow, conditionsIn(prices, sold.product_items)),
    attribution,
    copied_fields: await loadCopiedFields(uow, [
      { type: 'CUSTOMER', ids: [customerId] },
      { type: 'BILLING_ENTITY', ids: [billingEntityId] },
      { type: 'PRICING_PLAN_SUBSCRIPTION', ids: [subscription.id] },
      { type: 'PRICING_PLAN', ids: loaded.map(schedule => schedule.pricing_plan_id) },
      { type: 'PRODUCT', ids: sold.products.map(product => product.id) },
      { type: 'PRODUCT_ITEM', ids: sold.product_items.map(item => item.id) },
    ]),
    sub_line_customers: await loadSubLineCustomers(uow, { subscription, attribution }),
  }
}

const conditionsIn = (prices: readonly PricingInput[], items: readonly ProductItemInput[]): Conditions[] => [
  ...items.flatMap(item => item.usage_based?.conditions ?? []),
  ...prices.flatMap(price => price.items.flatMap(item => item.configs.flatMap(config => config.conditions ?? []))),
]

const one = (uow: ReadUow, table: TenantTable, id: string) => and(inThisTenant(uow, table), eq(table.id, id))
const among = (uow: ReadUow, table: TenantTable, ids: readonly string[]) =>
  and(inThisTenant(uow, table), inArray(table.id, [...new Set(ids)]))

async function loadSubscription(uow: ReadUow, id: string): Promise<SubscriptionInput> {
  const s = subscriptions
  const [row] = await uow.tx
    .select({
      id: s.id,
      status: s.status,
      name: s.name,
      purchase_order_number: s.purchase_order_number,
      customer_id: s.customer_id,
      billing_entity_id: s.billing_entity_id,
      billing_period: s.billing_period,
      billing_currency: s.billing_currency,
      billing_time: s.billing_time,
      billing_anchor: s.billing_anchor,
      due_date_configuration: s.due_date_configuration,
      sales_tax_percentage: s.sales_tax_percentage,
      init_invoice_on_hold: s.init_invoice_on_hold,
      display_invoice_sub_lines_per_processing_only_customer: s.display_invoice_sub_lines_per_processing_only_customer,
      inactive_periods: s.inactive_periods,
    })
    .from(s)
    .where(one(uow, s, id))
  if (!row) throw missing('PRICING_PLAN_SUBSCRIPTION', id)
  const { period, type } = row.due_date_configuration
  return { ...row, due_date_configuration: { type, period: period ?? null } }
}

async function loadSchedules(uow: ReadUow, subscription: SubscriptionInput): Promise<ScheduleInput[]> {
  const s = schedules
  const statuses: ('DRAFT' | 'ACTIVE')[] = subscription.status === 'DRAFT' ? ['DRAFT', 'ACTIVE'] : ['ACTIVE']
  return await uow.tx
    .select({
      id: s.id,
      pricing_plan_id: s.pricing_plan_id,
      pricing_plan_version_id: s.pricing_plan_version_id,
      start_at: s.start_at,
      end_at: s.end_at,
      pricing_currency: s.pricing_currency,
      billing_period: s.billing_period,
      discount: s.discount,
    })
    .from(s)
    .where(and(inThisTenant(uow, s), eq(s.pricing_plan_subscription_id, subscription.id), inArray(s.status, statuses)))
    .orderBy(asc(s.start_at), asc(s.id))
}

async function loadPlans(uow: ReadUow, of: readonly ScheduleInput[]): Promise<PlanInput[]> {
  if (of.length === 0) return []
  const p = pricingPlans
  const ids = of.map(schedule => schedule.pricing_plan_id)
  return await uow.tx
    .select({ id: p.id, amount_type: p.amount_type })
    .from(p)
    .where(among(uow, p, ids))
    .orderBy(asc(p.id))
}

async function loadPricings(uow: ReadUow, of: readonly ScheduleInput[]): Promise<PricingInput[]> {
  if (of.length === 0) return []
  const p = pricings
  const versions = [...new Set(of.map(schedule => schedule.pricing_plan_version_id))]
  return await uow.tx
    .select({
      id: p.id,
      pricing_plan_version_id: p.pricing_plan_version_id,
      name: p.name,
      display_order: p.display_order,
      items: p.items,
    })
    .from(p)
    .where(and(inThisTenant(uow, p), inArray(p.pricing_plan_version_id, versions)))
    .orderBy(asc(p.id))
}

type Sold = {
  readonly product_items: ProductItemInput[]
  readonly products: ProductInput[]
  readonly product_categories: CategoryInput[]
}

async function loadProducts(uow: ReadUow, of: readonly PricingInput[]): Promise<Sold> {
  const itemIds = of.flatMap(pricing => pricing.items.flatMap(item => item.product_item_ids))
  if (itemIds.length === 0) return { product_items: [], products: [], product_categories: [] }
  const i = productItems
  const items = await uow.tx
    .select({
      id: i.id,
      product_id: i.product_id,
      reference: i.reference,
      name: i.name,
      type: i.type,
      model_type: i.model_type,
      meter_value_calculation_id: i.meter_value_calculation_id,
      usage_based: i.usage_based,
      tax_category: i.tax_category,
      display_order: i.display_order,
      unit_name: i.unit_name,
    })
    .from(i)
    .where(among(uow, i, itemIds))
    .orderBy(asc(i.id))
  const p = products
  const { id, name, tax_category, display_order, category_id } = p
  const parents = await uow.tx
    .select({ id, name, category_id, tax_category, display_order })
    .from(p)
    .where(
      among(
        uow,
        p,
        items.map(item => item.product_id),
      ),
    )
    .orderBy(asc(p.id))
  return { product_items: items, products: parents, product_categories: await loadCategories(uow, parents) }
}

async function loadCategories(uow: ReadUow, of: readonly ProductInput[]): Promise<CategoryInput[]> {
  const ids = of.map(product => product.category_id).filter(id => id !== null)
  if (ids.length === 0) return []
  const { id, name, tax_category, display_order } = productCategories
  return await uow.tx
    .select({ id, name, tax_category, display_order })
    .from(productCategories)
    .where(among(uow, productCategories, ids))
    .orderBy(asc(id))
}

/** The calculations that these name. */
export async function loadCalculations(
  uow: ReadUow,
  of: readonly Pick<ProductItemInput, 'meter_value_calculation_id'>[],
): Promise<CalculationInput[]> {
  const ids = of.map(item => item.meter_value_calculation_id).filter(id => id !== null)
  if (ids.length === 0) return []
  const c = meterValueCalculations
  const joined = (table: TenantTable, id: PgColumn) =>
    and(eq(table.platform_id, c.platform_id), eq(table.environment, c.environment), eq(table.id, id))
  return await uow.tx
    .select({
      id: c.id,
      reference: c.reference,
      calculation_type: c.calculation_type,
      persist: c.persist,
      meter_reference: meters.reference,
      value_reference: meterValues.reference,
      value_type: meterValues.type,
      property_reference: meterProperties.reference,
      property_type: meterProperties.type,
    })
    .from(c)
    .innerJoin(meters, joined(meters, c.meter_id))
    .leftJoin(meterValues, joined(meterValues, c.meter_value_id))
    .leftJoin(meterProperties, joined(meterProperties, c.meter_property_id))
    .where(among(uow, c, ids))
    .orderBy(asc(c.id))
}

async function loadPlatform(uow: ReadUow): Promise<PlatformInput> {
  const columns = { ...SETTINGS_COLUMNS, late_event_policy: platforms.late_event_policy }
  const [row] = await uow.tx.select(columns).from(platforms).where(inThisTenant(uow, platforms))
  if (!row) throw new Error('every tenant has a platform')
  return row
}
