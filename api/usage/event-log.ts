// The api's end of the usage log: how far it goes for one reference, and the records that delete and amend an event.
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { streamName, streamSubject } from '../../shared/contracts/streams.ts'
import {
  type AmendRecord,
  type DeleteRecord,
  decodeMessage,
  encodeAmend,
  encodeDelete,
  encodeMessage,
  hashesOf,
  partitionOf,
} from '../../shared/contracts/usage-event.ts'
import { streamState } from '../../shared/log/streams.ts'
import { type Instant, instantOf } from '../../shared/time.ts'
import type { EventKey } from './stored-events.ts'

/** A position in one partition of the log. */
export type LogPosition = { readonly partition: number; readonly seq: number }

export type EventLog = {
  /** The last position of the partition this id belongs to: everything accepted for it so far stands at or before it. */
  end(idHash: string): Promise<LogPosition>
  /** Publishes a deletion and gives the position it stands at, once the broker has acknowledged it. */
  publishDeletion(record: DeleteRecord): Promise<LogPosition>
  /**
   * Publishes an amendment and gives the position it stands at. One that is sent again under the same `key` while the broker
   * remembers it gets its first position.
   */
  publishAmendment(record: AmendRecord, key: string): Promise<LogPosition>
  /** When the broker took the event; null when the log no longer holds it. */
  takenAt(event: Pick<EventKey, 'idHash' | 'place'>): Promise<Instant | null>
}

const ACK_TIMEOUT_MS = 2_000

/** Every method rejects when the broker does not answer; of a deletion or an amendment nobody then knows whether the log holds it. */
export function createEventLog(deps: {
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  readonly partitions: number
}): EventLog {
  const publish = async (idHash: string, line: string, msgID: string): Promise<LogPosition> => {
    const partition = partitionOf(idHash, deps.partitions)
    const { seq } = await deps.js.publish(streamSubject(partition), encodeMessage([line]), {
      msgID,
      timeout: ACK_TIMEOUT_MS,
      retries: 1,
      expect: { streamName: streamName(partition) },
    })
    return { partition, seq }
  }
  return {
    end: async idHash => {
      const partition = partitionOf(idHash, deps.partitions)
      return { partition, seq: (await streamState(deps.jsm, partition)).lastSeq }
    },
    // A deletion is never needed twice: one that is sent again while the broker remembers it gets its first position.
    publishDeletion: record => publish(record.idHash, encodeDelete(record), `delete-${record.idHash}`),
    publishAmendment: (record, key) => publish(record.idHash, encodeAmend(record), `amend-${record.idHash}-${key}`),
    takenAt: async ({ idHash, place }) => {
      const message = await deps.jsm.streams.getMessage(streamName(place.partition), { seq: place.seq })
      // A stream that was made anew counts from one again: what stands there now may be something else.
      const line = message === null ? undefined : decodeMessage(message.string())[place.line]
      if (message === null || line === undefined || hashesOf(line).idHash !== idHash) return null
      return instantOf(message.time.getTime())
    },
  }
}
