// The brandings of a platform over time, so that a document printed later looks as it did when it was issued.

import { isDeepStrictEqual } from 'node:util'
import { and, desc, lte } from 'drizzle-orm'
import { bigint, pgTable } from 'drizzle-orm/pg-core'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { Branding } from './schema.ts'
import { type Platform, platforms } from './table.ts'

const { platform_id, environment } = tenantColumns()
const brandings = pgTable('brandings', {
  platform_id,
  environment,
  id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity(),
  effective_at: timestamp().notNull(),
  branding: wireJson<Branding>().notNull(),
})

/** Saves a branding that was changed, from now on. */
export async function saveBrandingHistory(uow: Uow, { branding }: Platform, previous: Platform | null): Promise<void> {
  if (isDeepStrictEqual(branding, previous?.branding)) return
  const { platformId, environment } = uow.tenant
  await uow.tx
    .insert(brandings)
    .values({ platform_id: platformId, environment, effective_at: formatInstant(uow.now), branding })
}

/** The branding of the platform at a time; the current one without a time. */
export async function brandingAt(uow: ReadUow, time: string | null): Promise<Branding> {
  if (time === null) {
    const [platform] = await uow.tx
      .select({ branding: platforms.branding })
      .from(platforms)
      .where(inThisTenant(uow, platforms))
    return platform?.branding ?? {}
  }
  const [kept] = await uow.tx
    .select({ branding: brandings.branding })
    .from(brandings)
    .where(and(inThisTenant(uow, brandings), lte(brandings.effective_at, time)))
    .orderBy(desc(brandings.effective_at), desc(brandings.id))
    .limit(1)
  return kept?.branding ?? {}
}
