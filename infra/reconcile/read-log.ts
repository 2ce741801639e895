// One partition of the usage log, from its first message to a given position, in chunks of bounded size.
import { DeliverPolicy, type JetStreamClient } from '@nats-io/jetstream'
import type { LogMessage } from '../../aggregator/outcome.ts'
import { decodeLogMessage, type LogRecord, type PartitionOfLog } from '../../aggregator/steps/decode.ts'
import { streamName } from '../../shared/contracts/streams.ts'

export type LogChunk = {
  /** Positions the chunk speaks of, both ends included: a position without a message is one the log no longer has. */
  readonly from: number
  readonly to: number
  readonly records: readonly LogRecord[]
}

/** Held at a time; with the rows they are compared with a few hundred megabytes at most. */
const RECORDS_MAX = 50_000
const BYTES_MAX = 24 * 1024 * 1024
const PULL_MESSAGES = 64
/** Longer than any pause of a broker that is only slow. */
const SILENCE_MS = 30_000

/** Throws when the log falls silent before `to`, and on a format this build does not know. */
export async function* readChunks(
  js: JetStreamClient,
  log: PartitionOfLog,
  range: { readonly from: number; readonly to: number },
): AsyncGenerator<LogChunk> {
  if (range.from > range.to) return
  const consumer = await js.consumers.get(streamName(log.partition), {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: range.from,
  })
  const messages = await consumer.consume({ max_messages: PULL_MESSAGES })
  let heardAt = performance.now()
  let silent = false
  const watch = setInterval(() => {
    silent = performance.now() - heardAt > SILENCE_MS
    if (silent) messages.stop()
  }, 1_000)
  try {
    let chunk = { from: range.from, records: [] as LogRecord[], bytes: 0 }
    for await (const message of messages) {
      heardAt = performance.now()
      if (message.seq > range.to) break
      const body = message.string()
      const read: LogMessage = { seq: message.seq, timeMs: message.time.getTime(), bytes: message.data.length, body }
      for (const record of decodeLogMessage(read, log)) chunk.records.push(record)
      chunk.bytes += message.data.length
      if (message.seq === range.to) break
      if (chunk.records.length >= RECORDS_MAX || chunk.bytes >= BYTES_MAX) {
        yield { from: chunk.from, to: message.seq, records: chunk.records }
        chunk = { from: message.seq + 1, records: [], bytes: 0 }
        heardAt = performance.now()
      }
    }
    if (silent) throw new Error(`${streamName(log.partition)} gave nothing for ${SILENCE_MS / 1000} s`)
    yield { from: chunk.from, to: range.to, records: chunk.records }
  } finally {
    clearInterval(watch)
    await messages.close()
  }
}
