// Keys a worker makes for itself, so that what it brings in passes the gateway by the same rules as everything else. The
// text of such a key is nowhere but in the worker's memory; it may send events and nothing more, and it ends by itself.
import { sql } from 'drizzle-orm'
import type { Uow } from '../database/database.ts'
import { newId } from '../ids.ts'
import { newApiKey } from './api-key.ts'

/** Long enough to be renewed without haste, short enough that one a dead worker left behind is soon nothing. */
export const INGEST_KEY_MINUTES = 10
/** Gateways have forgotten an ended key long before; kept for the audit trail, which names it. */
const KEPT_HOURS = 24

export type IngestKey = { readonly id: string; readonly text: string }

/** Makes a key of this tenant that sends events for INGEST_KEY_MINUTES. `purpose` is shown beside it. */
export async function createIngestKey({ tx, tenant }: Uow, purpose: string): Promise<IngestKey> {
  const key = newApiKey(tenant.environment)
  const id = newId('akey')
  await tx.execute(sql`
    delete from api_keys where platform_id = ${tenant.platformId} and environment = ${tenant.environment}
      and type = 'INTERNAL' and expires_at < now() - make_interval(hours => ${KEPT_HOURS})`)
  await tx.execute(sql`
    insert into api_keys (platform_id, environment, id, key_id, sha256, display_prefix, last_four, description, type, role_type, expires_at)
    values (${tenant.platformId}, ${tenant.environment}, ${id}, ${key.keyId}, ${key.sha256}, ${key.displayPrefix}, ${key.lastFour},
      ${purpose}, 'INTERNAL', 'INGEST', now() + make_interval(mins => ${INGEST_KEY_MINUTES}))`)
  return { id, text: key.text }
}

/** Ends every key made for this purpose, also those a worker that died has left. */
export async function revokeIngestKeys({ tx, tenant }: Uow, purpose: string): Promise<void> {
  await tx.execute(sql`
    update api_keys set revoked_at = now(), updated_at = clock_timestamp()
    where platform_id = ${tenant.platformId} and environment = ${tenant.environment}
      and type = 'INTERNAL' and description = ${purpose} and revoked_at is null`)
}
