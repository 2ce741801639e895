// Every attempt to deliver one event, oldest first.
import { eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { listSlice } from '../../../list/list-slice.ts'
import type { Slice, Sliced } from '../../../list/slice.ts'
import { getOne } from '../../../resource/store.ts'
import { webhookAttempts as table } from '../table.ts'
import { webhookResource } from '../webhook.ts'
import { getEvent } from './list-events.ts'

type Attempt = typeof table.$inferSelect

/** Throws RESOURCE_NOT_FOUND for an unknown event or webhook, and INVALID_FIELD for an invalid cursor. */
export async function listAttempts(
  uow: ReadUow,
  of: { readonly eventId: string; readonly webhookId: string | undefined; readonly slice: Slice },
): Promise<Sliced<Attempt>> {
  const { id } = await getEvent(uow, of.eventId)
  const webhook = of.webhookId === undefined ? null : await getOne(uow, webhookResource, of.webhookId)
  return await listSlice<Attempt>(
    uow,
    { table },
    {
      conditions: [eq(table.event_id, id), ...(webhook ? [eq(table.webhook_id, webhook.id)] : [])],
      order: { by: 'created_at', descending: false },
      slice: of.slice,
    },
  )
}
