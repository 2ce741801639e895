// When the invoices of a story close, for the slow model: at the end of every period, and when the subscription ends.
import { dayOf, type Length, periodAt, startOfDay } from './calendar.ts'
import { DAY, type Known, knownAt, type Story, YEAR_DAYS } from './story.ts'

export type Closing = {
  readonly cutoff: number
  /** The start of the time it collects; null where it only charges ahead. */
  readonly from: number | null
  /** The end of the time that it charges ahead. */
  readonly ahead: number
  readonly known: Known
}
export type Span = { readonly start: number; readonly end: number }

export const gridOf = ({ zone, start, calendar }: Story) => ({ zone, start, calendar })

/** Periods of this length from `start` to `end`, cut at local midnights: those that start before `enough`, by default the first. */
export function spansOf(
  story: Story,
  length: Length,
  { start, end }: Span,
  enough = start + 1,
): (Span & { from: number; until: number })[] {
  const found: (Span & { from: number; until: number })[] = []
  let day = dayOf(start, story.zone)
  for (;;) {
    const [from, until] = periodAt(gridOf(story), length, day)
    const [opens, closes] = [startOfDay(from, story.zone), startOfDay(until, story.zone)]
    if (opens >= Math.min(end, enough)) return found
    found.push({ start: Math.max(opens, start), end: Math.min(closes, end), from, until })
    day = until
  }
}

export const FAR = (story: Story): number => story.start + (YEAR_DAYS + 800) * DAY
const endOf = (story: Story, { phases, cancel }: Known): number =>
  Math.min(phases.at(-1)?.end ?? FAR(story), cancel?.at ?? FAR(story))

/** When invoices close: at the end of every period, and when the subscription ends. */
export function closingsOf(story: Story): Closing[] {
  const closings: Closing[] = []
  let moment = story.start
  let from: number | null = null
  let cutoff = story.start
  for (;;) {
    for (const { at } of story.actions) {
      if (at <= moment || at > cutoff) continue
      moment = at
      cutoff = cutoffAfter(story, knownAt(story, moment), from) ?? cutoff
    }
    const known = knownAt(story, cutoff)
    const end = endOf(story, known)
    if (cutoff > story.start + YEAR_DAYS * DAY) return closings
    const next = cutoff < end ? spansOf(story, story.billing, { start: cutoff, end })[0] : undefined
    closings.push({ cutoff, from, ahead: next?.end ?? cutoff, known })
    if (!next) return closings
    moment = cutoff
    from = cutoff
    cutoff = next.end
  }
}

const cutoffAfter = (story: Story, known: Known, from: number | null): number | undefined =>
  from === null ? story.start : spansOf(story, story.billing, { start: from, end: endOf(story, known) })[0]?.end
