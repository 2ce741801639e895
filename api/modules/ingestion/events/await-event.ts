// What the calls that change an event share: the event, once all that was accepted before is processed, and the refusals
// for when that cannot be known.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { instantOf } from '../../../../shared/time.ts'
import type { LogPosition } from '../../../usage/event-log.ts'
import type { StoredEvent } from '../../../usage/stored-events.ts'
import { scheduleReprocess } from '../../billing/reprocess/schedule-reprocess.ts'
import { eventNotFound, findEvent, hashesFor } from './get-event.ts'
import type { EventsDeps } from './list-events.ts'
import type { EventView } from './view-events.ts'

/** How long an event that was just accepted may take to show. */
const APPEARS_MS = 2_000
const RETRY_AFTER_S = 2

/**
 * The event, waited for when the log holds records that are not processed yet: a change before it would change nothing.
 * Throws RESOURCE_NOT_FOUND when everything is processed and it is not there, SERVICE_UNAVAILABLE when that cannot be known.
 */
export async function awaitEvent(deps: EventsDeps, tenant: Tenant, idOrReference: string): Promise<StoredEvent> {
  const hashes = hashesFor(tenant, idOrReference)
  const found = await findEvent(deps, tenant, hashes)
  if (found) return found
  const ends = await Promise.all(hashes.map(idHash => answered(deps.events.log.end(idHash))))
  const complete = await allProcessed(deps, ends, APPEARS_MS)
  const appeared = await findEvent(deps, tenant, hashes)
  if (appeared) return appeared
  if (complete) throw eventNotFound(idOrReference)
  throw retryLater('Events that were accepted are still being processed, this one may be among them; send it again.')
}

async function allProcessed(deps: EventsDeps, ends: readonly LogPosition[], timeoutMs: number): Promise<boolean> {
  const done = await Promise.all(ends.map(end => deps.events.processed(end, timeoutMs)))
  return done.every(Boolean)
}

/** What the log answers, or SERVICE_UNAVAILABLE. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (cause) {
    throw retryLater('The usage log does not answer; send it again.', cause)
  }
}

/** SERVICE_UNAVAILABLE with Retry-After: it is safe to send again. */
export const retryLater = (message: string, cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_S, cause })

/** Times of a range are whole seconds. */
const SECOND_MS = 1_000

/** Has the invoices that collect a changed event computed again, once the platform's delay has passed (semantics 1.2). */
export async function reprocessCustomerOf(uow: Uow, view: EventView, event: StoredEvent): Promise<void> {
  const customerId: string | null = view.customer_id
  if (customerId !== null)
    await scheduleReprocess(uow, {
      customerId: idOf('cust', customerId),
      from: event.timestamp,
      until: instantOf(event.timestamp + SECOND_MS),
    })
}
