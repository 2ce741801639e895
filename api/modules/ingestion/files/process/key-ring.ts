// The key a file is sent with: made when it is first needed, replaced before it ends, and ended with the work.

import { createIngestKey, INGEST_KEY_MINUTES, revokeIngestKeys } from '../../../../../shared/access/ingest-key.ts'
import { type Database, inTenant, SERVICE } from '../../../../../shared/database/database.ts'
import type { Lease } from './lease.ts'

/** A key is used for half of its life: the clocks of the database and of a gateway may differ. */
const USED_MS = (INGEST_KEY_MINUTES * 60_000) / 2

export type KeyRing = {
  /** A key that may be used now. With `renew`, another one than before. */
  key(renew: boolean): Promise<string>
  /** Ends every key made for this file. */
  end(): Promise<void>
}

export function createKeyRing(database: Database, lease: Lease): KeyRing {
  const purpose = `file ${lease.fileId}`
  let current: { readonly text: Promise<string>; readonly until: number } | null = null
  const make = async (): Promise<string> => {
    const { text } = await lease.change(async uow => {
      await revokeIngestKeys(uow, purpose)
      return await createIngestKey(uow, purpose)
    })
    return text
  }
  return {
    key: async renew => {
      const now = performance.now()
      // Several batches are on their way at once; they share the key that one of them asks for.
      if (current === null || now >= current.until || (renew && now >= current.until - USED_MS + RENEWED_MS)) {
        current = { text: make(), until: now + USED_MS }
      }
      try {
        return await current.text
      } catch (error) {
        current = null
        throw error
      }
    },
    end: async () => {
      await inTenant(database, lease.tenant, SERVICE, uow => revokeIngestKeys(uow, purpose))
    },
  }
}

/** Another batch, refused with the same key, has just requested this one. */
const RENEWED_MS = 1_000
