// The corrections of an event as the trace shows them.
import type { ReadUow } from '../../../../shared/database/database.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { Row } from '../../../resource/define-resource.ts'
import type { StoredAmendment } from '../../../usage/amendments.ts'
import { placeText, type StoredEvent } from '../../../usage/stored-events.ts'
import { viewEvents } from './view-events.ts'

/** The views of the amendments of `event`, in their order. */
export async function viewAmendments(
  uow: ReadUow,
  event: StoredEvent,
  amendments: readonly StoredAmendment[],
): Promise<Row[]> {
  if (amendments.length === 0) return []
  const states = amendments.flatMap(({ after, before }) => [
    { ...event, ...after },
    { ...event, ...before },
  ])
  const views = await viewEvents(uow, states)
  return amendments.map((amendment, index) => {
    const [after, before] = [views[2 * index], views[2 * index + 1]]
    return {
      log_position: placeText(amendment.place),
      amended_at: formatInstant(amendment.receivedAt),
      user_id: amendment.actorId || null,
      request_id: amendment.requestId || null,
      reason: amendment.reason || null,
      meter_values: after?.meter_values,
      meter_properties: after?.meter_properties,
      previous_meter_values: before?.meter_values,
      previous_meter_properties: before?.meter_properties,
      applied: amendment.applied,
    }
  })
}
