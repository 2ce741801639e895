// The story of a seed: random plans, and what happens to a subscription when.
import type { Length } from './calendar.ts'
import type { Template } from './own-rules.ts'
import { chance, hours, pick, type Random, randomOf, whole } from './random.ts'
import { randomActions, randomDrafts, randomReturns, randomTerms, sensible } from './random-actions.ts'
import { withAddons } from './random-addons.ts'
import { withCards } from './random-cards.ts'
import { atEdges } from './random-edges.ts'
import { LENGTHS, randomDeals, randomPlans } from './random-plans.ts'
import { type Action, DAY, type Story, type Usage, YEAR_DAYS } from './story.ts'

// Clocks change at midnight in Cairo and Santiago, and by half an hour on Lord Howe Island.
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Africa/Cairo',
  'America/Santiago',
] as const

/** Where and when a story begins. */
export type Place = { readonly zone: string; readonly year: number }

/** The story of this seed, at this place or one of its own. */
export function storyOf(seed: number, place?: Place): Story {
  const random = randomOf(seed + 1)
  const { zone, year } = { zone: pick(random, ZONES), year: 2025, ...place }
  const start = Date.UTC(year, 0, 1) + whole(random, 0, 364) * DAY + hours(random)
  const billing = pick<Length>(random, LENGTHS)
  const calendar = chance(random, 0.6)
  const plans = randomPlans(random, randomOf(seed + 6_000_029))
  const frame = { zone, start, billing, calendar }
  const given = randomActions(random, frame)
  // Each of numbers of its own, so that the rest of a story is the same with it and without.
  const fixed = randomOf(seed + 2_000_003)
  const template = randomTemplate(randomOf(seed + 4_000_037), start)
  const { terms, actions: ends } = randomTerms(randomOf(seed + 3_000_017), frame)
  const [first, second] = [start, template ? start + (template.change - template.start) + 2 * DAY : start]
  const base = randomDeals(seed, { start, plans, template })
  const addons = withAddons(seed, { start, plans, deals: base, template })
  const cards = withCards(seed, { start, plans: addons.plans })
  const back = randomReturns(randomOf(seed + 7_000_003), given, { ...frame, terms })
  const begun = ({ at, type }: Action): boolean => at >= (type === 'PLAN' ? second : first)
  const actions = [
    ...back,
    ...addons.actions,
    ...cards.actions,
    ...(terms ? given.filter(({ type }) => type !== 'CANCEL' && type !== 'UNDO') : given),
    ...ends,
  ]
    .filter(begun)
    .toSorted((a, b) => a.at - b.at)
  const planned = sensible(actions, { ...frame, terms }).map(action =>
    action.type === 'PLAN' ? { ...action, realign: !calendar && chance(fixed, 0.4) } : action,
  )
  const edged = atEdges(randomOf(seed + 13_005_753), planned, frame).filter(begun)
  const ordered = randomDrafts(randomOf(seed + 8_000_009), sensible(edged, { ...frame, terms }), { ...frame, terms })
  const trial = (template !== null || ordered.some(({ type }) => type === 'PLAN')) && chance(fixed, 0.25)
  return {
    seed,
    ...frame,
    trial,
    terms,
    template,
    plans: cards.plans,
    deals: addons.deals,
    actions: ordered,
    usage: withReturns(randomOf(seed + 9_000_041), randomUsage(random, { start, actions: ordered })),
  }
}

/** Two schedules one after the other, in another time of the year. */
function randomTemplate(random: Random, start: number): Template | null {
  if (!chance(random, 0.25)) return null
  const from = start - whole(random, 20, 400) * DAY + whole(random, -180, 180) * 60_000
  return {
    start: from,
    change: from + whole(random, 3, 120) * DAY + whole(random, 0, 300) * 60_000,
    plan: whole(random, 0, 2),
  }
}

/** Some of the usage gives back: events may be below zero. */
const withReturns = (random: Random, usage: readonly Usage[]): Usage[] =>
  usage.map(each =>
    chance(random, 0.15)
      ? {
          ...each,
          versions: each.versions.map(({ arrives, quantity }) => ({ arrives, quantity: quantity && -quantity })),
        }
      : each,
  )

function randomUsage(random: Random, { start, actions }: Pick<Story, 'start' | 'actions'>): Usage[] {
  const paused = actions.flatMap(action => (action.type === 'PAUSE' ? [action] : []))
  return Array.from({ length: whole(random, 0, 40) }, (): Usage => {
    const time = start + Math.floor(random() * YEAR_DAYS * DAY)
    const late = chance(random, 0.7) ? 0 : whole(random, 1, 80) * DAY
    const first = { arrives: time + late, quantity: whole(random, 1, 60) }
    const changes = chance(random, 0.2)
      ? [
          {
            arrives: first.arrives + whole(random, 1, 60) * DAY,
            quantity: chance(random, 0.5) ? null : whole(random, 1, 60),
          },
        ]
      : []
    return { time, versions: [first, ...changes] }
  }).filter(({ time }) => !paused.some(pause => pause.start - 2 * DAY <= time && time < pause.end + 2 * DAY))
}
