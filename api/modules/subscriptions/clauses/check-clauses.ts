// Whether the discounts, markups and commitments of a schedule can be given as they are.
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { decimal, HUNDRED, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf, idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { PricingItemConfig } from '../../catalog/pricing-plans/schema.ts'
import { pricings } from '../../catalog/pricing-plans/table.ts'
import { isMeasured } from '../../catalog/products/schema.ts'
import { productItems, products } from '../../catalog/products/table.ts'
import { overridden } from '../overrides/merge-overrides.ts'
import { scheduleTerms, soldItems } from '../sold-items.ts'
import { startsTooLate } from '../stated-times.ts'
import type { Schedule } from '../table.ts'
import { versionsSold } from '../versions-sold.ts'
import { CLAUSE_ROOTS, type ClauseEntry, type ClauseRoot, clauseEntries, type DiscountList } from './clause-entries.ts'

const invalid = (message: string, field: string): AppError => new AppError('INVALID_FIELD', message, { field })

/**
 * Throws unless every discount, markup and commitment is in the schedule's currency, of something the schedule's version sells, and
 * says one thing.
 */
export async function checkClauses(uow: Uow, schedule: Schedule, stored: Schedule | null): Promise<void> {
  const entries = CLAUSE_ROOTS.flatMap(root => {
    const own = clauseEntries(root, schedule)
    const before = stored ? clauseEntries(root, stored) : []
    for (const entry of own) checkEntry(root, entry, { schedule, before })
    return own
  })
  if (!entries.some(({ level }) => level !== null)) return
  const sold = await loadSold(uow, schedule)
  for (const { list, path, ids, value } of entries)
    for (const [index, id] of ids.entries()) {
      if (!sold[list].has(id)) {
        const message = `The schedule sells no ${NOUNS[list]} ${id}; name one that it sells.`
        throw new AppError('RESOURCE_NOT_FOUND', message, { field: `${path}.ids.${index}` })
      }
      if (value.meter_value_calculation && !sold.metered.has(id))
        throw invalid('The price is not metered, so no units can be committed; give an amount.', `${path}.ids.${index}`)
      if (value.meter_value_calculation && sold.placedByEvents.has(id)) {
        const message =
          'The number of events decides on the tier of this price, so units alone have none; give an amount.'
        throw invalid(message, `${path}.ids.${index}`)
      }
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

const A_CLAUSE: Readonly<Record<ClauseRoot, string>> = {
  discount: 'A discount',
  markup: 'A markup',
  commitment: 'A commitment',
}

type Within = { readonly schedule: Schedule; readonly before: readonly ClauseEntry[] }

function checkEntry(root: ClauseRoot, { list, path, value, ids }: ClauseEntry, { schedule, before }: Within): void {
  const { amount, percentage, condition, start_at, end_at, meter_value_calculation: metered } = value
  const noun = A_CLAUSE[root]
  const [other, name] = root === 'commitment' ? [metered, 'meter_value_calculation'] : [percentage, 'percentage']
  const given = [amount, other].filter(each => each !== null && each !== undefined)
  const kinds = root === 'commitment' ? 'an amount or a number of units' : 'a percentage or an amount'
  if (given.length === 0)
    throw new AppError('MISSING_FIELD', `${noun} is ${kinds}; give one of them.`, { field: `${path}.${name}` })
  if (given.length > 1) throw invalid(`${noun} is ${kinds}; give only one of them.`, `${path}.amount`)
  if (metered) checkMetered(metered, { ids, path: `${path}.meter_value_calculation`, schedule })
  if (percentage && decimal(percentage).lt(ZERO))
    throw invalid(`${noun} has a percentage of 0 or more.`, `${path}.percentage`)
  if (root === 'discount' && percentage && decimal(percentage).gt(HUNDRED))
    throw invalid('A discount is a percentage from 0 to 100.', `${path}.percentage`)
  if (amount && decimal(amount.quantity).lte(ZERO))
    throw invalid(`${noun} has an amount above 0.`, `${path}.amount.quantity`)
  if (amount) checkCurrency(amount.currency, schedule, `${path}.amount.currency`)
  if (condition) checkCurrency(condition.value.amount.currency, schedule, `${path}.condition.value.amount.currency`)
  const from = start_at ?? schedule.start_at
  if (end_at && end_at <= from)
    throw invalid(`${noun} ends after it starts, and this one starts at ${from}.`, `${path}.end_at`)
  const stored = before.filter(each => each.list === list).map(each => each.value)
  if (startsTooLate(value, schedule.end_at, stored))
    throw invalid(`The schedule ends at ${schedule.end_at}; start it before that.`, `${path}.start_at`)
}

type Metered = NonNullable<ClauseEntry['value']['meter_value_calculation']>

/** A number of units, or of an amount that is metered, of one price: what more units of several cost, nobody could say. */
function checkMetered(
  { number, amount }: Metered,
  { ids, path, schedule }: { readonly ids: readonly string[]; readonly path: string; readonly schedule: Schedule },
): void {
  if (ids.length > 1) throw invalid('Units are committed of one price; give each price a commitment of its own.', path)
  if ((number ?? null) === null && (amount ?? null) === null)
    throw new AppError('MISSING_FIELD', 'Give the number of units, or the amount that is metered.', {
      field: `${path}.number`,
    })
  if (number && amount)
    throw invalid('Give the number of units or the amount that is metered, not both.', `${path}.amount`)
  if (decimal(number ?? amount?.quantity ?? '0').lte(ZERO))
    throw invalid('What is committed must be above 0.', number ? `${path}.number` : `${path}.amount.quantity`)
  if (amount) checkCurrency(amount.currency, schedule, `${path}.amount.currency`)
}

function checkCurrency(currency: string, { pricing_currency }: Schedule, field: string): void {
  if (currency === pricing_currency) return
  throw invalid(`The schedule is priced in ${pricing_currency}; give the amount in it.`, field)
}

/** What a schedule sells, by the list that names it: what its version does, or any version of its rate card. */
async function loadSold(
  uow: Uow,
  schedule: Schedule,
): Promise<Record<DiscountList | 'metered' | 'placedByEvents', ReadonlySet<string>>> {
  const priced = await uow.tx
    .select({ id: pricings.id, name: pricings.name, items: pricings.items })
    .from(pricings)
    .where(
      and(
        inThisTenant(uow, pricings),
        anyOf(pricings.pricing_plan_version_id, idsOf('ppve', await versionsSold(uow, schedule))),
      ),
    )
  const terms = await scheduleTerms(uow, schedule)
  const asSold = priced.map(pricing => overridden(pricing, schedule.override_pricings))
  const items = asSold.flatMap(pricing => soldItems(pricing.items, terms))
  const itemIds = items.flatMap(item => item.product_item_ids)
  const of = await uow.tx
    .select({
      id: productItems.id,
      model: productItems.model_type,
      productId: products.id,
      categoryId: products.category_id,
    })
    .from(productItems)
    .innerJoin(products, and(inThisTenant(uow, products), eq(products.id, productItems.product_id)))
    .where(and(inThisTenant(uow, productItems), anyOf(productItems.id, idsOf('proi', [...itemIds, '']))))
  const metered = new Set(of.flatMap(row => (isMeasured(row.model) ? [row.id] : [])))
  const ofMetered = items.filter(item => item.product_item_ids.some(id => metered.has(idOf('proi', id))))
  return {
    metered: new Set(ofMetered.flatMap(item => item.configs.map(config => config.id))),
    placedByEvents: new Set(items.flatMap(item => item.configs.filter(isPlacedByEvents).map(config => config.id))),
    pricing_item_configs: new Set(items.flatMap(item => item.configs.map(config => config.id))),
    pricing_items: new Set(items.map(item => item.id)),
    pricings: new Set(priced.map(pricing => pricing.id)),
    product_items: new Set(itemIds),
    products: new Set(of.map(row => row.productId)),
    product_categories: new Set(of.flatMap(row => row.categoryId ?? [])),
    totals: new Set(),
  }
}

const isPlacedByEvents = ({ bands }: Pick<PricingItemConfig, 'bands'>): boolean =>
  bands.some(band => (band.tier_top_bound?.count ?? null) !== null)
