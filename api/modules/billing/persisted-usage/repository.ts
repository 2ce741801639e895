// The recorded states of prices, by their references.
import { and, eq } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { newId } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type PersistData, persistData } from './table.ts'

/** The state recorded under this reference, or null. */
export async function findByReference(uow: ReadUow, reference: string): Promise<PersistData | null> {
  const [row] = await uow.tx
    .select()
    .from(persistData)
    .where(and(inThisTenant(uow, persistData), eq(persistData.reference, reference)))
  return row ?? null
}

type NewState = Omit<
  typeof persistData.$inferInsert,
  'id' | 'platform_id' | 'environment' | 'created_at' | 'reference'
> & { readonly reference: string | null }

/** Stores a state; null when its reference was used in the meantime. */
export async function insertPersistedUsage(uow: Uow, { reference, ...values }: NewState): Promise<PersistData | null> {
  const id = newId('prda')
  const [row] = await uow.tx
    .insert(persistData)
    .values({
      ...values,
      platform_id: uow.tenant.platformId,
      environment: uow.tenant.environment,
      id,
      created_at: formatInstant(uow.now),
      // A reference from a caller never has the form of an id, so a generated reference cannot collide with one.
      reference: reference ?? id,
    })
    .onConflictDoNothing()
    .returning()
  return row ?? null
}
