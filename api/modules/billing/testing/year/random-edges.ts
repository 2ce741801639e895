// Moves what happens in a story to the moments at which its invoices close, and to a moment before and after them.
import { dayOf, periodAt, startOfDay } from './calendar.ts'
import { chance, pick, type Random } from './random.ts'
import type { Frame } from './random-actions.ts'
import { type Action, DAY } from './story.ts'

/** The least time that requests tell apart. */
const MOMENT = 1_000
type Edge = (time: number) => number

/**
 * In some stories most of what happens. What comes exactly where an invoice closes comes before it is issued, or, more often, after it.
 */
export function atEdges(random: Random, actions: readonly Action[], frame: Frame): Action[] {
  if (!chance(random, 0.5)) return [...actions]
  let { start } = frame
  const moved = actions.map((action): Action => {
    const [isMoved, isLate, endsThere] = [chance(random, 0.8), chance(random, 0.7), chance(random, 0.5)]
    const [first, second] = [offset(random), offset(random)]
    if (!isMoved || action.at === frame.start || action.type === 'CARD') return action
    const grid = { ...frame, start }
    const own = movedTo(action, time => edgeNear(time, grid) + first, {
      ends: endsThere ? time => edgeNear(time, grid) + second : time => time,
      runs: time => closesAfter(time, grid),
    })
    if (own.type === 'PLAN' && own.realign) start = own.at
    return isLate ? { ...own, late: true } : own
  })
  return moved.toSorted((a, b) => a.at - b.at)
}

const offset = (random: Random): number => pick(random, [0, 0, 0, MOMENT, -MOMENT])

/** The end of the period that a moment is in. */
function closesAfter(time: number, { zone, start, calendar, billing }: Frame): number {
  return startOfDay(periodAt({ zone, start, calendar }, billing, dayOf(time, zone))[1], zone)
}

/** Where the period that a moment is in begins or ends, whichever is nearer; not where the first one begins. */
function edgeNear(time: number, frame: Frame): number {
  const { zone, start, calendar, billing } = frame
  const opens = startOfDay(periodAt({ zone, start, calendar }, billing, dayOf(time, zone))[0], zone)
  const closes = closesAfter(time, frame)
  return time - opens < closes - time && opens > start + DAY ? opens : closes
}

/** `ends`: of what ends later; `runs`: the end of the period that runs at a moment. */
function movedTo(action: Action, edge: Edge, { ends, runs }: { readonly ends: Edge; readonly runs: Edge }): Action {
  const at = edge(action.at)
  const after = (time: number): number => Math.max(at + MOMENT, ends(time))
  switch (action.type) {
    case 'CANCEL': {
      const when = action.when === action.at ? at : after(action.when)
      return { ...action, at, when, ...(when === runs(at) ? { next: true } : {}) }
    }
    case 'PAUSE': {
      const start = action.start === action.at ? at : after(action.start)
      return { ...action, at, start, end: Math.max(start + DAY, ends(action.end)) }
    }
    case 'SEAT': {
      const { end } = action.seat
      return { ...action, at, seat: { start: at, end: end === null ? null : after(end) } }
    }
    case 'ADDON':
      return { ...action, at, until: action.until === null ? null : after(action.until) }
    default:
      return { ...action, at }
  }
}
