// Stops an event counting. The log decides: a deletion is one more record in the event's partition, after the event, and is
// answered once it has been processed. The reference stays used; what is sent under it again is a duplicate.
import { type Actor, inTenant } from '../../../shared/database/database.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { Row } from '../../resource/define-resource.ts'
import type { StoredEvent } from '../../usage/stored-events.ts'
import { answered, awaitEvent, notYet, reprocessCustomerOf } from './await-event.ts'
import { emitOnce } from './emit-once.ts'
import type { EventsDeps } from './list-events.ts'
import { viewEvents } from './view-events.ts'

/** How long a deletion may take to be processed; less than a request may take. */
const PROCESSED_MS = 10_000
const DELETED = 'METER_DATA.DELETED'

/**
 * Deletes the event with this id or reference and gives its view; one that is deleted already is answered the same. Throws
 * RESOURCE_NOT_FOUND when everything accepted so far is processed and the event is not there, and SERVICE_UNAVAILABLE when
 * that, or that the deletion took effect, cannot be told yet: it is safe to send again.
 */
export async function deleteEvent(
  deps: EventsDeps,
  context: { readonly tenant: Tenant; readonly actor: Actor },
  idOrReference: string,
): Promise<Row> {
  const { tenant, actor } = context
  const event = await awaitEvent(deps, tenant, idOrReference)
  const deleted = event.deleted ? event : await publishAndAwait(deps, tenant, event)
  return await inTenant(deps.database, tenant, actor, async uow => {
    const [view] = await viewEvents(uow, [deleted])
    if (!view) throw new Error('one event has one view')
    const first = await emitOnce(uow, { type: DELETED, objectId: view['id'], data: view, previous: null }, false)
    if (first) await reprocessCustomerOf(uow, view, deleted)
    return view
  })
}

async function publishAndAwait(deps: EventsDeps, tenant: Tenant, { idHash }: StoredEvent): Promise<StoredEvent> {
  const record = { ...tenant, idHash, receivedAtMs: deps.database.clock.now() }
  const position = await answered(deps.events.log.publishDeletion(record))
  if (await deps.events.processed(position, PROCESSED_MS)) {
    const event = await deps.events.find(tenant, idHash)
    if (event?.deleted) return event
  }
  throw notYet('The deletion is accepted and not processed yet; send it again to hear when it is.')
}
