// The ADDONs of a story, which schedules enable for a time: drawn from numbers of their own.
import { chance, hours, type Random, randomOf, whole } from './random.ts'
import { randomPrice } from './random-plans.ts'
import { type Action, DAY, type Deal, type Plan, type Price, type Story, YEAR_DAYS } from './story.ts'

/** The plans, deals and actions of a story with ADDONs; most stories have none. */
export function withAddons(
  seed: number,
  { start, plans, deals, template }: Pick<Story, 'start' | 'plans' | 'deals' | 'template'>,
): { readonly plans: readonly Plan[]; readonly deals: readonly Deal[]; readonly actions: readonly Action[] } {
  const random = randomOf(seed + 11_000_027)
  if (!chance(random, 0.35)) return { plans, deals, actions: [] }
  const more = plans.map(({ id }, plan) => ({
    id,
    prices: Array.from({ length: whole(random, 0, 2) }, (_, index) => ({
      ...randomPrice(random, `p${plan}a${index}`),
      addon: true as const,
    })),
  }))
  const prices = more.flatMap(plan => plan.prices)
  const moment = (from: number, to: number): number => start + whole(random, from, to) * DAY + hours(random)
  const actions = Array.from({ length: whole(random, 0, 4) }, (): Action => {
    const at = moment(1, YEAR_DAYS - 40)
    const until = at + whole(random, 0, 100) * DAY
    return { at, type: 'ADDON', until: chance(random, 0.4) ? null : until }
  })
  return {
    plans: plans.map(({ id, prices: own }, index) => ({ id, prices: [...own, ...(more[index]?.prices ?? [])] })),
    deals: deals.map((deal, place) => withAddon(random, deal, { prices, isMoved: template !== null && place < 2 })),
    actions,
  }
}

function withAddon(
  random: Random,
  deal: Deal,
  { prices, isMoved }: { readonly prices: readonly Price[]; readonly isMoved: boolean },
): Deal {
  const amounts = prices.flatMap(({ id }): [string, number][] =>
    chance(random, 0.2) ? [[id, whole(random, 1, 400_000)]] : [],
  )
  const discounts = deal.discounts.map(each => ({
    ...each,
    prices: [...each.prices, ...prices.filter(() => chance(random, 0.5)).map(({ id }) => id)],
  }))
  return {
    ...deal,
    amounts: new Map([...deal.amounts, ...amounts]),
    discounts,
    enabled: chance(random, 0.6) ? randomTimes(random, isMoved) : [],
  }
}

/** What a template has enabled it has from its start on. */
function randomTimes(random: Random, isMoved: boolean): Deal['enabled'] {
  const from = chance(random, 0.4) ? 0 : whole(random, 1, 60) * DAY
  const until = from + whole(random, 1, 90) * DAY
  const again = until + whole(random, 0, 40) * DAY
  const isOpen = chance(random, 0.4)
  const isAgain = chance(random, 0.3)
  if (isMoved) return [{ from: 0, until: null }]
  if (isOpen) return [{ from, until: null }]
  return isAgain
    ? [
        { from, until },
        { from: again, until: null },
      ]
    : [{ from, until }]
}
