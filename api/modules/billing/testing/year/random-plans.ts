// What a story sells: plans with their prices, and what a schedule has instead of what its plan says.
import type { Length } from './calendar.ts'
import { chance, hours, pick, type Random, randomOf, whole } from './random.ts'
import {
  type Coupon,
  DAY,
  type Deal,
  type Discount,
  type Included,
  type Kind,
  LEVELS,
  type Plan,
  type Price,
  type Scope,
  type Story,
  YEAR_DAYS,
} from './story.ts'

export const MONTH = { type: 'MONTH', value: 1 } as const
export const LENGTHS = [
  MONTH,
  MONTH,
  MONTH,
  { type: 'MONTH', value: 3 },
  { type: 'WEEK', value: 2 },
  { type: 'DAY', value: 10 },
] as const
const PRICING = [MONTH, { type: 'YEAR', value: 1 }, { type: 'WEEK', value: 1 }, { type: 'DAY', value: 1 }] as const

/** A price of any kind. */
export function randomPrice(random: Random, id: string): Price {
  const kind = pick<Kind>(random, ['FEE', 'FEE', 'SEATS', 'SEATS', 'USAGE', 'USAGE', 'ONCE'])
  const recurs = kind === 'FEE' || kind === 'SEATS'
  return {
    id,
    kind,
    inAdvance: kind === 'ONCE' || (recurs && chance(random, 0.5)),
    amount: whole(random, 1, 400_000),
    above:
      kind === 'USAGE' && chance(random, 0.5)
        ? { quantity: whole(random, 5, 80), amount: whole(random, 1, 100_000) }
        : null,
    billing: recurs && chance(random, 0.25) ? pick(random, [...LENGTHS, { type: 'YEAR', value: 1 } as const]) : null,
    pricing: recurs && chance(random, 0.25) ? pick<Length>(random, PRICING) : null,
    minimum: kind !== 'ONCE' && chance(random, 0.3) ? whole(random, 1, 20_000) : null,
    discount: kind !== 'ONCE' && chance(random, 0.25) ? whole(random, 1, 60) : null,
  }
}

/** Three plans. The second minimums are drawn from numbers of their own. */
export const randomPlans = (random: Random, other: Random): Plan[] =>
  Array.from({ length: 3 }, (_, plan) => ({
    id: `plan${plan}`,
    prices: Array.from({ length: whole(random, 1, 3) }, (_one, index) => randomPrice(random, `p${plan}c${index}`)),
  })).map(plan => withSecond(other, plan))

/** Some prices have two minimums, the one larger or the other. */
function withSecond(random: Random, plan: Plan): Plan {
  const prices = plan.prices.map((price): Price => {
    const [drawn, cents] = [chance(random, 0.3), whole(random, 1, 20_000)]
    if (!drawn || price.kind === 'ONCE') return price
    const wide = chance(random, 0.7)
    // A wider minimum is of the invoice's period, at its end.
    const alone = plan.prices.length === 1 && !price.inAdvance && price.billing === null
    const scope: Scope = wide && alone ? 'pricings' : 'pricing_item_configs'
    return { ...price, second: { scope, cents } }
  })
  return { ...plan, prices }
}

/** By the place of the schedule. */
export function randomDeals(
  seed: number,
  { start, plans, template }: Pick<Story, 'start' | 'plans' | 'template'>,
): Deal[] {
  const [random, other] = [randomOf(seed + 1_000_003), randomOf(seed + 5_000_011)]
  const clauses = randomOf(seed + 10_000_019)
  const isDiscounted = chance(clauses, 0.4)
  const carrying = randomOf(seed + 13_000_027)
  const prices = plans.flatMap(plan => plan.prices)
  return Array.from({ length: 4 }, (_, place): Deal => {
    const amounts = new Map(prices.flatMap(({ id }) => (chance(random, 0.2) ? [[id, whole(random, 1, 400_000)]] : [])))
    const included = prices.flatMap(({ id, kind }): Included[] => {
      if (kind !== 'USAGE' || !chance(random, 0.4)) return []
      const cut = start + whole(random, 1, YEAR_DAYS) * DAY + hours(random)
      const first = { price: id, start, end: cut, quantity: whole(random, 0, 40) }
      return chance(random, 0.5)
        ? [first]
        : [first, { price: id, start: cut, end: null, quantity: whole(random, 0, 80) }]
    })
    // What a template includes is in its own time.
    const isMoved = template !== null && place < 2
    return {
      amounts,
      included: isMoved ? [] : included,
      coupons: randomCoupons(other, prices, place),
      ...(isDiscounted ? randomClauses(clauses, prices, isMoved) : { discounts: [], minimum: null }),
      enabled: [],
      carries: chance(carrying, 0.4),
    }
  })
}

const LASTS = ['ONE_TIME', 'FOREVER', MONTH, { type: 'MONTH', value: 2 }, { type: 'DAY', value: 40 }] as const

function randomCoupons(random: Random, prices: readonly Price[], place: number): Coupon[] {
  const count = chance(random, 0.3) ? whole(random, 1, 2) : 0
  return Array.from({ length: count }, (_, index) => ({
    id: `coupon${place}${index}`,
    price: chance(random, 0.5) ? (prices[whole(random, 0, prices.length - 1)]?.id ?? null) : null,
    percentage: chance(random, 0.5) ? whole(random, 1, 100) : null,
    cents: whole(random, 1, 6_000),
    lasts: pick<Coupon['lasts']>(random, LASTS),
  }))
}

/** Discounts and a minimum of the whole invoice. */
function randomClauses(
  random: Random,
  prices: readonly Price[],
  isMoved: boolean,
): Pick<Deal, 'discounts' | 'minimum'> {
  const discounts = Array.from({ length: whole(random, 0, 3) }, (): Discount => {
    const [level, isPercentage, isDated, isOpen, isConditional] = [
      pick(random, [...LEVELS, 'totals'] as const),
      chance(random, 0.35),
      chance(random, 0.25),
      chance(random, 0.5),
      chance(random, 0.15),
    ]
    const from = whole(random, 0, 50) * DAY
    const until = from + whole(random, 1, 60) * DAY
    return {
      level,
      prices: prices.filter(() => chance(random, 0.6)).map(({ id }) => id),
      percentage: isPercentage ? whole(random, 1, 60) : null,
      cents: whole(random, 1, 8_000),
      from: isDated && !isMoved ? from : null,
      until: isDated && !isMoved && isOpen ? until : null,
      condition: isConditional ? { isAbove: chance(random, 0.5), cents: whole(random, 0, 6_000) } : null,
    }
  })
  return { discounts, minimum: chance(random, 0.4) ? whole(random, 1, 30_000) : null }
}
