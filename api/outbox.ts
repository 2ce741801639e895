// The notice of a change, written in the unit of work of the change.
import type { Uow } from '../shared/database/database.ts'
import { type DomainEvent, writeNotices } from '../shared/database/outbox.ts'
import { realTime } from '../shared/test-time.ts'
import { formatInstant } from '../shared/time.ts'

export type { DomainEvent } from '../shared/database/outbox.ts'

/** Writes the outbox row of `event`; it becomes visible to consumers when `uow` commits. */
export const emit = (uow: Uow, event: DomainEvent): Promise<void> => emitAll(uow, [event])

/** The same of many events, in their order. */
export async function emitAll(
  { tx, tenant, actor, now, isDryRun }: Uow,
  events: readonly DomainEvent[],
): Promise<void> {
  // Nobody would ever see it.
  if (isDryRun) return
  // In real time: webhooks and the audit trail go by the day on which it happened, whatever a test clock shows.
  await writeNotices(tx, { tenant, actor, at: formatInstant(realTime(now)) }, events)
}
