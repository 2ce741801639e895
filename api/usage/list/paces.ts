// How much time lies between two events of a list: a deep page looks through the time that its place needs at this pace, and a tenth
// more. Where the memory is wrong, a list asks once more; its answer is the same.
import type { Tenant } from '../../../shared/tenant.ts'
import type { EventFilter } from './sources.ts'

const ENTRIES_MAX = 10_000
const MARGIN = 1.1

export type Paces = {
  /** In how much time so many events are expected; null when that is not known. */
  of(tenant: Tenant, filter: EventFilter, events: number): number | null
  note(tenant: Tenant, filter: EventFilter, seen: { readonly events: number; readonly ms: number }): void
}

/** Knows of none yet, and of 10,000 lists at most; the oldest are forgotten first. */
export function createPaces(): Paces {
  const known = new Map<string, number>()
  const keyOf = (
    { platformId, environment }: Tenant,
    { from: _from, before: _before, ...filter }: EventFilter,
  ): string => JSON.stringify([platformId, environment, filter])
  return {
    of: (tenant, filter, events) => {
      const pace = known.get(keyOf(tenant, filter))
      return pace === undefined ? null : Math.ceil(pace * events * MARGIN)
    },
    note: (tenant, filter, { events, ms }) => {
      const key = keyOf(tenant, filter)
      known.delete(key)
      known.set(key, Math.max(0, ms) / events)
      for (const oldest of known.keys()) {
        if (known.size <= ENTRIES_MAX) break
        known.delete(oldest)
      }
    },
  }
}
