// Which lists are known to be as long as a list reaches. Records are never taken away, so a list that was that long stays so; one that
// leaves deleted events out is the exception, and is counted each time.
import type { Tenant } from '../../../shared/tenant.ts'

const ENTRIES_MAX = 10_000

type Filter = { readonly deleted?: boolean | undefined }
export type LongLists = { has(tenant: Tenant, filter: Filter): boolean; add(tenant: Tenant, filter: Filter): void }

/** Knows of none yet, and of 10,000 at most; the oldest are forgotten first. */
export function createLongLists(): LongLists {
  const known = new Set<string>()
  const keyOf = ({ platformId, environment }: Tenant, filter: Filter): string =>
    JSON.stringify([platformId, environment, filter])
  return {
    has: (tenant, filter) => filter.deleted !== false && known.has(keyOf(tenant, filter)),
    add: (tenant, filter) => {
      if (filter.deleted === false) return
      known.add(keyOf(tenant, filter))
      for (const oldest of known) {
        if (known.size <= ENTRIES_MAX) break
        known.delete(oldest)
      }
    },
  }
}
