// The notice of a change, written in the unit of work of the change.
import { sql } from 'drizzle-orm'
import type { Uow } from '../shared/database/database.ts'
import { type DomainEvent, writeNotice } from '../shared/database/outbox.ts'
import { formatInstant } from '../shared/time.ts'

export type { DomainEvent } from '../shared/database/outbox.ts'

/** Writes the outbox row of `event`; it becomes visible to consumers when `uow` commits. */
export const emit = ({ tx, tenant, actor, now }: Uow, event: DomainEvent): Promise<void> =>
  writeNotice(tx, { tenant, actor, at: sql`${formatInstant(now)}` }, event)
