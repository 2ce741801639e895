// The overrides of a schedule: what a change makes of those that are stored, and the prices that result. Pure.
import { mapConfigs, type WithVariants } from '../../catalog/pricing-plans/variants/variants.ts'
import type { GivenOverride, OverrideConfig, OverrideItem, OverridePricing, PriceMember } from './schema.ts'

type Known<T> = { readonly [Name in keyof T]: T[Name] }

/** In the order of `stored`; an entry of `given` takes the place of the one of the same key, and what is left empty goes. */
function mergedBy<T>(
  stored: readonly T[],
  given: readonly T[],
  { keyOf, merge }: { readonly keyOf: (entry: T) => string; readonly merge: (before: T, now: T) => T | null },
): T[] {
  const left = [...given]
  const kept = stored.flatMap(before => {
    const place = left.findIndex(entry => keyOf(entry) === keyOf(before))
    const now = left[place]
    if (now === undefined) return [before]
    left.splice(place, 1)
    return merge(before, now) ?? []
  })
  return [...kept, ...left]
}

/**
 * The overrides after a change. One that is not named stays. SPECIFIC merges price by price with what is stored, ALL replaces
 * it. What names nothing below it takes its override back: a pricing without items, an item without prices, a price without terms.
 */
export function changedOverrides(
  stored: readonly OverridePricing[],
  given: readonly GivenOverride[],
): OverridePricing[] {
  const merged = mergedBy(stored, given.map(canonical), {
    keyOf: ({ original_pricing_id: id }) => id,
    merge: (before, now) => (now.override === 'ALL' || now.items.length === 0 ? now : mergedPricing(before, now)),
  })
  return merged.flatMap(entry => {
    const items = entry.override === 'ALL' ? entry.items : withoutEmpty(entry.items)
    return items.length === 0 ? [] : [{ ...entry, items }]
  })
}

const mergedPricing = (before: OverridePricing, now: OverridePricing): OverridePricing => ({
  ...before,
  ...('name' in now ? { name: now.name } : {}),
  items: mergedBy(before.items, now.items, {
    keyOf: ({ original_pricing_item_id: id }) => id,
    // Without prices it takes the override back, also one of ALL: kept as ALL, it would leave every price of the item out.
    merge: (old, item) =>
      item.override === 'ALL' || item.configs.length === 0
        ? item
        : { ...old, configs: mergedConfigs(old.configs, item.configs) },
  }),
})

const mergedConfigs = (before: readonly OverrideConfig[], now: readonly OverrideConfig[]): OverrideConfig[] =>
  mergedBy(before, now, {
    keyOf: ({ original_pricing_item_config_id: id }) => id,
    merge: (old, config) => (isEmpty(config) ? config : { ...old, ...config }),
  })

const isEmpty = (config: OverrideConfig): boolean => Object.keys(config).length === 1

const withoutEmpty = (items: readonly OverrideItem[]): OverrideItem[] =>
  items.flatMap(item => {
    if (item.override === 'ALL') return [item]
    const configs = item.configs.filter(config => !isEmpty(config))
    return configs.length === 0 ? [] : [{ ...item, configs }]
  })

/** An item is overridden as its pricing is, unless it says otherwise; a price has one name for its type. */
function canonical({ override, items, ...entry }: GivenOverride): OverridePricing {
  const kind = override ?? 'SPECIFIC'
  return {
    ...entry,
    override: kind,
    items: items.map(item => ({
      ...item,
      override: item.override ?? kind,
      configs: item.configs.map(({ type, ...config }) =>
        type ? { ...config, pricing_type: config.pricing_type ?? type } : config,
      ),
    })),
  }
}

type Price = { readonly id: string; readonly pricing_type: string }
type Item = WithVariants<Price> & { readonly id: string }
type Priced = { readonly id: string; readonly name: string; readonly items: readonly Item[] }

/** What a price has of these members when nothing is said. */
const NOTHING_SAID = {
  bands: [],
  top_up: null,
  step_accumulation: null,
  rate_per: null,
  default_included_volume: null,
  default_units: null,
  default_seats_value: null,
  billing_in_advance: false,
  volume_group_reference: null,
} as const satisfies Record<Exclude<PriceMember, 'pricing_type' | 'type' | 'block_rounding'>, unknown>

/** A price that rounds its blocks no longer does; one that says nothing of them, as most, is left as it is. */
const unrounded = (config: object) => ('block_rounding' in config ? { block_rounding: null } : {})

/** A pricing as a schedule with these overrides sells it: its ids stay, so whatever names a price of the plan still does. */
export function overridden<P extends Priced>(pricing: P, overrides: readonly OverridePricing[] | undefined): P {
  const override = overrides?.find(each => each.original_pricing_id === pricing.id)
  if (!override) return pricing
  const all = override.override === 'ALL'
  return {
    ...pricing,
    name: override.name ?? pricing.name,
    items: pricing.items.map(item => {
      const own = override.items.find(each => each.original_pricing_item_id === item.id)
      return mapConfigs(item, (config: Price) => withPrice(config, { own, all: all && !own }))
    }),
  }
}

type Said = { readonly own: Known<OverrideItem> | undefined; readonly all: boolean }

function withPrice<C extends Price>(config: C, { own, all }: Said): C {
  const said = own?.configs.find(each => each.original_pricing_item_config_id === config.id)
  const whole = all || own?.override === 'ALL'
  if (!said)
    return whole
      ? { ...config, ...NOTHING_SAID, ...unrounded(config), wallet_grants: null, pricing_type: 'NONE', type: 'NONE' }
      : config
  const { original_pricing_item_config_id: _id, ...members } = said
  const type = members.pricing_type ?? config.pricing_type
  // Terms of another type of price would not fit.
  const fits = !whole && type === config.pricing_type
  const kept = whole ? NOTHING_SAID : fits ? {} : { top_up: null, step_accumulation: null }
  const bands = 'bands' in members ? { bands: members.bands ?? [] } : {}
  return { ...config, ...kept, ...(fits ? {} : unrounded(config)), ...members, ...bands, pricing_type: type, type }
}

/** Whether an override of everything leaves a price out, so that it is not charged. */
export const isLeftOut = (override: OverridePricing, itemId: string, configId: string): boolean => {
  const item = override.items.find(each => each.original_pricing_item_id === itemId)
  if (!item) return override.override === 'ALL'
  return item.override === 'ALL' && !item.configs.some(each => each.original_pricing_item_config_id === configId)
}

/** Whether a price is one that the overrides state, or leave out. */
export function isOverridden(
  overrides: readonly OverridePricing[] | undefined,
  {
    pricing,
    item,
    config,
  }: { readonly pricing: { id: string }; readonly item: { id: string }; readonly config: { id: string } },
): boolean {
  const override = overrides?.find(each => each.original_pricing_id === pricing.id)
  if (!override) return false
  const own = override.items.find(each => each.original_pricing_item_id === item.id)
  return (
    own?.configs.some(each => each.original_pricing_item_config_id === config.id) === true ||
    isLeftOut(override, item.id, config.id)
  )
}

type Path = readonly (string | number)[]

/** The path in a body of what stands at `field` in the overrides that came of it; the whole list when the body does not name it. */
export function pathInBody(field: string, now: readonly OverridePricing[], given: readonly GivenOverride[]): string {
  const [root, p, items, i, configs, c, ...rest] = field.split('.')
  const pricing = now[Number(p)]
  const place = samePlace(now, Number(p), given, each => each.original_pricing_id)
  const named = given[place]
  if (!pricing || !named) return root ?? field
  const item = pricing.items[Number(i)]
  if (items !== 'items' || !item) return join([root ?? '', place, ...[items, i, configs, c].filter(isText), ...rest])
  const itemPlace = samePlace(pricing.items, Number(i), named.items, each => each.original_pricing_item_id)
  const namedItem = named.items[itemPlace]
  if (!namedItem) return join([root ?? '', place])
  const until: Path = [root ?? '', place, 'items', itemPlace]
  if (configs !== 'configs' || !item.configs[Number(c)])
    return join([...until, ...[configs, c].filter(isText), ...rest])
  const configPlace = samePlace(
    item.configs,
    Number(c),
    namedItem.configs,
    each => each.original_pricing_item_config_id,
  )
  if (configPlace < 0) return join(until)
  return join([...until, 'configs', configPlace, ...rest])
}

/** Where `given` names what stands at `place` of `now`: of entries that name the same, the second of one is the second of the other. */
function samePlace<Now, Given>(
  now: readonly Now[],
  place: number,
  given: readonly Given[],
  keyOf: (entry: Now | Given) => string,
): number {
  const entry = now[place]
  if (entry === undefined) return -1
  const key = keyOf(entry)
  const before = now.slice(0, place).filter(each => keyOf(each) === key).length
  return given.flatMap((each, index) => (keyOf(each) === key ? [index] : []))[before] ?? -1
}

const isText = (part: string | undefined): part is string => part !== undefined
const join = (path: Path): string => path.join('.')
