// What the api sends events with for a caller the gateway does not know: a bearer token, or a PROXY key that acts for a user.
// The gateway knows keys and nothing else, so the api, having judged the call, makes it with a key of its own that sends events
// of this one tenant and ends by itself (docs/decisions/0010).
import { createIngestKey, INGEST_KEY_MINUTES } from '../../shared/access/ingest-key.ts'
import { type Database, inTenant } from '../../shared/database/database.ts'
import type { Tenant } from '../../shared/tenant.ts'

/** A key is used for half of its life: the clocks of the database and of a gateway may differ. */
const USED_MS = (INGEST_KEY_MINUTES * 60_000) / 2
const TENANTS_MAX = 10_000

export type IngestKeys = {
  /** The text of a key of this tenant; it exists in this process's memory and nowhere else. */
  keyOf(tenant: Tenant): Promise<string>
  /** Takes a key out of use that the gateway refused: the next call makes another one. */
  drop(tenant: Tenant, key: string): void
}

type Kept = { readonly text: Promise<string>; readonly until: number; known?: string }

/** One key for each tenant at a time, made when it is first needed. */
export function createIngestKeys(database: Database): IngestKeys {
  const kept = new Map<string, Kept>()
  const make = async (tenant: Tenant): Promise<string> => {
    const actor = { id: null, requestId: null }
    return (await inTenant(database, tenant, actor, uow => createIngestKey(uow, PURPOSE))).text
  }
  return {
    keyOf: async tenant => {
      const place = placeOf(tenant)
      const now = performance.now()
      const found = kept.get(place)
      if (found && now < found.until) return await found.text
      if (kept.size >= TENANTS_MAX) kept.clear()
      const fresh: Kept = { text: make(tenant), until: now + USED_MS }
      kept.set(place, fresh)
      try {
        fresh.known = await fresh.text
        return fresh.known
      } catch (error) {
        if (kept.get(place) === fresh) kept.delete(place)
        throw error
      }
    },
    drop: (tenant, key) => {
      if (kept.get(placeOf(tenant))?.known === key) kept.delete(placeOf(tenant))
    },
  }
}

const PURPOSE = 'Events sent with a bearer token, or for a user'
const placeOf = ({ platformId, environment }: Tenant): string => `${platformId}:${environment}`
