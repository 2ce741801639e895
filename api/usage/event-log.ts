// The api's end of the usage log: how far it goes for one reference, and the record that stops an event counting.
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { streamName, streamSubject } from '../../shared/contracts/streams.ts'
import {
  type DeleteRecord,
  decodeMessage,
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
  /** When the broker took the event; null when the log no longer holds it. */
  takenAt(event: Pick<EventKey, 'idHash' | 'place'>): Promise<Instant | null>
}

const ACK_TIMEOUT_MS = 2_000

/** Every method rejects when the broker does not answer; of a deletion nobody then knows whether the log holds it. */
export function createEventLog(deps: {
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  readonly partitions: number
}): EventLog {
  return {
    end: async idHash => {
      const partition = partitionOf(idHash, deps.partitions)
      return { partition, seq: (await streamState(deps.jsm, partition)).lastSeq }
    },
    publishDeletion: async record => {
      const partition = partitionOf(record.idHash, deps.partitions)
      const { seq } = await deps.js.publish(streamSubject(partition), encodeMessage([encodeDelete(record)]), {
        // A deletion is never needed twice: one that is sent again while the broker remembers it is told its first position.
        msgID: `delete-${record.idHash}`,
        timeout: ACK_TIMEOUT_MS,
        retries: 1,
        expect: { streamName: streamName(partition) },
      })
      return { partition, seq }
    },
    takenAt: async ({ idHash, place }) => {
      const message = await deps.jsm.streams.getMessage(streamName(place.partition), { seq: place.seq })
      // A stream that was made anew counts from one again: what stands there now may be something else.
      const line = message === null ? undefined : decodeMessage(message.string())[place.line]
      if (message === null || line === undefined || hashesOf(line).idHash !== idHash) return null
      return instantOf(message.time.getTime())
    },
  }
}
