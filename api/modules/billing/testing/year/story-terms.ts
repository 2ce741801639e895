// How the plans of a story are said in the words of the interface: bands, discounts, minimums, other amounts and what is included.
import { decimal, plain } from '../../../../../shared/decimal.ts'
import { formatInstant, instantOf } from '../../../../../shared/time.ts'
import type { ConfigInput } from '../../terms/billing-inputs.ts'
import type { Coupon, Phase, Plan, Price, Scope } from './story.ts'

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

/** The ids of a plan's pricing, of a price's item in it and of its config. */
export type PriceIds = {
  readonly pricing: (plan: string) => string
  readonly item: (price: string) => string
  readonly config: (price: string) => string
}

/** What a schedule says of its prices besides its plan: discounts, minimums, other amounts and what it includes. */
export function termsOf({ plan, deal, start, end }: Phase, ids: PriceIds) {
  const own = plan.prices.filter(price => deal.amounts.has(price.id))
  const included = deal.included.filter(
    entry =>
      plan.prices.some(price => price.id === entry.price && price.kind === 'USAGE') &&
      (entry.end === null || entry.end > start) &&
      (end === null || entry.start < end),
  )
  const discounts = plan.prices.flatMap(price =>
    price.discount === null ? [] : [{ ids: [ids.config(price.id)], percentage: String(price.discount) }],
  )
  const commitment = minimumsOf(plan, ids)
  return {
    discount: discounts.length === 0 ? null : { pricing_item_configs: discounts },
    ...(Object.keys(commitment).length === 0 ? {} : { commitment }),
    ...(own.length === 0
      ? {}
      : {
          override_pricings: [
            {
              original_pricing_id: ids.pricing(plan.id),
              override: 'SPECIFIC' as const,
              items: own.map(price => ({
                original_pricing_item_id: ids.item(price.id),
                override: 'SPECIFIC' as const,
                configs: [{ original_pricing_item_config_id: ids.config(price.id), bands: bandsOf(price) }],
              })),
            },
          ],
        }),
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

/** The minimums of a plan's prices, by what they are of. */
function minimumsOf(plan: Plan, ids: PriceIds) {
  const found: Partial<Record<Scope, { ids: string[]; amount: ReturnType<typeof euro> }[]>> = {}
  const add = (scope: Scope, id: string, cents: number) => {
    found[scope] = [...(found[scope] ?? []), { ids: [id], amount: euro(cents, 2) }]
  }
  for (const { id, minimum, second } of plan.prices) {
    if (minimum !== null) add('pricing_item_configs', ids.config(id), minimum)
    if (second?.scope === 'pricing_item_configs') add(second.scope, ids.config(id), second.cents)
    if (second?.scope === 'pricings') add(second.scope, ids.pricing(plan.id), second.cents)
  }
  return found
}
