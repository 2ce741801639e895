// The lease table in the broker: the last message of one subject, replaced only by a process that read the one before. It is kept
// where the log is, because without the log there is no work to share out.
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { EMPTY_TABLE, type LeaseTable } from './lease-table.ts'

export type ReadTable = { readonly table: LeaseTable; readonly revision: number }
export type LeaseStore = {
  read(): Promise<ReadTable>
  /** Replaces the table read at `revision`; false when another process did so first. */
  replace(table: LeaseTable, revision: number): Promise<boolean>
  /** Tells the other aggregators to look now. */
  announce(): void
  /** Calls back whenever another aggregator announces; returns what ends it. */
  onAnnounce(callback: () => void): () => void
}

const STREAM = 'AGGREGATOR_LEASES'
const SUBJECT = 'aggregator.leases'
const ANNOUNCE_SUBJECT = 'aggregator.leases-changed'
const ANSWER_WITHIN_MS = 2_000
/** What the server answers when a stream of this name exists with other settings. */
const STREAM_NAME_IN_USE = 10058

/** The table in this broker; its stream is made when it is missing. */
export async function openLeaseStore(
  nats: NatsConnection,
  jsm: JetStreamManager,
  replicas: number,
): Promise<LeaseStore> {
  const js = jetstream(nats, { timeout: ANSWER_WITHIN_MS })
  const ensure = () => ensureStream(jsm, replicas)
  await ensure()
  return {
    async read() {
      const message = await jsm.streams.getMessage(STREAM, { last_by_subj: SUBJECT }).catch(async error => {
        if (!isApiError(error, JetStreamApiCodes.StreamNotFound)) throw error
        await ensure() // Someone removed it, or the broker lost its disk: the table begins again.
        return null
      })
      return message === null ? { table: EMPTY_TABLE, revision: 0 } : { table: message.json(), revision: message.seq }
    },
    async replace(table, revision) {
      try {
        await js.publish(SUBJECT, JSON.stringify(table), {
          expect: { lastSubjectSequence: revision },
          timeout: ANSWER_WITHIN_MS,
        })
        return true
      } catch (error) {
        const { StreamWrongLastSequence, StreamWrongLastSequenceUnknown } = JetStreamApiCodes
        if (isApiError(error, StreamWrongLastSequence) || isApiError(error, StreamWrongLastSequenceUnknown))
          return false
        throw error
      }
    },
    announce: () => nats.publish(ANNOUNCE_SUBJECT),
    onAnnounce(callback) {
      const subscription = nats.subscribe(ANNOUNCE_SUBJECT, { callback: () => callback() })
      return () => subscription.unsubscribe()
    },
  }
}

async function ensureStream(jsm: JetStreamManager, replicas: number): Promise<void> {
  const settings = {
    name: STREAM,
    subjects: [SUBJECT],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    max_msgs_per_subject: 1,
    num_replicas: replicas,
  }
  try {
    await jsm.streams.add(settings)
  } catch (error) {
    if (!isApiError(error, STREAM_NAME_IN_USE)) throw error
    await jsm.streams.update(STREAM, { num_replicas: replicas }) // It was made with another number of replicas.
  }
}

const isApiError = (error: unknown, code: number): boolean => error instanceof JetStreamApiError && error.code === code
