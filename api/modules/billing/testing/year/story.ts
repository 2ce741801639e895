// A year of one subscription, made from a seed: its plans, and what happens to it at which moment. Facts only; how they
// are billed is up to those who read it.
import type { Length } from './calendar.ts'
import { OWN_RULES, type Rules, type Template, type Terms } from './own-rules.ts'

export type Kind = 'FEE' | 'SEATS' | 'USAGE' | 'ONCE'
export type Scope = 'pricing_item_configs' | 'pricings'
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
  /** Another minimum of the same lines, of the price or of a pricing that has no other price. */
  readonly second?: { readonly scope: Scope; readonly cents: number }
  /** A whole percentage. */
  readonly discount: number | null
  /** Whether it is sold only while the schedule has the ADDON of its plan enabled. */
  readonly addon?: true
  /** Of a later version of a rate card: which one, from 1 on, and the price of the first version whose item it has. */
  readonly version?: number
  readonly sells?: string
}
/** What a schedule includes of the usage of a price for some time. */
export type Included = {
  readonly price: string
  readonly start: number
  readonly end: number | null
  readonly quantity: number
}
/** A coupon of a schedule. */
export type Coupon = {
  readonly id: string
  /** What it is limited to; null where it is of everything the schedule sells. */
  readonly price: string | null
  /** A whole percentage; null for an amount. */
  readonly percentage: number | null
  readonly cents: number
  readonly lasts: 'ONE_TIME' | 'FOREVER' | Length
  /** Of one that an earlier schedule had: where it began. */
  readonly since?: number
}
/** What a discount of a schedule can be of, from narrow to wide. */
export const LEVELS = [
  'pricing_item_configs',
  'pricing_items',
  'pricings',
  'product_items',
  'products',
  'product_categories',
  'totals',
] as const
export type Level = (typeof LEVELS)[number]
/** A discount of a schedule, besides those of its prices. */
export type Discount = {
  readonly level: Level
  /** The prices that it names, of any plan; a pricing and the total have all prices of the schedule, a category has those of its kind. */
  readonly prices: readonly string[]
  /** A whole percentage; null for an amount. */
  readonly percentage: number | null
  readonly cents: number
  /** From how long after the start of the schedule on it holds, and until how long after that; null for as long as the schedule. */
  readonly from: number | null
  readonly until: number | null
  /** What it would apply to is above this, or at most this; null where it always applies. */
  readonly condition: { readonly isAbove: boolean; readonly cents: number } | null
}
/** What a schedule has instead of what its plan says. */
export type Deal = {
  /** Other amounts, by price. */
  readonly amounts: ReadonlyMap<string, number>
  readonly included: readonly Included[]
  readonly coupons: readonly Coupon[]
  readonly discounts: readonly Discount[]
  /** In cents, of the whole invoice. */
  readonly minimum: number | null
  /** When the ADDON is enabled, in time after the start of the schedule; without an end as long as that. */
  readonly enabled: readonly { readonly from: number; readonly until: number | null }[]
  /** Whether it takes the coupons of the schedule before along. */
  readonly carries: boolean
}
export const NO_DEAL: Deal = {
  amounts: new Map(),
  included: [],
  coupons: [],
  discounts: [],
  minimum: null,
  enabled: [],
  carries: false,
}
/** A later version of a rate card. */
export type CardVersion = { readonly madeAt: number; readonly start: number; readonly prices: readonly Price[] }
/** `card`: of a rate card, its later versions in the order of their starts. */
export type Plan = { readonly id: string; readonly prices: readonly Price[]; readonly card?: readonly CardVersion[] }
export type Seat = { readonly start: number; readonly end: number | null }
export type Action = {
  readonly at: number
  /** It comes after what closes at its moment was issued; absent where that knows of it. */
  readonly late?: true
} & (
  | {
      readonly type: 'PLAN'
      readonly plan: number
      readonly refund: boolean
      /** Whether the periods of an EXACT subscription count from here on. */
      readonly realign: boolean
      /** Of a schedule that stays a DRAFT until it is activated: when it starts, which ends the one before at once. */
      readonly starts?: number
    }
  /** The DRAFT becomes ACTIVE: before its start, or when the invoice of what came before it has long been issued. */
  | { readonly type: 'ACTIVATE'; readonly plan: number; readonly realign: boolean }
  /** `next`: at the end of the period that runs. */
  | { readonly type: 'CANCEL'; readonly when: number; readonly refund: boolean; readonly next?: true }
  | { readonly type: 'UNDO' }
  /** From now on it ends with the term that runs: it is not renewed, or cancelled after its term. */
  | { readonly type: 'TERM'; readonly cancelled: boolean }
  | { readonly type: 'PAUSE'; readonly start: number; readonly end: number }
  /** The pause that runs ends now, or the next one does not come. */
  | { readonly type: 'RESUME' }
  | { readonly type: 'SEAT'; readonly seat: Seat }
  /** The ADDON is enabled from now on, or if it is enabled, ends then; `until`: null for no end. */
  | { readonly type: 'ADDON'; readonly until: number | null }
  /** A version of a rate card is made. */
  | { readonly type: 'CARD' }
)
type Versions = readonly { readonly arrives: number; readonly quantity: number | null }[]
/** Usage at a time; each version replaces the one before from the moment it arrives, null deletes it. */
export type Usage = {
  readonly time: number
  readonly versions: Versions
  /** Of a customer that processes for the one of the subscription, and may be made later: when its versions are sent. */
  readonly sent?: Versions
}
/** How usage is counted: all of it, the largest, or how many different quantities there are. */
export type Counts = 'SUM' | 'MAX' | 'UNIQUE'
export type Story = {
  readonly seed: number
  readonly zone: string
  readonly start: number
  readonly billing: Length
  readonly calendar: boolean
  /** Whether the first schedule is a TRIAL; one with amounts of its own is paid. */
  readonly trial: boolean
  readonly terms: Terms | null
  readonly template: Template | null
  readonly plans: readonly Plan[]
  /** By the place of the schedule in their order. */
  readonly deals: readonly Deal[]
  readonly actions: readonly Action[]
  readonly usage: readonly Usage[]
  /** How long after it closed an invoice still takes usage; absent where it does not. */
  readonly grace?: number
  /** SUM where it is absent. */
  readonly counts?: Counts
  /** Some events name the subscription that they are for; absent where none does. */
  readonly namesSubscription?: true
  /** When the customer is made that processes for it; absent where there is none. */
  readonly helperAt?: number
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
  /** Whether it is a TRIAL that sells only the prices for which it has amounts of its own. */
  readonly paid: boolean
  /** When its ADDON is enabled. */
  readonly enabled: readonly Enabled[]
}
type Enabled = { readonly start: number; readonly end: number | null }
/** What is known of a subscription at some moment. */
export type Known = {
  readonly phases: readonly Phase[]
  readonly cancel: { readonly at: number; readonly refund: boolean } | null
  readonly pauses: readonly { readonly start: number; readonly end: number }[]
  readonly seats: readonly Seat[]
}

/** All prices of a story. */
export const pricesIn = ({ plans }: Pick<Story, 'plans'>): Price[] =>
  plans.flatMap(({ prices, card = [] }) => [...prices, ...card.flatMap(version => version.prices)])

/** The item that a price has, named like the first price of it. */
export const itemOf = ({ id, sells }: Price): string => sells ?? id

export const DAY = 86_400_000
export const YEAR_DAYS = 400

/** How far a story has run: up to a moment, with so many of its actions done. */
export type Progress = { readonly moment: number; readonly count: number }

/** The facts up to and including this moment. */
export const knownAt = (story: Story, moment: number): Known =>
  knownWith(story, { moment, count: story.actions.filter(({ at }) => at <= moment).length })

/** The facts so far, by rules of the story's own or by those of the product. */
export function knownWith(story: Story, { moment, count }: Progress, rules: Rules = OWN_RULES): Known {
  const known = story.actions
    .slice(0, count)
    .reduce<Known>((before, action) => after(story, before, { action, rules }), {
      phases: firstPhases(story, rules),
      cancel: null,
      pauses: [],
      seats: [],
    })
  return { ...known, phases: known.phases.map(phase => ({ ...phase, plan: planKnown(phase.plan, moment) })) }
}

/** The story with its next action, where an invoice knows of it that closes at this moment, or as soon as it can; null where it does not. */
export function progressBefore({ actions }: Story, { moment, count }: Progress, closes: number): Progress | null {
  const next = actions[count]
  const until = Math.max(closes, moment)
  if (!next || next.at > until) return null
  // What comes at the moment of another action comes with it.
  const isAfter = next.late === true && next.at === until && actions[count - 1]?.at !== next.at
  return isAfter ? null : { moment: Math.max(next.at, moment), count: count + 1 }
}

/** A plan with the versions that are made by then, and their prices. */
function planKnown(plan: Plan, moment: number): Plan {
  if (!plan.card) return plan
  const card = plan.card.filter(({ madeAt }) => madeAt <= moment)
  return { ...plan, card, prices: [...plan.prices, ...card.flatMap(({ prices }) => prices)] }
}

function firstPhases(story: Story, rules: Rules): Phase[] {
  const { start, trial, template } = story
  const shared = { end: null, refund: false, realign: false, trial: false, paid: false }
  const own = sold(story, { plan: 0, place: 0, start })
  const first = { ...shared, id: 'schedule0', ...own, ...(trial ? tried(own) : {}) }
  if (!template) return [first]
  const change = rules.moved(story, template.change)
  const second = {
    ...shared,
    id: 'schedule1',
    ...sold(story, { plan: template.plan, place: 1, start: change }),
  }
  return [{ ...first, end: change }, second]
}

/** What a TRIAL sells: the prices for which it has amounts of its own, or nothing. */
function tried({ plan, deal }: Pick<Phase, 'plan' | 'deal'>): Pick<Phase, 'plan' | 'deal' | 'trial' | 'paid'> {
  const prices = plan.prices.filter(({ id }) => deal.amounts.has(id))
  // What a version of a rate card takes over from a price of a trial is in no story.
  if (prices.length === 0 || plan.card) return { plan, deal: { ...deal, amounts: new Map() }, trial: true, paid: false }
  return { plan: { id: plan.id, prices }, deal, trial: false, paid: true }
}

/** The schedules with one more, where the last one ends. */
function followed(
  story: Story,
  phases: readonly Phase[],
  { plan, realign }: { readonly plan: number; readonly realign: boolean },
): Phase[] {
  const start = phases.at(-1)?.end
  if (start == null) throw new Error('a schedule follows one that has an end')
  const own = sold(story, { plan, place: phases.length, start })
  const next = { ...own, deal: withCarried(own.deal, phases.at(-1)), end: null, refund: false, realign }
  return [...phases, { ...next, id: `schedule${phases.length}`, trial: false, paid: false }]
}

/** With the coupons that it takes along from the schedule before, which come first. */
const withCarried = (deal: Deal, before: Phase | undefined): Deal =>
  deal.carries && before
    ? { ...deal, coupons: [...before.deal.coupons.map(each => ({ since: before.start, ...each })), ...deal.coupons] }
    : deal

/** What the schedule at a place sells: a plan, with its own amounts. */
function sold(
  story: Story,
  { plan, place, start }: { readonly plan: number; readonly place: number; readonly start: number },
): Pick<Phase, 'plan' | 'deal' | 'start' | 'enabled'> {
  const deal = story.deals[place] ?? NO_DEAL
  const { id, prices, card } = planAt(story, plan)
  const priced = prices.map(price => ({ ...price, amount: deal.amounts.get(price.id) ?? price.amount }))
  return { plan: { id, prices: priced, ...(card ? { card } : {}) }, deal, start, enabled: enabledFrom(deal, start) }
}

/** When a schedule that starts then has its ADDON enabled, as long as that is not changed. */
export const enabledFrom = ({ enabled }: Deal, start: number): Enabled[] =>
  enabled.map(({ from, until }) => ({ start: start + from, end: until === null ? null : start + until }))

/** What is enabled ends then; otherwise it is enabled until then, and what was to come later does not. */
function enabledAfter(enabled: readonly Enabled[], at: number, until: number | null): Enabled[] {
  const begun = enabled.filter(({ start }) => start <= at)
  const running = begun.find(({ end }) => end === null || at < end)
  if (!running) return [...begun, { start: at, end: until }]
  return begun.map(each => (each === running ? { ...each, end: until } : each))
}

function planAt({ plans }: Story, index: number): Plan {
  const plan = plans[index]
  if (!plan) throw new Error(`there is no plan ${index}`)
  return plan
}

/** A story has one pause. */
function resumedAt({ start, end }: Known['pauses'][number], moment: number): Known['pauses'] {
  if (end <= moment) return [{ start, end }]
  return start < moment ? [{ start, end: moment }] : []
}

function after(
  story: Story,
  known: Known,
  { action, rules }: { readonly action: Action; readonly rules: Rules },
): Known {
  switch (action.type) {
    case 'PLAN': {
      const { at, refund, starts } = action
      const phases = known.phases.map((each, index) =>
        index === known.phases.length - 1 ? { ...each, end: starts ?? at, refund } : each,
      )
      return { ...known, phases: starts === undefined ? followed(story, phases, action) : phases }
    }
    case 'ACTIVATE':
      return { ...known, phases: followed(story, known.phases, action) }
    case 'CANCEL':
      return { ...known, cancel: { at: action.when, refund: action.refund } }
    case 'UNDO':
      return { ...known, cancel: null }
    case 'TERM':
      return { ...known, cancel: { at: rules.termEnd(story, action.at), refund: false } }
    case 'PAUSE':
      return { ...known, pauses: [...known.pauses, { start: action.start, end: action.end }] }
    case 'RESUME':
      return { ...known, pauses: known.pauses.flatMap(pause => resumedAt(pause, action.at)) }
    case 'ADDON':
      return {
        ...known,
        phases: known.phases.map(phase =>
          phase.start <= action.at && (phase.end === null || action.at < phase.end)
            ? { ...phase, enabled: enabledAfter(phase.enabled, action.at, action.until) }
            : phase,
        ),
      }
    case 'CARD':
      return known
    case 'SEAT':
      return { ...known, seats: [...known.seats, action.seat] }
  }
}

/** What these quantities come to, as the story counts. */
export function countOf({ counts }: Pick<Story, 'counts'>, quantities: readonly number[]): number {
  if (counts === 'UNIQUE') return new Set(quantities).size
  if (counts === 'MAX') return quantities.length === 0 ? 0 : Math.max(...quantities)
  return quantities.reduce((sum, quantity) => sum + quantity, 0)
}
