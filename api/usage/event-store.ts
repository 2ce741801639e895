// What the calls on single events ask of usage: reads, and how far the log is processed.
import { ClickHouseError } from '@clickhouse/client'
import { AppError } from '../../shared/errors.ts'
import type { Tenant } from '../../shared/tenant.ts'
import type { Instant, Interval } from '../../shared/time.ts'
import { type ClickHouseClient, isTooLong } from '../../shared/usage/clickhouse.ts'
import { loadAmendments, type StoredAmendment } from './amendments.ts'
import { usageReadTimedOut } from './answered.ts'
import { type EventCursor, type EventPosition, findPosition } from './event-cursor.ts'
import type { EventLog, LogPosition } from './event-log.ts'
import { findUsedIds } from './known-references.ts'
import { countStoredEvents, listStoredEvents, readBeyond } from './list/list-stored-events.ts'
import type { EventFilter } from './list/sources.ts'
import { receivedEvents, repeatsByMinute } from './received-events.ts'
import { type EventKey, type FoundEvent, findStoredEvent, type StoredEvent } from './stored-events.ts'
import { waitForUsage } from './up-to-date.ts'

export type EventPage = {
  readonly filter: EventFilter
  readonly now: Instant
  readonly limit: number
  readonly offset: number
}

export type EventStore = {
  /** The event that counts for this id, deleted or not; null when the tenant has none. */
  find(tenant: Tenant, idHash: string): Promise<FoundEvent | null>
  /** Those of these ids that the tenant has an event of, deleted or not. */
  used(tenant: Tenant, idHashes: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * A page of the records that match, newest first; `ended` when it is known that none follows it, and how many match where the store
   * counted them.
   */
  list(
    tenant: Tenant,
    page: EventPage,
  ): Promise<{ events: readonly StoredEvent[]; ended: boolean; total: number | null }>
  /** How many records match, no further than LIST_DEPTH. */
  count(tenant: Tenant, filter: EventFilter): Promise<number>
  /** Where the record stands that a cursor names; null when the tenant has none. */
  position(tenant: Tenant, cursor: EventCursor): Promise<EventPosition | null>
  /** At most `limit` of the records that match on one side of a position, the nearest first. */
  beyond(
    tenant: Tenant,
    of: {
      readonly filter: EventFilter
      readonly position: EventPosition
      readonly side: 'OLDER' | 'NEWER'
      readonly limit: number
    },
  ): Promise<readonly StoredEvent[]>
  /** The amendments of an event in the order in which they took effect. */
  amendments(tenant: Tenant, idHash: string): Promise<readonly StoredAmendment[]>
  /** Waits until the log has been processed up to a position; false when that took longer than `timeoutMs`. */
  processed(position: LogPosition, timeoutMs: number): Promise<boolean>
  /** Repeats that reached the log, by the minute in which they were received. */
  repeatsByMinute(tenant: Tenant, within: Interval): Promise<ReadonlyMap<Instant, number>>
  /** The events that count and were received in this time, the last received first; at most `limit`. */
  received(tenant: Tenant, of: { readonly within: Interval; readonly limit: number }): Promise<readonly EventKey[]>
  readonly log: EventLog
}

export const createEventStore = (client: ClickHouseClient, log: EventLog): EventStore => ({
  find: (tenant, idHash) => answered(findStoredEvent(client, tenant, idHash)),
  used: (tenant, idHashes) => answered(findUsedIds(client, tenant, idHashes)),
  list: (tenant, page) => answered(listStoredEvents(client, tenant, page)),
  count: (tenant, filter) => answered(countStoredEvents(client, tenant, filter)),
  position: (tenant, cursor) => answered(findPosition(client, tenant, cursor)),
  beyond: (tenant, of) => answered(readBeyond(client, tenant, of)),
  repeatsByMinute: (tenant, within) => answered(repeatsByMinute(client, tenant, within)),
  received: (tenant, of) => answered(receivedEvents(client, tenant, of)),
  amendments: (tenant, idHash) => answered(loadAmendments(client, tenant, idHash)),
  processed: ({ partition, seq }, timeoutMs) =>
    answered(waitForUsage(client, { ends: new Map([[partition, seq]]), timeoutMs })),
  log,
})

const TOO_MUCH =
  'There is too much to look through: narrow the list by customer_id, reference or timestamp, or send it again later.'
const RETRY_AFTER_S = 2

/** What ClickHouse answers; as a refusal when it is away, or gave a read up because there is too much to look through. */
async function answered<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (cause) {
    if (isTooLong(cause)) throw usageReadTimedOut(TOO_MUCH, cause)
    // A driver error of the connection has a code of the system; anything else is a bug, and stays one.
    if (!(cause instanceof ClickHouseError) && cause instanceof Error && 'code' in cause) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Usage cannot be read right now; send it again.', {
        retryAfterSeconds: RETRY_AFTER_S,
        cause,
      })
    }
    throw cause
  }
}
