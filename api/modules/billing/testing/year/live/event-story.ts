// The story of a year whose usage is events: more of it, much of it late or changed, and some at the very moments that cut it.
import { closingsOf } from '../closings.ts'
import { knownAt } from '../known.ts'
import { chance, pick, type Random, randomOf, whole } from '../random.ts'
import { type Counts, DAY, type Deal, type Plan, type Price, type Story, type Usage, YEAR_DAYS } from '../story.ts'

export const eventStory = (story: Story): Story => counted(withHelper(atEdges(withMore(everMetered(story)))))

/** How it is counted, and whether events name their subscription. */
function counted(story: Story): Story {
  const random = randomOf(story.seed + 15_000_031)
  const counts = pick<Counts>(random, ['SUM', 'SUM', 'MAX', 'UNIQUE'])
  return { ...story, counts, ...(chance(random, 0.5) ? { namesSubscription: true } : {}) }
}

/**
 * The same where invoices take usage for some time after they closed. Null where something else happens in that time: the model knows
 * what an invoice charges when it closes.
 */
export function withGrace(stories: readonly [Story, ...Story[]], grace: number): readonly [Story, ...Story[]] | null {
  const cutoffs = stories.flatMap(closingsOf).map(({ issued }) => issued)
  const isWithin = (moment: number): boolean => cutoffs.some(cutoff => cutoff < moment && moment <= cutoff + grace)
  // What comes exactly where it closes would come to a draft.
  const isHit = ({ start, actions }: Story): boolean =>
    isWithin(start) || actions.some(({ at, late }) => isWithin(at) || (late === true && cutoffs.includes(at)))
  if (stories.some(isHit)) return null
  const [first, ...others] = stories
  return [inGrace(first, grace), ...others.map(story => inGrace(story, grace))]
}

/** Some of the usage arrives in that time, or soon after it. */
function inGrace(story: Story, grace: number): Story {
  const random = randomOf(story.seed + 13_000_027)
  const cutoffs = closingsOf(story).map(({ cutoff }) => cutoff)
  const moved = (usage: Usage): Usage => {
    const cutoff = cutoffs.find(each => each > usage.time)
    const [first] = usage.versions
    if (cutoff === undefined || first === undefined || usage.sent) return usage
    const later = cutoff + pick(random, [61_000, grace / 2, grace - 61_000, grace + 61_000]) - first.arrives
    return later < 0
      ? usage
      : { ...usage, versions: usage.versions.map(each => ({ ...each, arrives: each.arrives + later })) }
  }
  return { ...story, grace, usage: story.usage.map(usage => (chance(random, 0.25) ? moved(usage) : usage)) }
}

/** Every plan has a price of usage. */
function everMetered(story: Story): Story {
  const random = randomOf(story.seed + 11_000_027)
  const added: Price[] = []
  const plans = story.plans.map((plan): Plan => {
    if (plan.prices.some(({ kind }) => kind === 'USAGE')) return plan
    const price = meteredPrice(random, `${plan.id}-used`)
    added.push(price)
    // Beside another price, a minimum of the pricing is of both.
    const prices = plan.prices.map(
      (each): Price => (each.second ? { ...each, second: { ...each.second, scope: 'pricing_item_configs' } } : each),
    )
    return { ...plan, prices: [...prices, price] }
  })
  const deals = story.deals.map((deal, place): Deal => {
    if (story.template && place < 2) return deal
    const included = added
      .filter(() => chance(random, 0.3))
      .map(({ id }) => ({ price: id, start: story.start, end: null, quantity: whole(random, 1, 60) }))
    return { ...deal, included: [...deal.included, ...included] }
  })
  return { ...story, plans, deals }
}

const meteredPrice = (random: Random, id: string): Price => ({
  id,
  kind: 'USAGE',
  inAdvance: false,
  amount: whole(random, 1, 100_000),
  above: chance(random, 0.5) ? { quantity: whole(random, 5, 80), amount: whole(random, 1, 100_000) } : null,
  billing: null,
  pricing: null,
  minimum: chance(random, 0.3) ? whole(random, 1, 20_000) : null,
  discount: chance(random, 0.25) ? whole(random, 1, 60) : null,
})

const pausesOf = ({ actions }: Story) => actions.flatMap(action => (action.type === 'PAUSE' ? [action] : []))
const isPaused = (story: Story, time: number): boolean =>
  pausesOf(story).some(pause => pause.start - 2 * DAY <= time && time < pause.end + 2 * DAY)

function withMore(story: Story): Story {
  const random = randomOf(story.seed + 12_000_017)
  const more = Array.from({ length: whole(random, 10, 30) }, (): Usage => {
    const time = story.start + Math.floor(random() * YEAR_DAYS * DAY)
    let arrives = time + (chance(random, 0.5) ? 0 : whole(random, 1, 120) * DAY + whole(random, 1, 600) * 60_000)
    const versions: { arrives: number; quantity: number | null }[] = [{ arrives, quantity: whole(random, 1, 60) }]
    for (let changes = chance(random, 0.4) ? whole(random, 1, 3) : 0; changes > 0; changes -= 1) {
      arrives += whole(random, 1, 60 * 24) * 3_607_000
      const quantity = changes === 1 && chance(random, 0.4) ? null : whole(random, 1, 60)
      versions.push({ arrives, quantity })
    }
    return { time, versions }
  })
  return { ...story, usage: [...story.usage, ...more.filter(({ time }) => !isPaused(story, time))] }
}

/** Some of the usage at the very moments at which invoices close and schedules begin, and a moment before. */
function atEdges(story: Story): Story {
  const random = randomOf(story.seed + 9_000_011)
  const cutoffs = closingsOf(story).map(({ cutoff }) => cutoff)
  const starts = knownAt(story, Number.POSITIVE_INFINITY).phases.map(({ start }) => start)
  const [first, ...others] = [...cutoffs, ...starts].filter(edge => !isPaused(story, edge))
  if (first === undefined) return story
  const moved = (usage: Usage): Usage => {
    const time = Math.max(story.start, pick(random, [first, ...others]) - pick(random, [0, 0, 1, 1_000]))
    // Nothing arrives at the moment at which an invoice closes.
    const later = time - usage.time + whole(random, 1, 9) * 61_000
    return { time, versions: usage.versions.map(each => ({ ...each, arrives: each.arrives + later })) }
  }
  return { ...story, usage: story.usage.map(usage => (chance(random, 0.2) ? moved(usage) : usage)) }
}

/** Some of the usage is of a customer that processes for the one of the subscription: from when it is there, all of it counts. */
function withHelper(story: Story): Story {
  const random = randomOf(story.seed + 14_000_029)
  if (chance(random, 0.5)) return story
  const helperAt = story.start + (chance(random, 0.3) ? 60_000 : whole(random, 1, 250) * DAY + 47 * 60_000)
  const usage = story.usage.map((each): Usage => {
    const then = each.versions.findLast(({ arrives }) => arrives <= helperAt)
    // What was deleted before never counted.
    if (!chance(random, 0.4) || then?.quantity === null) return each
    const later = each.versions.filter(({ arrives }) => arrives > helperAt)
    const versions = then ? [{ ...then, arrives: helperAt }, ...later] : later
    return { ...each, versions, sent: each.versions }
  })
  return { ...story, helperAt, usage }
}
