// Periods of which a charge ahead left days out, because of an end or a pause that was known then, for the slow model.
import type { Span } from '../closings.ts'
import type { ChargedPart } from './books.ts'

const isIn = (moment: number, { start, end }: Span): boolean => start <= moment && moment < end

/** What a charge left out for pauses that are no pauses any more. */
function resumed({ at, end, pauses }: ChargedPart, now: readonly Span[]): Span[] {
  const edges = [...pauses, ...now].flatMap(pause => [pause.start, pause.end])
  return cut({ start: at, end }, edges).filter(
    ({ start }) => pauses.some(pause => isIn(start, pause)) && !now.some(pause => isIn(start, pause)),
  )
}

/** A time cut at these moments. */
function cut({ start, end }: Span, edges: readonly number[]): Span[] {
  const moments = [...new Set([start, ...edges.filter(edge => start < edge && edge < end), end])].toSorted(
    (a, b) => a - b,
  )
  return moments.slice(0, -1).map((from, index) => ({ start: from, end: moments[index + 1] ?? end }))
}

/** Whether a charge is for all of a time. */
export const paysFor = (charged: ChargedPart, { start, end }: Span, now: readonly Span[]): boolean =>
  charged.at <= start && end <= charged.end && !resumed(charged, now).some(each => each.start < end && start < each.end)

/** What was charged ahead of an ADDON before the time in which it is enabled was changed; `name` begins the keys of its charges. */
export const chargedBefore = (
  charged: ReadonlyMap<string, ChargedPart[]>,
  name: string,
  { start }: Span,
): ChargedPart[] =>
  [...charged].flatMap(([key, parts]) => (key.startsWith(name) && key !== `${name}${start}` ? parts : []))

/** What charges are for of a period. */
export const within = ({ start, end }: Span, charged: readonly ChargedPart[]): ChargedPart[] =>
  charged.flatMap(each =>
    each.at < end && start < each.end ? [{ ...each, at: Math.max(each.at, start), end: Math.min(each.end, end) }] : [],
  )

/**
 * Null where the charges are for the whole period; otherwise what cuts it into times that the same charges are for. No seats are no
 * charge: `charged` has none. `isMoved`: some were for another time.
 */
export function leftOut(
  period: Span,
  {
    charged,
    now,
    isMoved,
  }: { readonly charged: readonly ChargedPart[]; readonly now: readonly Span[]; readonly isMoved: boolean },
) {
  const open = isMoved || charged.some(each => each.isRest || each.end < period.end || resumed(each, now).length > 0)
  if (!open) return null
  const edges = charged.flatMap(each => [
    each.at,
    each.end,
    ...resumed(each, now).flatMap(({ start, end }) => [start, end]),
  ])
  return {
    /** Also without these times, where a price is not charged for them. */
    times(paused: readonly Span[]): Span[] {
      const found: Span[] = []
      for (const time of cut(period, [...edges, ...paused.flatMap(({ start, end }) => [start, end])])) {
        if (paused.some(pause => isIn(time.start, pause))) continue
        const before = found.at(-1)
        const isSame = (each: ChargedPart): boolean =>
          paysFor(each, time, now) === (before !== undefined && paysFor(each, before, now))
        // In one piece where nothing is paid.
        if (before?.end === time.start && charged.every(isSame))
          found[found.length - 1] = { start: before.start, end: time.end }
        else found.push(time)
      }
      return found
    },
  }
}

/** The times of a period that no charge is for. */
export function timesBeside(period: Span, paid: readonly ChargedPart[]): Span[] {
  const found: Span[] = []
  for (const time of cut(
    period,
    paid.flatMap(({ at, end }) => [at, end]),
  )) {
    if (paid.some(({ at, end }) => at <= time.start && time.end <= end)) continue
    const before = found.at(-1)
    if (before?.end === time.start) found[found.length - 1] = { start: before.start, end: time.end }
    else found.push(time)
  }
  return found
}
