// A year of one subscription, made from a seed: its plans, and what happens to it at which moment. Facts only; how they
// are billed is up to those who read it.
import { addMonths, dayOf, type Length, periodAt, startOfDay } from './calendar.ts'

export type Kind = 'FEE' | 'SEATS' | 'USAGE' | 'ONCE'
/** Amounts are whole ten-thousandths of a euro, so that nothing here needs decimals. */
export type Price = {
  readonly id: string
  readonly kind: Kind
  readonly inAdvance: boolean
  readonly amount: number
  /** For usage: the price above this quantity; null for one price. */
  readonly above: { readonly quantity: number; readonly amount: number } | null
  readonly billing: Length | null
  readonly pricing: Length | null
  /** In cents, for a period. */
  readonly minimum: number | null
  /** A whole percentage. */
  readonly discount: number | null
}
/** What a schedule includes of the usage of a price for some time. */
export type Included = {
  readonly price: string
  readonly start: number
  readonly end: number | null
  readonly quantity: number
}
/** What a schedule has instead of what its plan says. */
export type Deal = {
  /** Other amounts, by price. */
  readonly amounts: ReadonlyMap<string, number>
  readonly included: readonly Included[]
}
export type Plan = { readonly id: string; readonly prices: readonly Price[] }
export type Seat = { readonly start: number; readonly end: number | null }
export type Action = { readonly at: number } & (
  | {
      readonly type: 'PLAN'
      readonly plan: number
      readonly refund: boolean
      /** Whether the periods of an EXACT subscription count from here on. */
      readonly realign: boolean
    }
  | { readonly type: 'CANCEL'; readonly when: number; readonly refund: boolean }
  | { readonly type: 'UNDO' }
  | { readonly type: 'PAUSE'; readonly start: number; readonly end: number }
  | { readonly type: 'SEAT'; readonly seat: Seat }
)
/** Usage at a time; each version replaces the one before from the moment it arrives, null deletes it. */
export type Usage = {
  readonly time: number
  readonly versions: readonly { readonly arrives: number; readonly quantity: number | null }[]
}
export type Story = {
  readonly seed: number
  readonly zone: string
  readonly start: number
  readonly billing: Length
  readonly calendar: boolean
  /** Whether the first schedule is a TRIAL. */
  readonly trial: boolean
  readonly plans: readonly Plan[]
  /** By the place of the schedule in their order. */
  readonly deals: readonly Deal[]
  readonly actions: readonly Action[]
  readonly usage: readonly Usage[]
}
export type Phase = {
  readonly id: string
  /** With the prices of the schedule. */
  readonly plan: Plan
  readonly deal: Deal
  readonly start: number
  readonly end: number | null
  readonly refund: boolean
  readonly realign: boolean
  readonly trial: boolean
}
/** What is known of a subscription at some moment. */
export type Known = {
  readonly phases: readonly Phase[]
  readonly cancel: { readonly at: number; readonly refund: boolean } | null
  readonly pauses: readonly { readonly start: number; readonly end: number }[]
  readonly seats: readonly Seat[]
}

export const DAY = 86_400_000
export const YEAR_DAYS = 400

/** The facts up to and including this moment. */
export function knownAt(story: Story, moment: number): Known {
  const { start, trial } = story
  const first = { id: 'schedule0', ...sold(story, 0, 0), start, end: null, refund: false, realign: false, trial }
  return story.actions
    .filter(({ at }) => at <= moment)
    .reduce<Known>((known, action) => after(story, known, action), {
      phases: [first],
      cancel: null,
      pauses: [],
      seats: [],
    })
}

/** What the schedule at a place sells: a plan, with its own amounts. */
function sold(story: Story, plan: number, place: number): Pick<Phase, 'plan' | 'deal'> {
  const deal = story.deals[place] ?? { amounts: new Map(), included: [] }
  const { id, prices } = planAt(story, plan)
  const priced = prices.map(price => ({ ...price, amount: deal.amounts.get(price.id) ?? price.amount }))
  return { plan: { id, prices: priced }, deal }
}

function planAt({ plans }: Story, index: number): Plan {
  const plan = plans[index]
  if (!plan) throw new Error(`there is no plan ${index}`)
  return plan
}

function after(story: Story, known: Known, action: Action): Known {
  switch (action.type) {
    case 'PLAN': {
      const { at, refund, realign } = action
      const phases = known.phases.map((each, index) =>
        index === known.phases.length - 1 ? { ...each, end: at, refund } : each,
      )
      const next = { ...sold(story, action.plan, phases.length), start: at, end: null, refund: false, realign }
      return { ...known, phases: [...phases, { ...next, id: `schedule${phases.length}`, trial: false }] }
    }
    case 'CANCEL':
      return { ...known, cancel: { at: action.when, refund: action.refund } }
    case 'UNDO':
      return { ...known, cancel: null }
    case 'PAUSE':
      return { ...known, pauses: [...known.pauses, { start: action.start, end: action.end }] }
    case 'SEAT':
      return { ...known, seats: [...known.seats, action.seat] }
  }
}

/** Numbers of 0 to 1 that follow from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed * 0x9e3779b1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Random = ReturnType<typeof randomOf>
const whole = (random: Random, min: number, max: number): number => min + Math.floor(random() * (max - min + 1))
const chance = (random: Random, share: number): boolean => random() < share
function pick<T>(random: Random, list: readonly [T, ...T[]]): T {
  return list[whole(random, 0, list.length - 1)] ?? list[0]
}

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
const MONTH = { type: 'MONTH', value: 1 } as const
const LENGTHS = [
  MONTH,
  MONTH,
  MONTH,
  { type: 'MONTH', value: 3 },
  { type: 'WEEK', value: 2 },
  { type: 'DAY', value: 10 },
] as const
const PRICING = [MONTH, { type: 'YEAR', value: 1 }, { type: 'WEEK', value: 1 }, { type: 'DAY', value: 1 }] as const

function randomPrice(random: Random, id: string): Price {
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

/** The story of this seed. */
export function storyOf(seed: number): Story {
  const random = randomOf(seed + 1)
  const zone = pick(random, ZONES)
  const start = Date.UTC(2025, 0, 1) + whole(random, 0, 364) * DAY + hours(random)
  const billing = pick<Length>(random, LENGTHS)
  const calendar = chance(random, 0.6)
  const plans = Array.from({ length: 3 }, (_, plan) => ({
    id: `plan${plan}`,
    prices: Array.from({ length: whole(random, 1, 3) }, (_, index) => randomPrice(random, `p${plan}c${index}`)),
  }))
  const grid = { zone, start, calendar }
  const moment = (from: number, to: number): number => start + whole(random, from, to) * DAY + hours(random)
  const actions: Action[] = []
  for (let count = whole(random, 0, 6); count > 0; count -= 1) {
    const from = chance(random, 0.4) ? start : moment(1, YEAR_DAYS - 40)
    const seat = { start: from, end: chance(random, 0.4) ? from + whole(random, 1, 90) * DAY + hours(random) : null }
    actions.push({ at: from, type: 'SEAT', seat })
  }
  for (let count = whole(random, 0, 2); count > 0; count -= 1)
    actions.push({
      at: moment(5, YEAR_DAYS - 40),
      type: 'PLAN',
      plan: whole(random, 0, 2),
      refund: chance(random, 0.5),
      realign: false,
    })
  if (chance(random, 0.3)) {
    const from = moment(1, YEAR_DAYS - 60)
    const ahead = chance(random, 0.5) ? 0 : whole(random, 1, 40) * DAY
    actions.push({ at: from - ahead, type: 'PAUSE', start: from, end: from + whole(random, 1, 50) * DAY })
  }
  if (chance(random, 0.5)) {
    const at = moment(20, YEAR_DAYS - 60)
    const refund = chance(random, 0.5)
    const nextPeriod = startOfDay(periodAt(grid, billing, dayOf(at, zone))[1], zone)
    const when = pick(random, [
      at,
      nextPeriod,
      at + whole(random, 1, 60) * DAY,
      startOfDay(addMonths(dayOf(at, zone), 2), zone),
    ])
    actions.push({ at, type: 'CANCEL', when, refund })
    if (when > at && chance(random, 0.3)) actions.push({ at: Math.min(when - 1, at + 5 * DAY), type: 'UNDO' })
  }
  const terms = randomOf(seed + 2_000_003)
  const ordered = sensible(actions.filter(({ at }) => at >= start).toSorted((a, b) => a.at - b.at)).map(action =>
    action.type === 'PLAN' ? { ...action, realign: !calendar && chance(terms, 0.4) } : action,
  )
  const trial = ordered.some(({ type }) => type === 'PLAN') && chance(terms, 0.25)
  return {
    seed,
    zone,
    start,
    billing,
    calendar,
    trial,
    plans,
    deals: randomDeals(randomOf(seed + 1_000_003), { start, plans }),
    actions: ordered,
    usage: randomUsage(random, { start, actions: ordered }),
  }
}

/** Of numbers of their own, so that the rest of a story is the same with them and without. */
function randomDeals(random: Random, { start, plans }: Pick<Story, 'start' | 'plans'>): Deal[] {
  const prices = plans.flatMap(plan => plan.prices)
  return Array.from({ length: 3 }, (): Deal => {
    const amounts = new Map(prices.flatMap(({ id }) => (chance(random, 0.2) ? [[id, whole(random, 1, 400_000)]] : [])))
    const included = prices.flatMap(({ id, kind }): Included[] => {
      if (kind !== 'USAGE' || !chance(random, 0.4)) return []
      const cut = start + whole(random, 1, YEAR_DAYS) * DAY + hours(random)
      const first = { price: id, start, end: cut, quantity: whole(random, 0, 40) }
      return chance(random, 0.5)
        ? [first]
        : [first, { price: id, start: cut, end: null, quantity: whole(random, 0, 80) }]
    })
    return { amounts, included }
  })
}

/** Nothing happens at the midnight at which a period is cut, where one moment has two orders. */
const hours = (random: Random): number => whole(random, 5 * 60, 9 * 60) * 60_000

/** What has ended is not changed any more. */
function sensible(actions: readonly Action[]): Action[] {
  const kept: Action[] = []
  let ends = Number.POSITIVE_INFINITY
  for (const action of actions) {
    if (action.at >= ends) break
    if (action.type === 'CANCEL') ends = action.when
    if (action.type === 'UNDO') ends = Number.POSITIVE_INFINITY
    // Plans are not changed while a cancellation is pending.
    if (action.type === 'PLAN' && ends !== Number.POSITIVE_INFINITY) continue
    kept.push(action)
  }
  return kept
}

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
