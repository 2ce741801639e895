// Prices that rise, or fall, by a percentage when a schedule is copied (semantics 4.3). Pure.
import Type, { type Static } from 'typebox'
import {
  type Decimal,
  decimal,
  fixed,
  HUNDRED,
  isPlainDecimal,
  plain,
  roundHalfUp,
} from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { DecimalText, IdText, Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'
import type { PricingBand, PricingItem } from '../../catalog/pricing-plans/schema.ts'
import { allConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import type { GivenOverride } from '../overrides/schema.ts'

/** Places after the point that amounts have at most. */
const PLACES_MAX = 12
const TARGETS_MAX = 200

const Settings = Shape(
  {
    percentage: DecimalText,
    rounding_mode: Optional(Nullable(OneOf('DECIMALS', 'PRESERVE_SCALE'))),
    number_of_decimals: Optional(Nullable(Type.Integer({ minimum: 0, maximum: PLACES_MAX }))),
  },
  { title: 'IndexingSettings' },
)
const Targets = Optional(
  Nullable(
    Type.Array(
      Shape(
        { id: IdText('what is indexed'), indexing_settings: Optional(Nullable(Settings)) },
        { title: 'IndexingTarget' },
      ),
      { maxItems: TARGETS_MAX },
    ),
  ),
)

/** What of a copy says how prices are indexed. */
export const INDEXING_MEMBERS = {
  indexing_settings: Optional(Nullable(Settings)),
  pricings: Targets,
  pricing_items: Targets,
  pricing_item_configs: Targets,
}
const IndexingShape = Shape(INDEXING_MEMBERS)
export type Indexing = Static<typeof IndexingShape>
type IndexingSettings = Static<typeof Settings>

const LISTS = ['pricing_item_configs', 'pricing_items', 'pricings'] as const
type List = (typeof LISTS)[number]
const NOUNS: Readonly<Record<List, string>> = {
  pricing_item_configs: 'price',
  pricing_items: 'pricing item',
  pricings: 'pricing',
}

type Sold = { readonly id: string; readonly items: readonly PricingItem[] }
/** Settings, and where they stand in the body. */
type Placed = { readonly settings: IndexingSettings; readonly path: string }

/**
 * The overrides that index what a schedule sells: everything by `indexing_settings` when no target is listed; else the targets, each by its
 * own settings or by the common ones, and the narrowest counts. Amounts change, percentages and credits do not. Throws INVALID_FIELD,
 * MISSING_FIELD or RESOURCE_NOT_FOUND with the path.
 */
export function indexedOverrides(sold: readonly Sold[], indexing: Indexing): GivenOverride[] {
  const common = commonOf(indexing)
  const targets = targetsOf(sold, indexing, common)
  const settingsOf = (ids: readonly string[]): Placed | null =>
    targets === null ? common : (ids.map(id => targets.get(id)).find(found => found !== undefined) ?? null)
  return sold.flatMap(pricing => {
    const items = pricing.items.flatMap(item => {
      const configs = allConfigs(item).flatMap(config => {
        const by = settingsOf([config.id, item.id, pricing.id])
        const bands = by && config.bands.map(band => indexedBand(band, by))
        return bands && config.bands.some(hasAmount) ? [{ original_pricing_item_config_id: config.id, bands }] : []
      })
      return configs.length === 0 ? [] : [{ original_pricing_item_id: item.id, configs }]
    })
    return items.length === 0 ? [] : [{ original_pricing_id: pricing.id, items }]
  })
}

/** The settings of what has none of its own; null when there are none. */
function commonOf({ indexing_settings: settings }: Indexing): Placed | null {
  const path = 'indexing_settings'
  if (!settings) return null
  checkSettings(settings, path)
  return { settings, path }
}

/** The settings of each target, by its id; null when none is listed. */
function targetsOf(
  sold: readonly Sold[],
  indexing: Indexing,
  common: Placed | null,
): ReadonlyMap<string, Placed> | null {
  const items = sold.flatMap(pricing => pricing.items)
  const known: Readonly<Record<List, ReadonlySet<string>>> = {
    pricings: new Set(sold.map(({ id }) => id)),
    pricing_items: new Set(items.map(({ id }) => id)),
    pricing_item_configs: new Set(items.flatMap(item => allConfigs(item).map(({ id }) => id))),
  }
  const found = new Map<string, Placed>()
  for (const list of LISTS)
    for (const [index, { id, indexing_settings: own }] of (indexing[list] ?? []).entries()) {
      const path = `${list}.${index}`
      if (!known[list].has(id)) {
        const message = `The schedule sells no ${NOUNS[list]} ${id}; name one that it sells.`
        throw new AppError('RESOURCE_NOT_FOUND', message, { field: `${path}.id` })
      }
      if (found.has(id))
        throw new AppError('INVALID_FIELD', 'It is listed twice; list it once.', { field: `${path}.id` })
      const ownPath = `${path}.indexing_settings`
      if (own) checkSettings(own, ownPath)
      const placed = own ? { settings: own, path: ownPath } : common
      if (!placed) {
        const message = 'Say by how much: indexing_settings of the target, or of all.'
        throw new AppError('MISSING_FIELD', message, { field: ownPath })
      }
      found.set(id, placed)
    }
  return found.size === 0 ? null : found
}

function checkSettings({ percentage, rounding_mode, number_of_decimals }: IndexingSettings, path: string): void {
  if (decimal(percentage).lte(HUNDRED.neg())) {
    const message = 'percentage is above -100; "3.5" is a rise of 3.5 %.'
    throw new AppError('INVALID_FIELD', message, { field: `${path}.percentage` })
  }
  const places = number_of_decimals ?? null
  if (rounding_mode === 'DECIMALS' && places === null) {
    const message = 'DECIMALS needs number_of_decimals: the places after the point.'
    throw new AppError('MISSING_FIELD', message, { field: `${path}.number_of_decimals` })
  }
  if (rounding_mode !== 'DECIMALS' && places !== null) {
    const message = 'Only the rounding_mode DECIMALS takes number_of_decimals; leave it out.'
    throw new AppError('INVALID_FIELD', message, { field: `${path}.number_of_decimals` })
  }
}

const AMOUNTS = ['amount', 'fixed_amount', 'minimum_amount', 'maximum_amount'] as const

const hasAmount = (band: PricingBand): boolean => AMOUNTS.some(name => band[name])

const indexedBand = (band: PricingBand, by: Placed): PricingBand => ({
  ...band,
  ...Object.fromEntries(
    AMOUNTS.flatMap(name => {
      const amount = band[name]
      return amount ? [[name, { ...amount, quantity: indexedWithin(amount.quantity, by) }]] : []
    }),
  ),
})

/** Throws INVALID_FIELD where the amount would have more digits than an amount can have. */
function indexedWithin(quantity: string, { settings, path }: Placed): string {
  const raised = indexed(quantity, settings)
  if (isPlainDecimal(raised)) return raised
  const message = `A price of ${quantity} would become larger than 26 digits before the point; send a smaller percentage.`
  throw new AppError('INVALID_FIELD', message, { field: `${path}.percentage` })
}

/**
 * An amount raised by the percentage, rounded half up. Without a rounding mode it is as exact as amounts can be; with one it has exactly
 * that many decimals, zeros too, so that the next indexing with PRESERVE_SCALE keeps them.
 */
export function indexed(
  quantity: string,
  { percentage, rounding_mode: mode, number_of_decimals }: IndexingSettings,
): string {
  const raised: Decimal = decimal(quantity)
    .times(HUNDRED.plus(decimal(percentage)))
    .div(HUNDRED)
  const scale = quantity.split('.')[1]?.length ?? 0
  if (mode === undefined || mode === null) return plain(roundHalfUp(raised, PLACES_MAX))
  const places = mode === 'DECIMALS' ? (number_of_decimals ?? PLACES_MAX) : scale
  return fixed(roundHalfUp(raised, places), places)
}
