// Whether the discounts of a schedule can be given as they are.
import { and, eq, inArray } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, HUNDRED, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { pricings } from '../../catalog/pricing-plans/table.ts'
import { productItems, products } from '../../catalog/products/table.ts'
import type { Schedule } from '../table.ts'
import { type DiscountEntry, type DiscountList, discountEntries } from './discount-entries.ts'

const invalid = (message: string, field: string): AppError => new AppError('INVALID_FIELD', message, { field })

/** Throws unless every discount is a percentage or an amount in the schedule's currency, of something the schedule's version sells. */
export async function checkDiscount(uow: Uow, schedule: Schedule): Promise<void> {
  const entries = discountEntries(schedule.discount)
  for (const entry of entries) checkEntry(entry, schedule)
  if (!entries.some(({ level }) => level !== null)) return
  const sold = await loadSold(uow, schedule.pricing_plan_version_id)
  for (const { list, path, ids } of entries)
    for (const [index, id] of ids.entries())
      if (!sold[list].has(id)) {
        const message = `The plan version of the schedule has no ${NOUNS[list]} ${id}; name one that it sells.`
        throw new AppError('RESOURCE_NOT_FOUND', message, { field: `${path}.ids.${index}` })
      }
}

const NOUNS: Readonly<Record<DiscountList, string>> = {
  pricing_item_configs: 'price',
  pricing_items: 'pricing item',
  pricings: 'pricing',
  product_items: 'product item',
  products: 'product',
  product_categories: 'product category',
  totals: 'total',
}

function checkEntry({ path, value }: DiscountEntry, schedule: Schedule): void {
  const { amount, percentage, condition, start_at, end_at } = value
  const given = [amount, percentage].filter(each => each !== null && each !== undefined)
  if (given.length === 0)
    throw new AppError('MISSING_FIELD', 'A discount is a percentage or an amount; give one of them.', {
      field: `${path}.percentage`,
    })
  if (given.length > 1)
    throw invalid('A discount is a percentage or an amount; give only one of them.', `${path}.amount`)
  if (percentage && (decimal(percentage).lt(ZERO) || decimal(percentage).gt(HUNDRED)))
    throw invalid('A discount is a percentage from 0 to 100.', `${path}.percentage`)
  if (amount && decimal(amount.quantity).lte(ZERO))
    throw invalid('The amount of a discount must be above 0; the invoice deducts it.', `${path}.amount.quantity`)
  if (amount) checkCurrency(amount.currency, schedule, `${path}.amount.currency`)
  if (condition) checkCurrency(condition.value.amount.currency, schedule, `${path}.condition.value.amount.currency`)
  const from = start_at ?? schedule.start_at
  if (end_at && end_at <= from)
    throw invalid(`A discount ends after it starts, and this one starts at ${from}.`, `${path}.end_at`)
  if (start_at && schedule.end_at !== null && start_at >= schedule.end_at)
    throw invalid(`The schedule ends at ${schedule.end_at}; start the discount before that.`, `${path}.start_at`)
}

function checkCurrency(currency: string, { pricing_currency }: Schedule, field: string): void {
  if (currency === pricing_currency) return
  throw invalid(`The schedule is priced in ${pricing_currency}; give the amount in it.`, field)
}

/** What a version sells, by the list that names it. */
async function loadSold(uow: Uow, versionId: string): Promise<Record<DiscountList, ReadonlySet<string>>> {
  const priced = await uow.tx
    .select({ id: pricings.id, items: pricings.items })
    .from(pricings)
    .where(and(inThisTenant(uow, pricings), eq(pricings.pricing_plan_version_id, versionId)))
  const items = priced.flatMap(pricing => pricing.items)
  const itemIds = items.flatMap(item => item.product_item_ids)
  const of = await uow.tx
    .select({ productId: products.id, categoryId: products.category_id })
    .from(productItems)
    .innerJoin(products, and(inThisTenant(uow, products), eq(products.id, productItems.product_id)))
    .where(and(inThisTenant(uow, productItems), inArray(productItems.id, [...itemIds, ''])))
  return {
    pricing_item_configs: new Set(items.flatMap(item => item.configs.map(config => config.id))),
    pricing_items: new Set(items.map(item => item.id)),
    pricings: new Set(priced.map(pricing => pricing.id)),
    product_items: new Set(itemIds),
    products: new Set(of.map(row => row.productId)),
    product_categories: new Set(of.flatMap(row => row.categoryId ?? [])),
    totals: new Set(),
  }
}
