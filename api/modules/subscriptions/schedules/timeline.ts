// The rule of a subscription's schedules, pure: one after the other, without gap or overlap, active ones first (semantics 4.3).

/** A schedule's place. Times are canonical wire text, whose order is the order in time. */
export type TimelineEntry = {
  readonly id: string
  readonly start_at: string
  readonly end_at: string | null
  readonly status: 'DRAFT' | 'ACTIVE'
}

export type TimelineFault = { readonly field: 'start_at' | 'end_at'; readonly message: string }

export const inTimelineOrder = <T extends TimelineEntry>(entries: readonly T[]): T[] =>
  entries.toSorted((a, b) => (a.start_at < b.start_at ? -1 : a.start_at > b.start_at ? 1 : 0))

/**
 * Why `entry` cannot stand among `others`, which already keep the rule; null when it can. An ACTIVE one that ended before `billedUntil` keeps
 * its end; null where no time is billed.
 */
export function timelineFault(
  entry: TimelineEntry,
  others: readonly TimelineEntry[],
  billedUntil: string | null = null,
): TimelineFault | null {
  if (entry.end_at !== null && entry.end_at <= entry.start_at) {
    return { field: 'end_at', message: 'end_at must be after start_at; leave it out for a schedule that runs on.' }
  }
  const sorted = inTimelineOrder(others)
  const before = sorted.findLast(other => other.start_at <= entry.start_at)
  const after = sorted.find(other => other.start_at > entry.start_at)
  return (before ? faultAfter(before, entry, billedUntil) : null) ?? (after ? faultBefore(entry, after) : null)
}

function faultAfter(before: TimelineEntry, entry: TimelineEntry, billedUntil: string | null): TimelineFault | null {
  const field = 'start_at'
  const isOver =
    before.status === 'ACTIVE' && before.end_at !== null && billedUntil !== null && before.end_at < billedUntil
  const [ends, otherwise] = isOver ? ['ended', ''] : ['ends', ', or send set_previous_end_at=true']
  if (before.start_at === entry.start_at) {
    return {
      field,
      message: `The schedule ${before.id} starts at the same time; choose another time, or change that one.`,
    }
  }
  if (before.end_at === null) {
    const message = `The schedule ${before.id} runs on without an end; send set_previous_end_at=true to end it where this one starts.`
    return { field, message }
  }
  if (before.end_at > entry.start_at) {
    return {
      field,
      message: `It overlaps the schedule ${before.id}, which ${ends} at ${before.end_at}; start there${otherwise}.`,
    }
  }
  if (before.end_at < entry.start_at) {
    const way = isOver ? ', or create another subscription that starts later' : otherwise
    const message = `It leaves a gap after the schedule ${before.id}, which ${ends} at ${before.end_at}; start there${way}.`
    return { field, message }
  }
  if (before.status === 'DRAFT' && entry.status === 'ACTIVE') {
    return { field, message: `The schedule ${before.id} before it is still DRAFT; activate that one first.` }
  }
  return null
}

function faultBefore(entry: TimelineEntry, after: TimelineEntry): TimelineFault | null {
  const field = 'end_at'
  if (entry.end_at === null)
    return { field, message: `It overlaps the schedule ${after.id}, which starts at ${after.start_at}; end there.` }
  const way = `which starts at ${after.start_at}; end there, or send set_next_start_at=true.`
  if (entry.end_at > after.start_at) return { field, message: `It overlaps the schedule ${after.id}, ${way}` }
  if (entry.end_at < after.start_at)
    return { field, message: `It leaves a gap before the schedule ${after.id}, ${way}` }
  if (entry.status === 'DRAFT' && after.status === 'ACTIVE') {
    return {
      field: 'start_at',
      message: `The schedule ${after.id} after it is already ACTIVE; a draft can only follow it.`,
    }
  }
  return null
}
