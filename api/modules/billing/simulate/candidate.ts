// The version that a simulation prices by, put in the place of the versions that invoices were priced by. Pure.
import { isDeepStrictEqual } from 'node:util'
import { groupBy } from '../../../../shared/group-by.ts'
import { namesAsOf } from '../../catalog/conditions/load-names.ts'
import { allConfigs, canOverlap, type Variant, variantsOf } from '../../catalog/pricing-plans/variants/variants.ts'
import type { EnabledPricing } from '../../subscriptions/enabled-pricings/schema.ts'
import { carriedOverrides, type PlacedPrice, type Replaced } from '../../subscriptions/overrides/carry-overrides.ts'
import type { BillingInputs, ConfigInput, ItemInput, PricingInput, ScheduleInput } from '../terms/billing-inputs.ts'
import type { CatalogInputs } from '../terms/load/load-catalog.ts'

/** A version of a plan with everything that it sells. It may be a DRAFT, or exist only in a catalog file. */
export type Candidate = {
  readonly planId: string
  readonly versionId: string
  readonly catalog: CatalogInputs
}

/** The schedules of the plan that another version prices, at least for some time; their prices are replaced. */
export const switchedSchedules = ({ schedules }: BillingInputs, candidate: Candidate): ReadonlySet<string> =>
  new Set(
    schedules.filter(each => each.pricing_plan_id === candidate.planId && !isOn(each, candidate)).map(({ id }) => id),
  )

const isOn = ({ rate_card, pricing_plan_version_id }: ScheduleInput, { versionId }: Candidate): boolean =>
  rate_card
    ? rate_card.every(each => each.pricing_plan_version_id === versionId)
    : pricing_plan_version_id === versionId

/**
 * The inputs of an invoice as if its schedules of the plan had been on the candidate version; the same object when none
 * of them changes. Everything but prices stays as the invoice had it. Discounts, markups, commitments, seats, units, enabled
 * ADDONs, overrides and persisted usage of a price move to the price of the candidate that replaces it; where none does, they do not apply.
 */
export function withCandidate(inputs: BillingInputs, candidate: Candidate): BillingInputs {
  const switched = switchedSchedules(inputs, candidate)
  if (switched.size === 0) return inputs
  const { versionId, catalog } = candidate
  const own = ownPricings(inputs)
  const replacements = replacementsOf(
    inputs.pricings.filter(each => !own.includes(each)),
    catalog.pricings,
  )
  const isOwn = (configId: string): boolean =>
    own.some(({ items }) => items.some(item => allConfigs(item).some(({ id }) => id === configId)))
  const schedules = inputs.schedules.map(schedule =>
    switched.has(schedule.id)
      ? { ...withReplacedClauses(schedule, replacements), pricing_plan_version_id: versionId }
      : schedule,
  )
  return {
    ...inputs,
    ...mergedCatalog(inputs, catalog),
    schedules,
    persisted_usages: inputs.persisted_usages.flatMap(each => {
      if (!switched.has(each.schedule_id) || isOwn(each.config_id)) return [each]
      const replaced = replacements.pricing_item_configs.get(each.config_id) ?? []
      return replaced.map(config_id => ({ ...each, config_id }))
    }),
  }
}

/** What schedules sell besides their plan: that stays as it is. */
function ownPricings({ pricings, schedules }: BillingInputs): PricingInput[] {
  const versions = new Set(schedules.flatMap(({ own_version_id: own }) => own ?? []))
  return pricings.filter(({ pricing_plan_version_id: id }) => versions.has(id))
}

/** What the invoice was priced from goes first: an item that was renamed or taxed otherwise since stays as it was. */
function mergedCatalog(then: CatalogInputs, candidate: CatalogInputs): CatalogInputs {
  const both = <T extends { readonly id: string }>(a: readonly T[], b: readonly T[]): T[] => {
    const known = new Set(a.map(({ id }) => id))
    return [...a, ...b.filter(({ id }) => !known.has(id))]
  }
  return {
    plans: both(then.plans, candidate.plans),
    pricings: both(then.pricings, candidate.pricings),
    product_items: both(then.product_items, candidate.product_items),
    products: both(then.products, candidate.products),
    product_categories: both(then.product_categories, candidate.product_categories),
    calculations: both(then.calculations, candidate.calculations),
    condition_names: namesAsOf(candidate.condition_names, then.condition_names),
  }
}

const REPLACED = ['pricing_item_configs', 'pricing_items', 'pricings'] as const
/** By the id of what is replaced: the ids of what stands for it in the candidate. */
type Replacements = Readonly<Record<(typeof REPLACED)[number], ReadonlyMap<string, readonly string[]>>> & {
  readonly of: Replaced
}

type Placed = {
  readonly pricing: PricingInput
  readonly item: ItemInput
  readonly variant: Variant<ConfigInput>
  readonly config: ConfigInput
}

const placedIn = (pricings: readonly PricingInput[]): Placed[] =>
  pricings.flatMap(pricing =>
    pricing.items.flatMap(item =>
      variantsOf(item).flatMap(variant => variant.configs.map(config => ({ pricing, item, variant, config }))),
    ),
  )

/** In each variant, a price replaces a price of the same product item with the same conditions; without such, the only one of the item. */
function replacementsOf(then: readonly PricingInput[], now: readonly PricingInput[]): Replacements {
  const all = placedIn(now)
  const configs = new Map<string, string[]>()
  const items = new Map<string, string[]>()
  const pricings = new Map<string, string[]>()
  const add = (map: Map<string, string[]>, id: string, by: string): unknown =>
    map.set(id, [...new Set([...(map.get(id) ?? []), by])])
  for (const { pricing, item, variant, config } of placedIn(then)) {
    const sold = all.filter(
      other =>
        canOverlap(other.variant, variant) &&
        other.item.product_item_ids.some(id => item.product_item_ids.includes(id)),
    )
    const alike = sold.filter(other => isDeepStrictEqual(testsOf(other.config.conditions), testsOf(config.conditions)))
    // In each variant that a schedule of this price may have, for it is priced by one of them.
    for (const own of groupBy(sold, ({ variant: { currency, billingPeriod } }) =>
      JSON.stringify([currency, billingPeriod]),
    ).values()) {
      const same = own.filter(other => alike.includes(other))
      for (const other of same.length > 0 ? same.slice(0, 1) : own.length === 1 ? own : [])
        add(configs, config.id, other.config.id)
    }
    for (const other of sold) {
      add(items, item.id, other.item.id)
      add(pricings, pricing.id, other.pricing.id)
    }
  }
  const prices = placedIn(then).map(priceAt)
  const replacing = ({ configId }: PlacedPrice): PlacedPrice[] => {
    const ids = configs.get(configId) ?? []
    return all.filter(({ config }) => config.id !== configId && ids.includes(config.id)).map(priceAt)
  }
  return { pricing_item_configs: configs, pricing_items: items, pricings, of: { prices, replacing } }
}

const priceAt = ({ pricing, item, config }: Placed): PlacedPrice => ({
  versionId: pricing.pricing_plan_version_id,
  pricingId: pricing.id,
  itemId: item.id,
  configId: config.id,
  pricingType: config.pricing_type,
})

/** What conditions test, whatever they are called. */
const testsOf = (conditions: ConfigInput['conditions']): unknown => {
  if (!conditions) return null
  const { name: _name, ...tests } = conditions
  return tests
}

function withReplacedClauses(schedule: ScheduleInput, replacements: Replacements): ScheduleInput {
  const { rate_card: _replaced, ...rest } = schedule
  const { discount, markup, commitment, enabled_pricings: enabled, seats_values: seats, units } = rest
  const { included_volumes: included, override_pricings: overrides } = rest
  return {
    ...rest,
    discount: discount && replacedIn(discount, replacements),
    ...(enabled ? { enabled_pricings: enabled.flatMap(entry => enabledIn(entry, replacements)) } : {}),
    ...(seats ? { seats_values: countsIn(seats, replacements) } : {}),
    ...(units ? { units: countsIn(units, replacements) } : {}),
    ...(included ? { included_volumes: countsIn(included, replacements) } : {}),
    // The old overrides stay beside them, as the ids of clauses do (replacedIn).
    ...(overrides ? { override_pricings: [...overrides, ...carriedOverrides(overrides, replacements.of)] } : {}),
    ...(markup ? { markup: replacedIn(markup, replacements) } : {}),
    ...(commitment ? { commitment: replacedIn(commitment, replacements) } : {}),
  }
}

type Entries = readonly { readonly ids?: readonly string[] }[] | null

/** An ADDON that was enabled is enabled in the candidate too, at the same time. */
function enabledIn(entry: EnabledPricing, { pricings }: Replacements): EnabledPricing[] {
  const replaced = (pricings.get(entry.pricing_id) ?? []).filter(id => id !== entry.pricing_id)
  return [entry, ...replaced.map(pricing_id => ({ ...entry, pricing_id }))]
}

/** What the schedule states for a price, it states for the price that replaces it too. */
const countsIn = <T extends { readonly pricing_item_config_id: string }>(
  entries: readonly T[],
  { pricing_item_configs: configs }: Replacements,
): T[] =>
  entries.flatMap(entry => {
    const replaced = (configs.get(entry.pricing_item_config_id) ?? []).filter(id => id !== entry.pricing_item_config_id)
    return [entry, ...replaced.map(pricing_item_config_id => ({ ...entry, pricing_item_config_id }))]
  })

function replacedIn<T extends object>(clauses: T, replacements: Replacements): T {
  const lists = Object.entries(clauses as Readonly<Record<string, Entries>>).map(([list, entries]) => {
    const by = REPLACED.find(name => name === list)
    if (!by || !entries) return [list, entries]
    // The ids of before stay: late usage of time that is not simulated keeps its prices and its clauses.
    const replaced = entries.map(entry => {
      const ids = entry.ids ?? []
      return { ...entry, ids: [...new Set([...ids, ...ids.flatMap(id => replacements[by].get(id) ?? [])])] }
    })
    return [list, replaced]
  })
  return Object.fromEntries(lists)
}
