// Stops an event counting. The log decides: a deletion is one more record in the event's partition, after the event, and is
// answered once it has been processed. The reference stays used; what is sent under it again is a duplicate.
import type { Tenant } from '../../../../shared/tenant.ts'
import { defineAction } from '../../../http/actions/action.ts'
import type { StoredEvent } from '../../../usage/stored-events.ts'
import { answered, awaitEvent, reprocessCustomerOf, retryLater } from './await-event.ts'
import { emitOnce } from './emit-once.ts'
import type { EventsDeps } from './list-events.ts'
import { EventView } from './schema.ts'
import { viewEvents } from './view-events.ts'

/** How long a deletion may take to be processed; less than a request may take. */
const PROCESSED_MS = 10_000

/**
 * Deletes the event with this id or reference; its answer is its view, and one that is deleted already is answered the same. Refused
 * with RESOURCE_NOT_FOUND when everything accepted so far is processed and the event is not there, and SERVICE_UNAVAILABLE when
 * that, or that the deletion took effect, cannot be known yet: it is safe to send again, and is finished by the worker if it is not.
 */
export const deleteEventAction = defineAction<EventsDeps, { readonly idOrReference: string }, StoredEvent>({
  name: 'delete-event',
  status: 200,
  response: EventView,
  act: async (deps, { tenant }, { data }) => {
    const event = await awaitEvent(deps, tenant, data.idOrReference)
    return event.deleted ? event : await publishAndAwait(deps, tenant, event)
  },
  settle: async (uow, _intent, deleted) => {
    const [view] = await viewEvents(uow, [deleted])
    if (!view) throw new Error('one event has one view')
    const first = await emitOnce(
      uow,
      { type: 'METER_DATA.DELETED', objectId: view.id, data: view, previous: null },
      false,
    )
    if (first) await reprocessCustomerOf(uow, view, deleted)
    return view
  },
})

async function publishAndAwait(deps: EventsDeps, tenant: Tenant, { idHash }: StoredEvent): Promise<StoredEvent> {
  const record = { ...tenant, idHash, receivedAtMs: deps.database.clock.now() }
  const position = await answered(deps.events.log.publishDeletion(record))
  if (await deps.events.processed(position, PROCESSED_MS)) {
    const event = await deps.events.find(tenant, idHash)
    if (event?.deleted) return event
  }
  throw retryLater('The deletion is accepted and not processed yet; send it again to learn when it is.')
}
