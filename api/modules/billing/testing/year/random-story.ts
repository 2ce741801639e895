// The story of a seed: random plans, and what happens to a subscription when.
import { addMonths, dayOf, type Length, periodAt, startOfDay } from './calendar.ts'
import { OWN_RULES, type Template, type Terms } from './own-rules.ts'
import {
  type Action,
  type Coupon,
  DAY,
  type Deal,
  type Included,
  type Kind,
  type Plan,
  type Price,
  type Scope,
  type Story,
  type Usage,
  YEAR_DAYS,
} from './story.ts'

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

/** The story of this seed. */
export function storyOf(seed: number): Story {
  const random = randomOf(seed + 1)
  const zone = pick(random, ZONES)
  const start = Date.UTC(2025, 0, 1) + whole(random, 0, 364) * DAY + hours(random)
  const billing = pick<Length>(random, LENGTHS)
  const calendar = chance(random, 0.6)
  const other = randomOf(seed + 6_000_029)
  const plans = Array.from({ length: 3 }, (_, plan) => ({
    id: `plan${plan}`,
    prices: Array.from({ length: whole(random, 1, 3) }, (_, index) => randomPrice(random, `p${plan}c${index}`)),
  })).map(plan => withSecond(other, plan))
  const frame = { zone, start, billing, calendar }
  const given = randomActions(random, frame)
  // Each of numbers of its own, so that the rest of a story is the same with it and without.
  const fixed = randomOf(seed + 2_000_003)
  const template = randomTemplate(randomOf(seed + 4_000_037), start)
  const { terms, actions: ends } = randomTerms(randomOf(seed + 3_000_017), frame)
  const [first, second] = [start, template ? start + (template.change - template.start) + 2 * DAY : start]
  const back = randomReturns(randomOf(seed + 7_000_003), given, { ...frame, terms })
  const actions = [
    ...back,
    ...(terms ? given.filter(({ type }) => type !== 'CANCEL' && type !== 'UNDO') : given),
    ...ends,
  ]
    .filter(({ at, type }) => at >= (type === 'PLAN' ? second : first))
    .toSorted((a, b) => a.at - b.at)
  const ordered = sensible(actions, { ...frame, terms }).map(action =>
    action.type === 'PLAN' ? { ...action, realign: !calendar && chance(fixed, 0.4) } : action,
  )
  const trial = (template !== null || ordered.some(({ type }) => type === 'PLAN')) && chance(fixed, 0.25)
  return {
    seed,
    ...frame,
    trial,
    terms,
    template,
    plans,
    deals: randomDeals(seed, { start, plans, template }),
    actions: ordered,
    usage: randomUsage(random, { start, actions: ordered }),
  }
}

type Frame = Pick<Story, 'zone' | 'start' | 'billing' | 'calendar'>

function randomActions(random: Random, { zone, start, billing, calendar }: Frame): Action[] {
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
  return actions
}

/** A pause that ends early or does not come, and a cancellation that is taken back in time. */
function randomReturns(
  random: Random,
  actions: readonly Action[],
  { start, terms }: Frame & Pick<Story, 'terms'>,
): Action[] {
  const returns = actions.flatMap((action): Action[] => {
    if (action.type !== 'PAUSE') return []
    const at = action.at + (1 + Math.floor(random() * ((action.end - action.at) / DAY - 2))) * DAY + 40 * 60_000
    return at < action.end && chance(random, 0.6) ? [{ at, type: 'RESUME' }] : []
  })
  const said = start + whole(random, 3, YEAR_DAYS - 80) * DAY + hours(random)
  const when = said + whole(random, 2, 70) * DAY + 30 * 60_000
  const undone = said + Math.floor(random() * (when - said - DAY)) + 60_000
  const refund = chance(random, 0.5)
  if (terms || actions.some(({ type }) => type === 'CANCEL') || !chance(random, 0.5)) return returns
  return [...returns, { at: said, type: 'CANCEL', when, refund }, { at: undone, type: 'UNDO' }]
}

const TERMS = [
  MONTH,
  { type: 'MONTH', value: 3 },
  { type: 'MONTH', value: 6 },
  { type: 'YEAR', value: 1 },
  { type: 'DAY', value: 45 },
  { type: 'WEEK', value: 6 },
] as const

/** Terms, and when it is said that the one that runs is the last. */
function randomTerms(random: Random, { start }: Frame): { readonly terms: Terms | null; readonly actions: Action[] } {
  if (!chance(random, 0.35)) return { terms: null, actions: [] }
  const terms = {
    initial: pick<Length>(random, TERMS),
    renewal: chance(random, 0.6) ? pick<Length>(random, TERMS) : null,
  }
  if (chance(random, 0.35)) return { terms, actions: [{ at: start, type: 'TERM', cancelled: false }] }
  const at = start + whole(random, 3, 300) * DAY + hours(random)
  const said: Action = { at, type: 'TERM', cancelled: chance(random, 0.5) }
  if (!chance(random, 0.35)) return { terms, actions: [said] }
  const undone = at + whole(random, 1, 20) * DAY
  const again = undone + whole(random, 10, 120) * DAY
  return {
    terms,
    actions: [said, { at: undone, type: 'UNDO' }, { at: again, type: 'TERM', cancelled: chance(random, 0.5) }],
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

function randomDeals(seed: number, { start, plans, template }: Pick<Story, 'start' | 'plans' | 'template'>): Deal[] {
  const [random, other] = [randomOf(seed + 1_000_003), randomOf(seed + 5_000_011)]
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
    return { amounts, included: template && place < 2 ? [] : included, coupons: randomCoupons(other, prices, place) }
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

/** Nothing happens at the midnight at which a period is cut, where one moment has two orders. */
const hours = (random: Random): number => whole(random, 5 * 60, 9 * 60) * 60_000

/** What has ended is not changed any more. */
function sensible(actions: readonly Action[], of: Frame & Pick<Story, 'terms'>): Action[] {
  const kept: Action[] = []
  let ends = Number.POSITIVE_INFINITY
  let isCancelled = false
  for (const action of actions) {
    if (action.at >= ends) break
    // Plans are not changed while a cancellation is pending; within a term that is the last they are.
    if (action.type === 'PLAN' && isCancelled) continue
    if (action.type === 'UNDO' && ends === Number.POSITIVE_INFINITY) continue
    if (action.type === 'RESUME' && !kept.some(each => each.type === 'PAUSE' && action.at < each.end)) continue
    if (action.type === 'CANCEL') ends = action.when
    if (action.type === 'TERM') ends = OWN_RULES.termEnd(of, action.at)
    if (action.type === 'UNDO') ends = Number.POSITIVE_INFINITY
    isCancelled = action.type === 'CANCEL' || (isCancelled && action.type !== 'UNDO')
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
