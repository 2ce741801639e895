// Where the records stand that lists ended with: a reader names the last one it was given to read on, and its place never changes, so
// it need not be looked up among all records of a platform.
import type { Tenant } from '../../../shared/tenant.ts'
import { cursorText, type EventPosition } from '../event-cursor.ts'

const ENTRIES_MAX = 10_000

export type KnownPositions = {
  /** Where the record stands that this cursor names; null when that is not known here. */
  of(tenant: Tenant, cursor: string): EventPosition | null
  remember(tenant: Tenant, position: EventPosition): void
}

/** Knows of none yet, and of 10,000 at most; the oldest are forgotten first. */
export function createKnownPositions(): KnownPositions {
  const known = new Map<string, EventPosition>()
  const keyOf = ({ platformId, environment }: Tenant, cursor: string): string =>
    JSON.stringify([platformId, environment, cursor])
  return {
    of: (tenant, cursor) => known.get(keyOf(tenant, cursor)) ?? null,
    remember: (tenant, { timestamp, idHash, place, duplicate }) => {
      const position = { timestamp, idHash, place, duplicate }
      known.set(keyOf(tenant, cursorText(position)), position)
      for (const oldest of known.keys()) {
        if (known.size <= ENTRIES_MAX) break
        known.delete(oldest)
      }
    },
  }
}
