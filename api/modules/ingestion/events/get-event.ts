// One event by its id or its reference.

import { eventHash, idHashOf } from '../../../../shared/contracts/usage-event.ts'
import { readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { FoundEvent } from '../../../usage/stored-events.ts'
import type { EventsDeps } from './list-events.ts'
import { type EventView, viewEvents } from './view-events.ts'

/** The id hashes a text may stand for, in the order they are tried: a reference may look like an id. */
export function hashesFor({ platformId, environment }: Tenant, idOrReference: string): string[] {
  const idHash = idHashOf(idOrReference)
  return [...(idHash === null ? [] : [idHash]), eventHash(platformId, environment, idOrReference)]
}

/** The event that counts; null when this tenant has none that ClickHouse knows. */
export async function findEvent(
  deps: EventsDeps,
  tenant: Tenant,
  hashes: readonly string[],
): Promise<FoundEvent | null> {
  for (const idHash of hashes) {
    const event = await deps.events.find(tenant, idHash)
    if (event) return event
  }
  return null
}

/** The refusal for an event that is not there: the same for another tenant's as for none. */
export const eventNotFound = (idOrReference: string): AppError =>
  new AppError('RESOURCE_NOT_FOUND', `There is no METER_DATA ${JSON.stringify(idOrReference)}.`, {
    resourceType: 'METER_DATA',
  })

/** The view of one event. Throws RESOURCE_NOT_FOUND. */
export async function getEvent(
  deps: EventsDeps,
  tenant: Tenant,
  of: { readonly idOrReference: string; readonly withCustomer: boolean },
): Promise<EventView> {
  const event = await findEvent(deps, tenant, hashesFor(tenant, of.idOrReference))
  if (!event) throw eventNotFound(of.idOrReference)
  const [view] = await readTenant(deps.database, tenant, uow =>
    viewEvents(uow, [event], { withCustomer: of.withCustomer }),
  )
  if (!view) throw new Error('one event has one view')
  return view
}
