// The notice of a change, written in the unit of work of the change.
import { sql } from 'drizzle-orm'
import type { Uow } from '../shared/database/database.ts'
import { type DomainEvent, writeNotices } from '../shared/database/outbox.ts'
import { formatInstant } from '../shared/time.ts'

export type { DomainEvent } from '../shared/database/outbox.ts'

/** Writes the outbox row of `event`; it becomes visible to consumers when `uow` commits. */
export const emit = (uow: Uow, event: DomainEvent): Promise<void> => emitAll(uow, [event])

/** The same of many events, in their order. */
export const emitAll = ({ tx, tenant, actor, now }: Uow, events: readonly DomainEvent[]): Promise<void> =>
  writeNotices(tx, { tenant, actor, at: sql`${formatInstant(now)}` }, events)
