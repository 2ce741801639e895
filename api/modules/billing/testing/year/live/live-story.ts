// The story of a seed as far as requests give it: what the api does not sell, or would change afterwards, is left out.
import { storyOf } from '../random-story.ts'
import {
  type Action,
  type CardVersion,
  type Deal,
  type Kind,
  type Plan,
  type Price,
  pricesIn,
  type Story,
} from '../story.ts'

const BASE_FEE: Price = {
  id: 'base',
  kind: 'FEE',
  inAdvance: true,
  amount: 100_000,
  above: null,
  billing: null,
  pricing: null,
  minimum: null,
  discount: null,
}

/** The item of the seats is in one category, which the last figure of a name tells. */
const nameOfSeats = (id: string): string => `${id}-0`

/**
 * The story of a seed, as far as requests give it here: prices that follow the periods of the subscription, and seats of one item that
 * every plan sells or none does. The simulation in pure code has the rest.
 */
export const liveStory = (seed: number): Story => asLive(storyOf(seed))

/** The same with usage that arrives in time, and never changes. */
export const inTime = (story: Story): Story => ({
  ...story,
  usage: story.usage.map(({ time, versions: [first] }) => ({
    time,
    versions: [{ arrives: time, quantity: first?.quantity ?? 1 }],
  })),
})

/**
 * The story of another subscription of the same customer, in periods that end at the same moments as far as that is possible. Its things have
 * names of their own.
 */
export function besideOf(story: Story): Story {
  const { zone, billing, calendar } = story
  const other = storyOf(story.seed + 500_000_009)
  // Of EXACT subscriptions those that begin together are billed together.
  const moved = calendar ? 0 : story.start - other.start
  const later = (time: number): number => time + moved
  const named = (id: string): string => `other-${id}`
  const plans = other.plans.map(({ id, prices }) => ({
    id: named(id),
    prices: prices.map(price => ({ ...price, id: named(price.id) })),
  }))
  const deals = other.deals.map(({ amounts, included, coupons, discounts, minimum, enabled, carries }) => ({
    carries,
    minimum,
    enabled,
    discounts: discounts.map(each => ({ ...each, prices: each.prices.map(named) })),
    amounts: new Map([...amounts].map(([id, amount]) => [named(id), amount])),
    included: included.map(each => ({
      ...each,
      price: named(each.price),
      start: later(each.start),
      end: each.end === null ? null : later(each.end),
    })),
    coupons: coupons.map(each => ({
      ...each,
      id: named(each.id),
      price: each.price === null ? null : named(each.price),
    })),
  }))
  const actions = other.actions.flatMap((action): Action[] => {
    const at = later(action.at)
    switch (action.type) {
      // Where a period ends depends on it.
      case 'CANCEL':
        return []
      case 'UNDO':
        return other.terms ? [{ ...action, at }] : []
      case 'ADDON':
        return [{ ...action, at, until: action.until === null ? null : later(action.until) }]
      case 'PAUSE':
        return [{ ...action, at, start: later(action.start), end: later(action.end) }]
      case 'PLAN':
        return [{ ...action, at, ...(action.starts === undefined ? {} : { starts: later(action.starts) }) }]
      case 'SEAT': {
        const { start, end } = action.seat
        return [{ ...action, at, seat: { start: later(start), end: end === null ? null : later(end) } }]
      }
      default:
        return [{ ...action, at }]
    }
  })
  return asLive({
    ...other,
    zone,
    billing,
    calendar,
    start: later(other.start),
    plans,
    deals,
    actions: actions.map(action => ('realign' in action ? { ...action, realign: false } : action)),
    usage: other.usage.map(({ time, versions }) => ({
      time: later(time),
      versions: versions.map(each => ({ ...each, arrives: later(each.arrives) })),
    })),
  })
}

/** Without pauses that may begin after the end of the subscription, where that end is known by then: they are refused. */
function accepted(actions: readonly Action[]): readonly Action[] {
  const mayBeRefused = (pause: Action): boolean =>
    pause.type === 'PAUSE' &&
    actions.some(
      action =>
        action.at <= pause.at && ((action.type === 'CANCEL' && action.when <= pause.start) || action.type === 'TERM'),
    )
  // A story has one pause, and what ends it early is nothing without it.
  return actions.some(mayBeRefused) ? actions.filter(({ type }) => type !== 'PAUSE' && type !== 'RESUME') : actions
}

/** The versions of a rate card with prices of these kinds, which are there from the first on; none where one of them sells nothing. */
function followedBy(card: readonly CardVersion[], prices: readonly Price[]): Pick<Plan, 'card'> {
  const versions = card.map(version => ({
    ...version,
    madeAt: 0,
    prices: version.prices.flatMap((price): Price[] => {
      const kind = prices.find(({ id }) => id === price.sells)?.kind
      if (!kind) return []
      const inAdvance = kind === 'ONCE' || (kind !== 'USAGE' && price.inAdvance)
      return [{ ...price, kind, inAdvance, above: kind === 'USAGE' ? price.above : null, billing: null, pricing: null }]
    }),
  }))
  return versions.some(version => version.prices.length === 0) ? {} : { card: versions }
}

function asLive(story: Story): Story {
  const withSeats = story.actions.some(({ type }) => type === 'SEAT')
  const plans = story.plans.map(({ id, prices, card }): Plan => {
    const place = Math.max(
      0,
      prices.findIndex(({ kind, addon }) => kind === 'SEATS' && !addon),
    )
    const kindAt = (index: number, kind: Kind): Kind =>
      withSeats && index === place && !prices[index]?.addon ? 'SEATS' : kind === 'SEATS' ? 'FEE' : kind
    const followed = prices.map((price, index): Price => {
      const kind = kindAt(index, price.kind)
      const above = kind === 'USAGE' ? price.above : null
      const inAdvance = kind === 'ONCE' || (kind !== 'USAGE' && price.inAdvance)
      const clauses = kind === 'ONCE' ? { minimum: null, discount: null } : {}
      return { ...price, kind, inAdvance, above, billing: null, pricing: null, ...clauses }
    })
    // The first invoice has something to charge: one of nothing is not made, and what comes later in its period would be on it.
    const base = { ...BASE_FEE, id: `${BASE_FEE.id}-${story.plans[0]?.id}` }
    const versions = card ? followedBy(card, followed) : {}
    if (id !== story.plans[0]?.id) return { id, prices: followed, ...versions }
    // Beside another price, a minimum of the pricing is of both.
    const own = followed.map(
      (price): Price =>
        price.second ? { ...price, second: { ...price.second, scope: 'pricing_item_configs' } } : price,
    )
    return { id, prices: [...own, base], ...versions }
  })
  const seats = new Set(pricesIn({ plans }).flatMap(({ id, kind }) => (kind === 'SEATS' ? [id] : [])))
  const named = (id: string): string => (seats.has(id) ? nameOfSeats(id) : id)
  // A coupon of the seats is of all prices of their item: those of each schedule.
  const deals: Deal[] = story.deals.map(deal => ({
    ...deal,
    carries: false,
    amounts: new Map([...deal.amounts].map(([id, amount]) => [named(id), amount])),
    discounts: deal.discounts.map(each => ({ ...each, prices: each.prices.map(named) })),
    coupons: deal.coupons.filter(({ price }) => price === null || !seats.has(price)),
  }))
  let current = story.template?.plan ?? 0
  let place = story.template ? 1 : 0
  // Of these a period may end elsewhere than it would have: the end of the one that runs is sent as its date.
  const isMoved = story.trial || story.actions.some(action => 'realign' in action && action.realign)
  const actions = accepted(story.actions.filter(({ type }) => type !== 'CARD')).map((given): Action => {
    // A clock turns to a moment, and issues what closes then, before anything is sent.
    const action: Action = given.at > story.start ? { ...given, late: true } : given
    if (action.type === 'CANCEL' && action.next && isMoved) {
      const { next: _next, ...dated } = action
      return dated
    }
    if (action.type !== 'PLAN') return action
    // change-plan is what refunds, and it takes another plan than the one of now.
    const refund = action.refund && action.plan !== current
    current = action.plan
    place += 1
    const own = deals[place]
    // What change-plan makes is ACTIVE at once, and prices are overridden in drafts.
    if (refund && own) deals[place] = { ...own, amounts: new Map() }
    // change-plan takes no new billing day.
    return { ...action, refund, realign: action.realign && !refund }
  })
  const renamed = (prices: readonly Price[]): Price[] =>
    prices.map(({ sells, ...price }) => ({ ...price, id: named(price.id), ...(sells ? { sells: named(sells) } : {}) }))
  const sold = plans.map(
    ({ id, prices, card }): Plan => ({
      id,
      prices: renamed(prices),
      ...(card ? { card: card.map(version => ({ ...version, prices: renamed(version.prices) })) } : {}),
    }),
  )
  return { ...story, plans: sold, deals, actions }
}
