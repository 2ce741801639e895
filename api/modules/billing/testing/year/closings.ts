// When the invoices of a story close, for the slow model: at the end of every period, and when the subscription ends.
import { dayOf, type Length, periodAt, startOfDay } from './calendar.ts'
import { DAY, type Known, knownAt, type Story, YEAR_DAYS } from './story.ts'

export type Closing = {
  readonly cutoff: number
  /** At its cutoff, or when the schedule that has this time was activated. */
  readonly issued: number
  /** The start of the time it collects; null where it only charges ahead. */
  readonly from: number | null
  /** The end of the time that it charges ahead. */
  readonly ahead: number
  readonly known: Known
}
export type Span = { readonly start: number; readonly end: number }
/** Of what is of a whole invoice. */
export const NOWHEN: Span = { start: 0, end: 0 }

/** A part of a period of a length, the days of the whole period, and how it was cut. */
export type Cut = Span & {
  readonly from: number
  readonly until: number
  readonly grid: { readonly zone: string; readonly start: number; readonly calendar: boolean }
}

/**
 * Periods of this length from `start` to `end`, cut at local midnights and where they count anew: those that start before `enough`, by
 * default the first.
 */
export function spansOf(
  story: Story,
  { phases }: Known,
  length: Length,
  { start, end }: Span,
  enough = start + 1,
): Cut[] {
  const found: Cut[] = []
  const anchors = [story.start, ...phases.flatMap(phase => (phase.realign ? [phase.start] : []))]
  for (const [place, anchor] of anchors.entries()) {
    const begins = Math.max(start, anchor)
    const ends = Math.min(end, anchors[place + 1] ?? end)
    if (begins >= ends || (found.length > 0 && begins >= enough)) continue
    const grid = { zone: story.zone, start: anchor, calendar: story.calendar }
    for (let day = dayOf(begins, story.zone); ; ) {
      const [from, until] = periodAt(grid, length, day)
      const [opens, closes] = [startOfDay(from, story.zone), startOfDay(until, story.zone)]
      if (opens >= Math.min(ends, enough)) break
      found.push({ start: Math.max(opens, begins), end: Math.min(closes, ends), from, until, grid })
      day = until
    }
  }
  return found
}

export const FAR = (story: Story): number => story.start + (YEAR_DAYS + 800) * DAY
const endOf = (story: Story, { phases, cancel }: Known): number =>
  Math.min(phases.at(-1)?.end ?? FAR(story), cancel?.at ?? FAR(story))

/** When invoices close: at the end of every period, and when the subscription ends. */
export function closingsOf(story: Story): Closing[] {
  const closings: Closing[] = []
  let moment = story.start
  let from: number | null = null
  let cutoff = opensAt(knownAt(story, moment))
  for (;;) {
    for (const { at } of story.actions) {
      if (at <= moment || at > cutoff) continue
      moment = at
      cutoff = cutoffAfter(story, knownAt(story, moment), from) ?? cutoff
    }
    const issued = Math.max(cutoff, moment)
    const known = knownAt(story, issued)
    const end = endOf(story, known)
    if (cutoff > story.start + YEAR_DAYS * DAY) return closings
    // Who leaves before anything is charged has no invoice.
    if (from === null && end <= cutoff) return closings
    const next = cutoff < end ? spansOf(story, known, story.billing, { start: cutoff, end })[0] : undefined
    closings.push({ cutoff, issued, from, ahead: next?.end ?? cutoff, known })
    // It has ended, unless what follows is activated only later: that is billed from its start.
    const later = next ? undefined : story.actions.find(({ at, type }) => at > issued && type === 'ACTIVATE')
    if (!next && !later) return closings
    moment = later?.at ?? issued
    from = cutoff
    cutoff = next?.end ?? cutoffAfter(story, knownAt(story, moment), from) ?? cutoff
  }
}

/** A TRIAL charges nothing, so invoices begin where it ends; without an end never. */
const opensAt = ({ phases }: Known): number => phases.find(({ trial }) => !trial)?.start ?? Number.POSITIVE_INFINITY

const cutoffAfter = (story: Story, known: Known, from: number | null): number | undefined =>
  from === null
    ? opensAt(known)
    : spansOf(story, known, story.billing, { start: from, end: endOf(story, known) })[0]?.end
