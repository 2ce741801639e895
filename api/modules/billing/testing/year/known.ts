// What is known of the subscription of a story at some moment: its schedules with what they sell, and what was done so far.
import { OWN_RULES, type Rules } from './own-rules.ts'
import { type Action, type Deal, type Discount, NO_DEAL, type Plan, type Seat, type Story } from './story.ts'

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

/** With what it takes along from the schedule before, which comes first: coupons, and amounts on the total that hold for all of it. */
function withCarried(deal: Deal, before: Phase | undefined): Deal {
  if (!deal.carries || !before) return deal
  return {
    ...deal,
    coupons: [...before.deal.coupons.map(each => ({ since: before.start, ...each })), ...deal.coupons],
    discounts: [...before.deal.discounts.filter(isWholeAmount), ...deal.discounts],
  }
}

/** An amount on the total without a start or an end of its own. */
export const isWholeAmount = ({ level, percentage, from, until }: Discount): boolean =>
  level === 'totals' && percentage === null && from === null && until === null

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

/** What is enabled ends then; otherwise it is enabled until then, and what was to come later does not. Nothing is enabled for no time. */
function enabledAfter(enabled: readonly Enabled[], at: number, until: number | null): Enabled[] {
  const begun = enabled.filter(({ start }) => start <= at)
  const running = begun.find(({ end }) => end === null || at < end)
  const after = running
    ? begun.map(each => (each === running ? { ...each, end: until } : each))
    : [...begun, { start: at, end: until }]
  return after.filter(({ start, end }) => end === null || start < end)
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
