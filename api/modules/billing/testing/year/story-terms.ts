// How the plans of a story are said in the words of the interface: bands, discounts, minimums, other amounts and what is included.
import { decimal, plain } from '../../../../../shared/decimal.ts'
import { formatInstant, instantOf } from '../../../../../shared/time.ts'
import type { ConfigInput } from '../../terms/billing-inputs.ts'
import type { Phase } from './known.ts'
import { type Coupon, type Discount, itemOf, type Plan, type Price, type Scope } from './story.ts'
import { discountsOf, pricesOf } from './story-discounts.ts'

const euro = (amount: number, places: number) => ({
  quantity: plain(decimal(`${amount}e-${places}`)),
  currency: 'EUR',
})
export const timeText = (moment: number): string => formatInstant(instantOf(moment))

function bandsOf({ kind, amount, above }: Price) {
  const price = kind === 'FEE' ? { fixed_amount: euro(amount, 4) } : { amount: euro(amount, 4) }
  return above
    ? [{ ...price, tier_top_bound: { number: String(above.quantity) } }, { amount: euro(above.amount, 4) }]
    : [price]
}

export function configOf(price: Price): ConfigInput {
  const { id, kind, above, inAdvance, billing, pricing } = price
  return {
    id,
    pricing_type: above ? 'TIERED' : kind === 'FEE' ? 'FIXED' : 'FLAT',
    bands: bandsOf(price),
    billing_in_advance: inAdvance,
    ...(billing ? { billing_period: billing } : {}),
    ...(pricing ? { pricing_period: pricing } : {}),
  }
}

/** What a coupon takes off, and for how long. */
export const givenBy = ({ percentage, cents, lasts }: Coupon) => ({
  discount:
    percentage === null
      ? { type: 'AMOUNT' as const, amount: euro(cents, 2) }
      : { type: 'PERCENTAGE' as const, percentage: String(percentage) },
  duration: typeof lasts === 'string' ? { type: lasts } : { type: 'PERIOD' as const, period: lasts },
})

/** The ids of a plan's pricing, and by price those of its item in it, of its config and of what is sold. */
export type PriceIds = {
  readonly pricing: (plan: string, addon: boolean) => string
  readonly item: (price: string) => string
  readonly config: (price: string) => string
  readonly productItem: (price: string) => string
  readonly product: (price: string) => string
  readonly category: (price: string) => string
}

/** What a schedule says of its prices besides its plan: discounts, minimums, other amounts and what it includes. */
export function termsOf(phase: Phase, ids: PriceIds) {
  const { plan, deal, start, end } = phase
  const own = plan.prices.filter(price => deal.amounts.has(price.id))
  const included = deal.included.filter(
    entry =>
      plan.prices.some(price => price.id === entry.price && price.kind === 'USAGE') &&
      (entry.end === null || entry.end > start) &&
      (end === null || entry.start < end),
  )
  const commitment = {
    ...minimumsOf(plan, ids),
    ...(deal.minimum === null ? {} : { totals: [{ amount: euro(deal.minimum, 2) }] }),
  }
  return {
    discount: allDiscounts(phase, ids),
    ...(Object.keys(commitment).length === 0 ? {} : { commitment }),
    ...(own.length === 0
      ? {}
      : {
          override_pricings: [false, true].flatMap(addon => {
            const inIt = own.filter(price => (price.addon ?? false) === addon)
            const items = inIt.map(price => ({
              original_pricing_item_id: ids.item(price.id),
              override: 'SPECIFIC' as const,
              configs: [{ original_pricing_item_config_id: ids.config(price.id), bands: bandsOf(price) }],
            }))
            if (items.length === 0) return []
            return [{ original_pricing_id: ids.pricing(plan.id, addon), override: 'SPECIFIC' as const, items }]
          }),
        }),
    ...(phase.enabled.length === 0 || !plan.prices.some(({ addon }) => addon)
      ? {}
      : { enabled_pricings: enabledOf(phase, ids) }),
    ...(included.length === 0
      ? {}
      : {
          included_volumes: included.map(entry => ({
            pricing_item_config_id: ids.config(entry.price),
            number: String(entry.quantity),
            start_at: timeText(Math.max(entry.start, start)),
            ...(entry.end === null ? {} : { end_at: timeText(entry.end) }),
          })),
        }),
  }
}

/** When a schedule has the ADDON of its plan enabled. */
export const enabledOf = ({ plan, start: begins, enabled }: Phase, { pricing }: Pick<PriceIds, 'pricing'>) =>
  enabled.map(({ start, end }) => ({
    pricing_id: pricing(plan.id, true),
    ...(start === begins ? {} : { start_at: timeText(start) }),
    ...(end === null ? {} : { end_at: timeText(end) }),
  }))

type Taking = {
  readonly ids: string[]
  readonly percentage?: string
  readonly amount?: ReturnType<typeof euro>
  readonly start_at?: string
  readonly end_at?: string
  readonly condition?: {
    readonly comparator: 'GREATER_THAN' | 'LESS_THAN_OR_EQUALS'
    readonly value: { readonly amount: ReturnType<typeof euro> }
  }
}

/** The discounts of the prices, and those of the schedule, by what they are of. */
function allDiscounts(phase: Phase, ids: PriceIds) {
  const { plan, start } = phase
  const found: Partial<Record<Exclude<Discount['level'], 'totals'>, Taking[]>> & { totals?: Omit<Taking, 'ids'>[] } = {}
  const ofPrices = plan.prices.flatMap(({ id, discount }) =>
    discount === null ? [] : [{ ids: [ids.config(id)], percentage: String(discount) }],
  )
  if (ofPrices.length > 0) found.pricing_item_configs = ofPrices
  for (const { discount } of discountsOf(phase)) {
    const { level, percentage, cents, from, until, condition } = discount
    const taking: Omit<Taking, 'ids'> = {
      ...(percentage === null ? { amount: euro(cents, 2) } : { percentage: String(percentage) }),
      ...(from === null ? {} : { start_at: timeText(start + from) }),
      ...(until === null ? {} : { end_at: timeText(start + until) }),
      ...(condition === null
        ? {}
        : {
            condition: {
              comparator: condition.isAbove ? 'GREATER_THAN' : 'LESS_THAN_OR_EQUALS',
              value: { amount: euro(condition.cents, 2) },
            },
          }),
    }
    if (level === 'totals') found.totals = [...(found.totals ?? []), taking]
    else found[level] = [...(found[level] ?? []), { ids: idsOn(discount, plan, ids), ...taking }]
  }
  return Object.keys(found).length === 0 ? null : found
}

function idsOn(discount: Discount, plan: Plan, ids: PriceIds): string[] {
  const idOf = {
    pricing_item_configs: ids.config,
    pricing_items: ids.item,
    pricings: () => ids.pricing(plan.id, false),
    product_items: ids.productItem,
    products: ids.product,
    product_categories: ids.category,
    totals: () => '',
  }[discount.level]
  const isOfOne = discount.level === 'pricing_item_configs' || discount.level === 'pricing_items'
  return [...new Set(pricesOf(discount, plan).map(price => idOf(isOfOne ? price.id : itemOf(price))))]
}

/** The minimums of a plan's prices, by what they are of. */
function minimumsOf(plan: Plan, ids: PriceIds) {
  const found: Partial<Record<Scope, { ids: string[]; amount: ReturnType<typeof euro> }[]>> = {}
  const add = (scope: Scope, id: string, cents: number) => {
    found[scope] = [...(found[scope] ?? []), { ids: [id], amount: euro(cents, 2) }]
  }
  for (const { id, minimum, second } of plan.prices) {
    if (minimum !== null) add('pricing_item_configs', ids.config(id), minimum)
    if (second?.scope === 'pricing_item_configs') add(second.scope, ids.config(id), second.cents)
    if (second?.scope === 'pricings') add(second.scope, ids.pricing(plan.id, false), second.cents)
  }
  return found
}
