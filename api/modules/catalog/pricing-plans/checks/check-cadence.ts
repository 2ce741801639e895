// Items that sell the same credits agree on when they are charged, because usage priced in credits takes its periods
// from them (contract: Wallet rules, last paragraph).
import { isDeepStrictEqual } from 'node:util'
import type { ReadUow, Uow } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { creditTypeOf } from '../../../../../shared/rating/credits.ts'
import type { ProductItem } from '../../products/table.ts'
import { creditTypesSold } from '../credit-types-sold.ts'
import type { PricingItem } from '../schema.ts'
import type { Pricing } from '../table.ts'
import { isWholeMultiple } from '../variants/period-length.ts'
import { allConfigs, canOverlap, type Terms, variantFor, variantsOf } from '../variants/variants.ts'
import { pricingsOf } from '../version-pricings.ts'

type Contents = Pick<Pricing, 'pricing_plan_version_id' | 'items'> & { readonly id?: string | null }

const idOf = (item: PricingItem): string => item.product_item_ids[0] ?? ''

/**
 * Throws INVALID_FIELD for a config of an item that sells credits whose periods differ from those of another one in
 * the version that sells the same credits.
 */
export async function checkCadence(uow: Uow, row: Contents, named: ReadonlyMap<string, ProductItem>): Promise<void> {
  const sells = (id: string): string | null => named.get(id)?.credits?.credit_type_id ?? null
  if (!row.items.some(item => sells(idOf(item)) !== null)) return
  const others = (await pricingsOf(uow, [row.pricing_plan_version_id])).filter(({ id }) => id !== row.id)
  const known = await creditTypesSold(
    uow,
    others.flatMap(({ items }) => items.map(idOf)),
  )
  const before = others.flatMap(({ items }) =>
    items.flatMap(item => placesOf(item).map(place => ({ ...place, creditTypeId: known.get(idOf(item)) ?? null }))),
  )
  for (const [index, item] of row.items.entries()) {
    const creditTypeId = sells(idOf(item))
    if (creditTypeId === null) continue
    for (const place of placesOf(item)) {
      for (const name of ['billing_period', 'pricing_period'] as const) {
        const other = before.find(
          each =>
            each.creditTypeId === creditTypeId &&
            canOverlap(each.variant, place.variant) &&
            !isDeepStrictEqual(each.config[name], place.config[name]),
        )
        if (!other) continue
        const message = `Another item sells the same credits with another ${name}; give both the same, or leave it out of both.`
        throw new AppError('INVALID_FIELD', message, { field: `items.${index}.${place.path}.${name}` })
      }
      before.push({ ...place, creditTypeId })
    }
  }
}

/** The configs of an item, each with the schedules that it prices and where it stands below the item. */
const placesOf = (item: PricingItem) =>
  variantsOf(item).flatMap(variant =>
    variant.configs.map((config, index) => ({ config, variant, path: `${variant.path}.${index}` })),
  )

/**
 * Throws INVALID_FIELD for an item of the version that sells credits by a pricing period that does not fit the billing period of the
 * customer who buys them. A config that names its billing period was judged when it was saved.
 */
export async function requireCreditPeriods(uow: Uow, versionId: string, terms: Terms): Promise<void> {
  const items = (await pricingsOf(uow, [versionId])).flatMap(pricing => pricing.items)
  const selling = await creditTypesSold(uow, items.map(idOf))
  const wider = items
    .filter(item => selling.has(idOf(item)))
    .flatMap(item => variantFor(item, terms)?.configs ?? [])
    .find(
      ({ billing_period: own, pricing_period: priced }) =>
        !own && priced && !isWholeMultiple(terms.billingPeriod, priced),
    )
  if (!wider) return
  const message =
    'The billing_period must be a whole number of the periods by which credits are priced; choose a longer billing_period, or other prices.'
  throw new AppError('INVALID_FIELD', message, { field: 'billing_period' })
}

/**
 * Throws INVALID_FIELD where credits that the version of a schedule's own prices names are sold by different periods, by that version and the
 * others that the schedule sells: usage could not take its periods from both.
 */
export async function requireSameCadence(
  uow: ReadUow,
  { ownId, otherIds, terms }: { readonly ownId: string; readonly otherIds: readonly string[]; readonly terms: Terms },
): Promise<void> {
  const priced = await pricingsOf(uow, [ownId, ...otherIds])
  const items = priced.flatMap(pricing =>
    pricing.items.map(item => ({ item, versionId: pricing.pricing_plan_version_id })),
  )
  const typesSold = await creditTypesSold(
    uow,
    items.map(({ item }) => idOf(item)),
  )
  const named = new Set(
    items
      .filter(({ versionId }) => versionId === ownId)
      .flatMap(({ item }) => [typesSold.get(idOf(item)), ...allConfigs(item).map(creditTypeOf)]),
  )
  const sellers = items.flatMap(({ item }) => {
    const type = typesSold.get(idOf(item))
    return type !== undefined && named.has(type)
      ? (variantFor(item, terms)?.configs ?? []).map(config => ({ type, config }))
      : []
  })
  for (const [index, { type, config }] of sellers.entries()) {
    const before = sellers.slice(0, index).filter(each => each.type === type)
    for (const name of ['billing_period', 'pricing_period'] as const) {
      if (before.every(each => isDeepStrictEqual(each.config[name], config[name]))) continue
      const message = `The plan and the prices of the schedule sell the same credits with another ${name}; give both the same, or sell the credits once.`
      throw new AppError('INVALID_FIELD', message, { field: 'pricing_categories' })
    }
  }
}
