// The dated entries of a schedule (seats, discounts, ADDONs, included volumes): which of them a schedule of another time keeps. Pure.
import { isDeepStrictEqual } from 'node:util'
import { CLAUSE_ROOTS, type ScheduleClauses } from './clauses/clause-entries.ts'
import type { Schedule } from './table.ts'

type Dated = { readonly start_at?: string | null; readonly end_at?: string | null }
/** When a schedule holds; times are canonical. Without an end it runs on. */
export type ScheduleSpan = { readonly start: string; readonly end: string | null }

/** Whether an entry applies at any time within the span. */
const isIn = ({ start_at, end_at }: Dated, { start, end }: ScheduleSpan): boolean =>
  !(end_at && end_at <= start) && !(end !== null && start_at && start_at >= end)

/**
 * Whether an entry starts only after its schedule has ended. A stored entry may: the schedule that follows cut this one short, and the entry
 * counts again if that is undone.
 */
export const startsTooLate = <T extends Dated>(entry: T, end: string | null, stored: readonly T[]): boolean =>
  Boolean(end !== null && entry.start_at && entry.start_at >= end) &&
  !stored.some(each => isDeepStrictEqual(each, entry))

/** The entries as they are in the span. What has ended before, or starts after it, is left out. */
export const entriesWithin = <T extends Dated>(
  entries: readonly T[],
  span: ScheduleSpan,
): (T | Omit<T, 'start_at'>)[] =>
  entries.flatMap(entry => {
    if (!isIn(entry, span)) return []
    const { start_at, ...rest } = entry
    return [start_at && start_at > span.start ? entry : rest]
  })

/** The clauses of the span. Each keeps its start, by which it is known as the one of the schedule before. */
export const clausesWithin = (clauses: ScheduleClauses, span: ScheduleSpan): ScheduleClauses =>
  eachClause(clauses, entry => (isIn(entry, span) ? [entry] : []))

/** The dated members of a schedule, as a schedule with this span keeps them. */
export const statedWithin = (schedule: Schedule, span: ScheduleSpan) => ({
  ...clausesWithin(schedule, span),
  enabled_pricings: entriesWithin(schedule.enabled_pricings, span),
  seats_values: entriesWithin(schedule.seats_values, span),
  included_volumes: entriesWithin(schedule.included_volumes, span),
})

/** The dated members of a schedule, with each time changed by `moved`. */
export function statedAt(schedule: Schedule, moved: (time: string) => string) {
  const at = <T extends Dated>(entry: T): T => ({
    ...entry,
    ...(entry.start_at ? { start_at: moved(entry.start_at) } : {}),
    ...(entry.end_at ? { end_at: moved(entry.end_at) } : {}),
  })
  return {
    ...eachClause(schedule, entry => [at(entry)]),
    enabled_pricings: schedule.enabled_pricings.map(at),
    seats_values: schedule.seats_values.map(at),
    included_volumes: schedule.included_volumes.map(at),
  }
}

type Lists = Readonly<Record<string, readonly Dated[] | null | undefined>>

function eachClause(clauses: ScheduleClauses, change: (entry: Dated) => readonly Dated[]): ScheduleClauses {
  const changed = (lists: Lists) =>
    Object.fromEntries(Object.entries(lists).map(([name, entries]) => [name, entries?.flatMap(change) ?? entries]))
  // The lists are those that were there, with entries of the same kinds.
  return Object.fromEntries(
    CLAUSE_ROOTS.map(root => [root, clauses[root] && changed(clauses[root] as Lists)]),
  ) as ScheduleClauses
}
