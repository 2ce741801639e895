// Which lists were short when they were counted last: those are read whole, and counted in the same statement as their page. Where the
// memory is wrong, a list asks once more; its answer is the same.
import type { Tenant } from '../../../shared/tenant.ts'
import type { EventFilter } from './sources.ts'

/** A list of so many is read whole: of 6,000 that costs less than to read a page of it and to count it. */
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
