// Every attempt to deliver one event, oldest first.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { readSlice } from '../../../list/keyset.ts'
import type { Slice, Sliced } from '../../../list/slice.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { webhookAttempts as table } from '../table.ts'
import { webhookResource } from '../webhook.ts'
import { getEvent } from './list-events.ts'

type Attempt = typeof table.$inferSelect

/** Throws RESOURCE_NOT_FOUND for an event or a webhook that is none, and INVALID_FIELD for such a cursor. */
export async function listAttempts(
  uow: ReadUow,
  of: { readonly eventId: string; readonly webhookId: string | undefined; readonly slice: Slice },
): Promise<Sliced<Attempt>> {
  const { id } = await getEvent(uow, of.eventId)
  const webhook = of.webhookId === undefined ? null : await getOne(uow, webhookResource, of.webhookId)
  const where = and(
    inThisTenant(uow, table),
    eq(table.event_id, id),
    ...(webhook ? [eq(table.webhook_id, webhook.id)] : []),
  )
  const one = (attemptId: string): SQL | undefined => and(where, eq(table.id, attemptId))
  return await readSlice<Attempt>({
    slice: of.slice,
    order: { column: table.created_at, id: table.id, descending: false },
    anchor: (column, attemptId) => sql`(select ${column} from ${table} where ${one(attemptId)})`,
    hasAnchor: async attemptId => (await uow.tx.$count(table, one(attemptId))) > 0,
    rows: ({ condition, orderBy, limit, offset }) =>
      uow.tx
        .select()
        .from(table)
        .where(and(where, condition))
        .orderBy(...orderBy)
        .limit(limit)
        .offset(offset),
    count: () => uow.tx.$count(table, where),
  })
}
