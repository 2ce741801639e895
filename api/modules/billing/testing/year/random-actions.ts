// What happens to the subscription of a story, and when.
import { addMonths, dayOf, type Length, periodAt, startOfDay } from './calendar.ts'
import { OWN_RULES, type Terms } from './own-rules.ts'
import { chance, hours, pick, type Random, whole } from './random.ts'
import { MONTH } from './random-plans.ts'
import { type Action, DAY, type Story, YEAR_DAYS } from './story.ts'

export type Frame = Pick<Story, 'zone' | 'start' | 'billing' | 'calendar'>

export function randomActions(random: Random, { zone, start, billing, calendar }: Frame): Action[] {
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
export function randomReturns(
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
export function randomTerms(
  random: Random,
  { start }: Frame,
): { readonly terms: Terms | null; readonly actions: Action[] } {
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

/**
 * Some changes of plan are a DRAFT that is activated later: before it starts, in its first period, or long after the invoice of what came
 * before it. What else could happen until then does not, as there may be no schedule in force.
 */
export function randomDrafts(random: Random, actions: readonly Action[], of: Frame & Pick<Story, 'terms'>): Action[] {
  const drafts = actions.flatMap((action): { readonly draft: Action; readonly active: Action }[] => {
    if (action.type !== 'PLAN') return []
    const [isDraft, isAhead, plans] = [chance(random, 0.4), chance(random, 0.3), whole(random, 0, 20)]
    const starts = action.at + (isAhead ? plans * DAY + hours(random) : 0)
    const at =
      action.at + 60_000 + pick(random, [whole(random, 0, 9), whole(random, 5, 45), whole(random, 30, 100)]) * DAY
    const { plan, realign } = action
    if (!isDraft) return []
    return [{ draft: { ...action, starts, refund: false }, active: { at, type: 'ACTIVATE', plan, realign } }]
  })
  let until = 0
  const kept = drafts.filter(({ draft, active }) => {
    if (draft.at < until) return false
    until = Math.max(active.at, draft.type === 'PLAN' ? (draft.starts ?? 0) : 0)
    return true
  })
  const others = actions.flatMap((action): Action[] => {
    const own = kept.find(({ draft }) => draft.at === action.at && action.type === 'PLAN')
    if (own) return [own.draft, own.active]
    const isBetween = kept.some(
      ({ draft, active }) =>
        draft.at <= action.at && action.at <= Math.max(active.at, draft.type === 'PLAN' ? (draft.starts ?? 0) : 0),
    )
    return isBetween && action.type !== 'SEAT' ? [] : [action]
  })
  return withoutUnused(
    sensible(
      others.toSorted((a, b) => a.at - b.at),
      of,
    ),
  )
}

/** Without drafts that are not activated, as the subscription ends before. */
const withoutUnused = (actions: readonly Action[]): Action[] =>
  actions.filter(
    (action, index) =>
      action.type !== 'PLAN' ||
      action.starts === undefined ||
      actions.slice(index).some(each => each.type === 'ACTIVATE'),
  )

/** Whether the last schedule is a DRAFT. */
function followsDraft(actions: readonly Action[]): boolean {
  const last = actions.findLast(({ type }) => type === 'PLAN' || type === 'ACTIVATE')
  return last?.type === 'PLAN' && last.starts !== undefined
}

type SoFar = {
  readonly kept: readonly Action[]
  readonly ends: number
  readonly isCancelled: boolean
  /** When the last schedule starts. */
  readonly started: number
}

/** Plans are not changed while a cancellation is pending; within a term that is the last they are. A schedule has some time. */
function isPossible(action: Action, { kept, ends, isCancelled, started }: SoFar): boolean {
  switch (action.type) {
    case 'PLAN':
      return !isCancelled && (action.starts ?? action.at) < ends && started < action.at
    case 'ACTIVATE':
      return followsDraft(kept)
    case 'UNDO':
      return ends < Number.POSITIVE_INFINITY
    case 'RESUME':
      return kept.some(each => each.type === 'PAUSE' && action.at < each.end)
    default:
      return true
  }
}

/** What has ended is not changed any more. */
export function sensible(actions: readonly Action[], of: Frame & Pick<Story, 'terms'>): Action[] {
  const kept: Action[] = []
  let ends = Number.POSITIVE_INFINITY
  let isCancelled = false
  let started = of.start
  for (const action of actions) {
    if (action.at >= ends) break
    if (!isPossible(action, { kept, ends, isCancelled, started })) continue
    if (action.type === 'PLAN') started = action.starts ?? action.at
    if (action.type === 'CANCEL') ends = action.when
    if (action.type === 'TERM') ends = OWN_RULES.termEnd(of, action.at)
    if (action.type === 'UNDO') ends = Number.POSITIVE_INFINITY
    isCancelled = action.type === 'CANCEL' || (isCancelled && action.type !== 'UNDO')
    kept.push(action)
  }
  return kept
}
