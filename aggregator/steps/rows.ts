// Outcomes -> lines of JSONCompactEachRow in the column order of the tables. Pure: the same batch gives the same bytes.
import {
  type Bucket,
  type BucketMark,
  bucketKey,
  type DeadLine,
  type EventLine,
  type Outcome,
  type Place,
} from '../outcome.ts'

const TOMBSTONE = 2n ** 62n
/** The least version of what was changed. */
export const AMENDMENT = 2n ** 61n
/** More lines than a message can hold, so that two places never share a version. */
const LINES_MAX = 2n ** 20n
const order = ({ seq, line }: Place): bigint => BigInt(seq) * LINES_MAX + BigInt(line)

/** The version of a deleted row: it outranks every replay of the event and every amendment of it. */
export const tombstoneVersion = (deletion: Place): bigint => TOMBSTONE + order(deletion)
/** The version of an amended row: it outranks the event, which stands before it, and the amendments that stand before it. */
export const amendmentVersion = (amendment: Place): bigint => AMENDMENT + order(amendment)

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
