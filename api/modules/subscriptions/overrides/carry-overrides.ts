// The overrides of a schedule for prices that take the place of those of its version. Pure.
import type { OverrideConfig, OverrideItem, OverridePricing } from './schema.ts'

/** A price, and where it stands. */
export type PlacedPrice = {
  readonly versionId: string
  readonly pricingId: string
  readonly itemId: string
  readonly configId: string
  readonly pricingType: string
}

/** What takes the place of the prices of a version: nothing, one price, or one in each version of a rate card. */
export type Replaced = {
  readonly prices: readonly PlacedPrice[]
  readonly replacing: (price: PlacedPrice) => readonly PlacedPrice[]
}

type Pair = { readonly from: PlacedPrice; readonly to: PlacedPrice }
const isNew = <T>(value: T, index: number, all: readonly T[]): boolean => all.indexOf(value) === index

/**
 * The same overrides, of the prices that replace those they are of. What nothing replaces is left out. Bands keep the type of
 * price that they were agreed for. ALL stays so where one pricing replaces one; where pricings are split or joined it holds for
 * their items, so that what is sold besides has the price of the plan.
 */
export function carriedOverrides(
  overrides: readonly OverridePricing[],
  { prices, replacing }: Replaced,
): OverridePricing[] {
  const pairs = prices.flatMap(from => replacing(from).map((to): Pair => ({ from, to })))
  const overrideOf = ({ pricingId }: PlacedPrice): OverridePricing | undefined =>
    overrides.find(each => each.original_pricing_id === pricingId)
  return pairs
    .map(({ to }) => to.pricingId)
    .filter(isNew)
    .flatMap(pricingId => {
      const own = pairs.filter(({ to }) => to.pricingId === pricingId)
      const stated = own.flatMap(pair => {
        const override = overrideOf(pair.from)
        return override ? [{ ...pair, override }] : []
      })
      const [first] = stated
      const items = stated
        .map(({ to }) => to.itemId)
        .filter(isNew)
        .flatMap(itemId => carriedItem(stated.filter(({ to }) => to.itemId === itemId)))
      if (!first || items.length === 0) return []
      // In the version of each: every version of a rate card has pricings of its own.
      const isOneToOne =
        own.every(({ from }) => from.pricingId === first.from.pricingId || from.versionId !== first.from.versionId) &&
        pairs.every(
          ({ from, to }) =>
            from.pricingId !== first.from.pricingId ||
            to.pricingId === pricingId ||
            to.versionId !== first.to.versionId,
        )
      const { override, ...rest } = first.override
      return [{ ...rest, original_pricing_id: pricingId, override: isOneToOne ? override : 'SPECIFIC', items }]
    })
}

/** The override of one item, of what was said of the prices that it replaces. */
function carriedItem(pairs: readonly (Pair & { readonly override: OverridePricing })[]): OverrideItem[] {
  const said = pairs.map(({ from, to, override }) => {
    const item = override.items.find(each => each.original_pricing_item_id === from.itemId)
    const config = item?.configs.find(each => each.original_pricing_item_config_id === from.configId)
    return { kind: item?.override ?? override.override, to, config: config && carriedConfig(config, { from, to }) }
  })
  const [first] = said
  if (!first) return []
  const configs = said
    .filter(({ to }, index) => said.findIndex(each => each.to.configId === to.configId) === index)
    .flatMap(({ config }) => config ?? [])
  const isAll = said.some(({ kind }) => kind === 'ALL')
  if (!isAll && configs.length === 0) return []
  return [{ original_pricing_item_id: first.to.itemId, override: isAll ? 'ALL' : 'SPECIFIC', configs }]
}

const OF_ITS_TYPE = ['bands', 'top_up', 'step_accumulation', 'block_rounding'] as const

function carriedConfig(config: OverrideConfig, { from, to }: Pair): OverrideConfig {
  const type = (config.pricing_type ?? from.pricingType) as NonNullable<OverrideConfig['pricing_type']>
  const needsType = OF_ITS_TYPE.some(name => name in config) && type !== to.pricingType
  return {
    ...config,
    original_pricing_item_config_id: to.configId,
    ...(needsType ? { pricing_type: type } : {}),
  }
}
