// Outcomes -> lines of JSONCompactEachRow in the column order of the tables. Pure: the same batch gives the same bytes.
import { type Bucket, type BucketMark, bucketKey, type DeadLine, type EventLine, type Outcome } from '../outcome.ts'

/** Added to the sequence of a deletion: a tombstone outranks every replay of the event, whatever its sequence. */
export const TOMBSTONE_VERSION = 2n ** 62n

/** A line of usage_events: the wire line with log_partition, log_seq, log_line, version and deleted appended. */
export const eventRow = (partition: number, { text, seq, line }: EventLine): string =>
  `${text.slice(0, -1)},${partition},${seq},${line},${seq},0]`

/** A line of usage_duplicates: the wire line with its own place, the place that counts, and whether the content differs. */
export function duplicateRow(partition: number, { record, first }: Outcome & { kind: 'duplicate' }): string {
  const { text, seq, line, contentHash } = record
  const differs = contentHash === first.contentHash ? 0 : 1
  return `${text.slice(0, -1)},${partition},${seq},${line},${first.seq},${first.line},${differs}]`
}

export const deadLetterRow = (partition: number, { seq, line, reason, text }: DeadLine): string =>
  JSON.stringify([partition, seq, line, reason, text])

export const markRow = ({ bucket, partition, seq }: BucketMark): string =>
  JSON.stringify([
    bucket.platformId,
    bucket.environment,
    bucket.customerKey,
    bucket.meterReference,
    bucket.hour,
    partition,
    seq,
  ])

export type Touch = { readonly bucket: Bucket; readonly seq: number }

/** One mark for each bucket touched, at the last sequence that touched it. */
export function marksOf(partition: number, touches: Iterable<Touch>): BucketMark[] {
  const marks = new Map<string, BucketMark>()
  for (const { bucket, seq } of touches) {
    const key = bucketKey(bucket)
    const known = marks.get(key)
    if (known === undefined || known.seq < seq) marks.set(key, { bucket, partition, seq })
  }
  return [...marks.values()]
}
