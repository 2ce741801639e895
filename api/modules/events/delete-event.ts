// Stops an event counting. The log decides: a deletion is one more record in the event's partition, after the event, and is
// answered once it has been processed. The reference stays used; what is sent under it again is a duplicate.
import { sql } from 'drizzle-orm'
import { type Actor, inTenant, type Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { emit } from '../../outbox.ts'
import type { Row } from '../../resource/define-resource.ts'
import type { LogPosition } from '../../usage/event-log.ts'
import type { StoredEvent } from '../../usage/stored-events.ts'
import { findEvent, hashesFor, noEvent } from './get-event.ts'
import type { EventsDeps } from './list-events.ts'
import { viewEvents } from './view-events.ts'

/** How long an event that was just accepted may take to show. */
const APPEARS_MS = 2_000
/** How long a deletion may take to be processed; less than a request may take. */
const PROCESSED_MS = 10_000
const RETRY_AFTER_S = 2
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
    await emitOnce(uow, view)
    return view
  })
}

/** The event, waited for when the log holds records that are not processed yet: a deletion before it would do nothing. */
async function awaitEvent(deps: EventsDeps, tenant: Tenant, idOrReference: string): Promise<StoredEvent> {
  const hashes = hashesFor(tenant, idOrReference)
  const found = await findEvent(deps, tenant, hashes)
  if (found) return found
  const ends = await Promise.all(hashes.map(idHash => answered(deps.events.log.end(idHash))))
  const complete = await allProcessed(deps, ends, APPEARS_MS)
  const appeared = await findEvent(deps, tenant, hashes)
  if (appeared) return appeared
  if (complete) throw noEvent(idOrReference)
  throw notYet('Events that were accepted are still being processed, this one may be among them; send it again.')
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

async function allProcessed(deps: EventsDeps, ends: readonly LogPosition[], timeoutMs: number): Promise<boolean> {
  const done = await Promise.all(ends.map(end => deps.events.processed(end, timeoutMs)))
  return done.every(Boolean)
}

/** What the log answers, or SERVICE_UNAVAILABLE. */
async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (cause) {
    throw notYet('The usage log does not answer; send it again.', cause)
  }
}

const notYet = (message: string, cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_S, cause })

/**
 * The notice of the deletion, once, however often it is asked for and wherever an earlier call ended: a notice is in the
 * audit trail, or waits in the outbox to get there, and one statement sees both.
 */
async function emitOnce(uow: Uow, view: Row): Promise<void> {
  const { platformId, environment } = uow.tenant
  const id: string = view['id']
  await uow.tx.execute(
    sql`select pg_advisory_xact_lock(hashtextextended(${`${platformId}\n${environment}\n${id}`}, 0))`,
  )
  const { rows } = await uow.tx.execute(sql`
    select from audit_records where platform_id = ${platformId} and environment = ${environment}
      and target_id = ${id} and action = 'DELETED'
    union all
    select from outbox where platform_id = ${platformId} and environment = ${environment}
      and position is null and object_id = ${id} and type = ${DELETED}`)
  if (rows.length === 0) await emit(uow, { type: DELETED, objectId: id, data: view, previous: null })
}
