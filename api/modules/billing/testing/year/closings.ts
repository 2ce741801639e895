// When the invoices of a story close, for the slow model: at the end of every period, and when the subscription ends.
import { dayOf, type Length, periodAt, startOfDay } from './calendar.ts'
import { type Known, knownWith, type Progress, progressBefore } from './known.ts'
import { DAY, type Story, YEAR_DAYS } from './story.ts'

export type Closing = {
  readonly cutoff: number
  /** At its cutoff, or when the schedule that has this time was activated. */
  readonly issued: number
  /** The start of the time it collects; null where it only charges ahead. */
  readonly from: number | null
  /** The end of the time that it charges ahead. */
  readonly ahead: number
  readonly known: Known
  /** Present where it collects nothing: the subscription ended, with a refund, where an invoice that did not know of it had closed. */
  readonly gives?: true
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
  const begun: Progress = { moment: story.start, count: 0 }
  let place: Place | null = { progress: begun, from: null, cutoff: opensAt(knownWith(story, begun)) }
  while (place) {
    const { progress, from, cutoff } = progressUntil(story, place)
    const ended = from === null ? null : endedAt(story, progress, from)
    if (from !== null && ended) {
      if (ended.gives)
        closings.push({ cutoff: from, issued: progress.moment, from, ahead: from, ...ended, gives: true })
      place = resumed(story, progress, { from, cutoff })
      continue
    }
    const issued = Math.max(cutoff, progress.moment)
    const now = { ...progress, moment: issued }
    const known = knownWith(story, now)
    const end = endOf(story, known)
    // Who leaves before anything is charged has no invoice.
    if (cutoff > story.start + YEAR_DAYS * DAY || (from === null && end <= cutoff)) return closings
    const next = cutoff < end ? closesAfter(story, known, { start: cutoff, end }) : undefined
    closings.push({ cutoff, issued, from, ahead: next ?? cutoff, known })
    place = next ? { progress: now, from: cutoff, cutoff: next } : resumed(story, now, { from: cutoff, cutoff })
  }
  return closings
}

/** Where a story is: its last invoice closed at `from`, null before the first one, and the next one closes at `cutoff`. */
type Place = { readonly progress: Progress; readonly from: number | null; readonly cutoff: number }

/** What happens before the next invoice closes may move that. */
function progressUntil(story: Story, { progress: before, from, cutoff: closes }: Place): Place {
  let [progress, cutoff] = [before, closes]
  for (let next = progressBefore(story, progress, cutoff); next; next = progressBefore(story, progress, cutoff)) {
    progress = next
    cutoff = cutoffAfter(story, knownWith(story, progress), from) ?? cutoff
  }
  return { progress, from, cutoff }
}

/** It has ended, unless what follows is activated only later: that is billed from its start. */
function resumed(story: Story, { moment, count }: Progress, { from, cutoff }: Omit<Place, 'progress'>): Place | null {
  const later = story.actions.findIndex(({ type }, index) => index >= count && type === 'ACTIVATE')
  const action = story.actions[later]
  if (!action) return null
  const progress = { moment: Math.max(moment, action.at), count: later + 1 }
  return { progress, from, cutoff: cutoffAfter(story, knownWith(story, progress), from) ?? cutoff }
}

/** What is known where it ended at this time, at which an invoice closed before that was known; null where it did not. */
function endedAt(
  story: Story,
  progress: Progress,
  from: number,
): { readonly known: Known; readonly gives: boolean } | null {
  const known = knownWith(story, progress)
  if (endOf(story, known) > from) return null
  const { phases, cancel } = known
  const gives = (cancel?.at === from && cancel.refund) || phases.some(({ end, refund }) => end === from && refund)
  return { known, gives }
}

/** A TRIAL charges nothing, so invoices begin where it ends; without an end never. */
const opensAt = ({ phases }: Known): number => phases.find(({ trial }) => !trial)?.start ?? Number.POSITIVE_INFINITY

const cutoffAfter = (story: Story, known: Known, from: number | null): number | undefined =>
  from === null ? opensAt(known) : closesAfter(story, known, { start: from, end: endOf(story, known) })

/** The end of the first period in a time; what follows a trial that is paid is charged when that ends, and not ahead with it. */
function closesAfter(story: Story, known: Known, { start, end }: Span): number | undefined {
  const closes = spansOf(story, known, story.billing, { start, end })[0]?.end
  const tried = known.phases.find(({ paid }) => paid)?.end ?? null
  return closes !== undefined && tried !== null && start < tried && tried < closes ? tried : closes
}
