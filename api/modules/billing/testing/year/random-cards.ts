// The rate cards of a story: plans whose later versions have other prices, drawn from numbers of their own.
import { chance, hours, type Random, randomOf, whole } from './random.ts'
import { type Action, type CardVersion, DAY, type Plan, type Price, type Story, YEAR_DAYS } from './story.ts'

/** Makes some plans of a story rate cards, and says when each of their versions is created. Most stories have no rate card. */
export function withCards(
  seed: number,
  { start, plans }: Pick<Story, 'start' | 'plans'>,
): { readonly plans: readonly Plan[]; readonly actions: readonly Action[] } {
  const random = randomOf(seed + 12_000_017)
  if (!chance(random, 0.3)) return { plans, actions: [] }
  const cards = plans.map((plan): Plan => {
    const card = randomVersions(random, plan, start)
    return chance(random, 0.6) ? { ...plan, card } : plan
  })
  const made = cards.flatMap(({ card = [] }) => card.map(({ madeAt }) => madeAt))
  return { plans: cards, actions: made.map(at => ({ at, type: 'CARD' })) }
}

/** Each is made before it comes into force, and after the one before it was made. */
function randomVersions(random: Random, { prices }: Plan, start: number): CardVersion[] {
  const versions: CardVersion[] = []
  let from = 1
  for (let version = 1; version <= whole(random, 1, 2); version += 1) {
    const made = whole(random, from, YEAR_DAYS - 60)
    const begins = Math.max(from, made + whole(random, 0, 50)) + 1
    from = begins
    versions.push({
      madeAt: start + made * DAY + hours(random),
      start: start + begins * DAY + hours(random),
      prices: prices.flatMap(price =>
        price.addon || chance(random, 0.1) ? [] : [randomVersion(random, price, version)],
      ),
    })
  }
  return versions
}

/** The item of a price in another version. */
function randomVersion(
  random: Random,
  { kind, inAdvance, above, billing, pricing, id }: Price,
  version: number,
): Price {
  const recurs = kind === 'FEE' || kind === 'SEATS'
  const amount = whole(random, 1, 400_000)
  const turns = chance(random, 0.2)
  return {
    id: id.replace('c', `v${version}c`),
    kind,
    inAdvance: recurs && turns ? !inAdvance : inAdvance,
    amount,
    above: above && { ...above, amount: whole(random, 1, 100_000) },
    billing,
    pricing,
    minimum: null,
    discount: null,
    version,
    sells: id,
  }
}
