// Creates and checks the streams of the usage log; the gateway and the aggregator call it when they start.
import { DiscardPolicy, type JetStreamManager, RetentionPolicy, StorageType, type StreamInfo } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { STREAM_DAYS, streamName, streamSubject } from '../contracts/streams.ts'

export type LogShape = { readonly partitions: number; readonly replicas: number }
/** Where one partition of the log starts and ends, and which stream it is: `created` changes when a stream is replaced. */
export type StreamState = {
  readonly partition: number
  readonly created: string
  readonly firstSeq: number
  readonly lastSeq: number
}

const DAY_MS = 86_400_000
const DUPLICATE_WINDOW_MS = 120_000
const USAGE_STREAM = /^USAGE_([0-9]+)$/

// The description carries the number of partitions, so that a start with another number is refused, and a start that was
// killed half-way through creating them is recognised and finished.
const description = (partition: number, partitions: number): string =>
  `Millrace usage log, partition ${partition} of ${partitions}`

const settingsOf = (partition: number, shape: LogShape) => ({
  description: description(partition, shape.partitions),
  subjects: [streamSubject(partition)],
  num_replicas: shape.replicas,
  max_age: nanos(STREAM_DAYS * DAY_MS),
  // A full store refuses the publish, the gateway answers 503, and nothing that was accepted is pushed out.
  discard: DiscardPolicy.New,
  duplicate_window: nanos(DUPLICATE_WINDOW_MS),
})

/**
 * Makes every USAGE_p stream exist with the settings of this build. Throws when streams of another number of partitions
 * exist: a reference must stay in its partition for ever.
 */
export async function ensureStreams(jsm: JetStreamManager, shape: LogShape): Promise<void> {
  const existing = await listUsageStreams(jsm)
  for (const [partition, info] of existing) {
    if (info.config.description === description(partition, shape.partitions)) continue
    throw new Error(
      `PARTITIONS=${shape.partitions} does not match stream ${info.config.name} (${info.config.description ?? 'no description'}). ` +
        'The number of partitions is fixed once the streams exist: set PARTITIONS back.',
    )
  }
  for (let partition = 0; partition < shape.partitions; partition += 1) {
    const wanted = settingsOf(partition, shape)
    const info = existing.get(partition)
    if (!info) {
      // Adding the same stream twice is not an error, so processes that start together do not trip over each other.
      await jsm.streams.add({
        name: streamName(partition),
        retention: RetentionPolicy.Limits,
        storage: StorageType.File,
        ...wanted,
      })
    } else if (differs(info, wanted)) {
      await jsm.streams.update(streamName(partition), wanted)
    }
  }
}

async function listUsageStreams(jsm: JetStreamManager): Promise<Map<number, StreamInfo>> {
  const found = new Map<number, StreamInfo>()
  for await (const info of jsm.streams.list()) {
    const match = USAGE_STREAM.exec(info.config.name)
    if (match) found.set(Number(match[1]), info)
  }
  return found
}

const differs = ({ config }: StreamInfo, wanted: ReturnType<typeof settingsOf>): boolean =>
  config.num_replicas !== wanted.num_replicas ||
  config.max_age !== wanted.max_age ||
  config.discard !== wanted.discard ||
  config.duplicate_window !== wanted.duplicate_window

/** The state of one partition's stream. Throws when the stream is missing. */
export async function streamState(jsm: JetStreamManager, partition: number): Promise<StreamState> {
  const { created, state } = await jsm.streams.info(streamName(partition))
  return { partition, created, firstSeq: state.first_seq, lastSeq: state.last_seq }
}

/** The last position of every partition: what a reader must have processed to know all that was accepted before. */
export async function logEnds(jsm: JetStreamManager, partitions: number): Promise<Map<number, number>> {
  const ends = await Promise.all(Array.from({ length: partitions }, (_, partition) => streamState(jsm, partition)))
  return new Map(ends.map(state => [state.partition, state.lastSeq]))
}

/** When the broker took the first message a partition still holds, epoch milliseconds. Throws when it holds none. */
export async function firstMessageAt(jsm: JetStreamManager, partition: number): Promise<number> {
  const { state } = await jsm.streams.info(streamName(partition))
  if (state.messages === 0) throw new Error(`${streamName(partition)} holds no message`)
  return Date.parse(state.first_ts)
}

/** When the broker took the first message after this position, epoch milliseconds; null when the partition holds none. */
export async function messageAfterAt(
  jsm: JetStreamManager,
  { partition, seq }: { readonly partition: number; readonly seq: number },
): Promise<number | null> {
  const query = { seq: seq + 1, next_by_subj: streamSubject(partition) }
  const message = await jsm.streams.getMessage(streamName(partition), query)
  return message === null ? null : message.time.getTime()
}
