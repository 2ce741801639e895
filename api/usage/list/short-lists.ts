// Which lists were short when they were counted last: one statement reads a page of them and counts them. A list that has grown
// since takes a second statement; its answer is the same.
import type { Tenant } from '../../../shared/tenant.ts'
import type { EventFilter } from './sources.ts'

/** The entries of a short list at most: with 6,000, one statement costs less than one for the page and one for the count. */
const WHOLE_MAX = 8_000
const ENTRIES_MAX = 10_000

export type ShortLists = {
  /** Whether the list was short lately, whatever time it was about. */
  has(tenant: Tenant, filter: EventFilter): boolean
  note(tenant: Tenant, filter: EventFilter, total: number): void
}

/** Knows of none yet, and of 10,000 at most; the oldest are forgotten first. */
export function createShortLists(): ShortLists {
  const known = new Set<string>()
  const keyOf = (
    { platformId, environment }: Tenant,
    { from: _from, before: _before, ...filter }: EventFilter,
  ): string => JSON.stringify([platformId, environment, filter])
  return {
    has: (tenant, filter) => known.has(keyOf(tenant, filter)),
    note: (tenant, filter, total) => {
      const key = keyOf(tenant, filter)
      known.delete(key)
      if (total <= WHOLE_MAX) known.add(key)
      for (const oldest of known) {
        if (known.size <= ENTRIES_MAX) break
        known.delete(oldest)
      }
    },
  }
}
