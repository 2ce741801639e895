// What the steps say about a record of the log, and the words they share. Types only.
import type { Environment } from '../shared/tenant.ts'

/** A record's place in its partition: the sequence of its message and its line in it. It alone decides which copy counts. */
export type Place = { readonly seq: number; readonly line: number }

/** A message of the log as it was read. `timeMs` is when the broker stored it. */
export type LogMessage = {
  readonly seq: number
  readonly timeMs: number
  readonly bytes: number
  readonly body: string
}

/** An event line, with the fields the aggregator itself needs; `text` is stored as it stands. */
export type EventLine = Place & {
  readonly kind: 'event'
  readonly text: string
  readonly idHash: string
  readonly contentHash: string
  readonly bucket: Bucket
  /** When it was received, in whole seconds since 1970. */
  readonly receivedSecond: number
}
export type DeleteLine = Place & {
  readonly kind: 'delete'
  readonly text: string
  readonly idHash: string
  readonly platformId: string
  readonly environment: Environment
}
/** What replaces the values of an event, and its properties when it has any. */
export type AmendLine = Place & {
  readonly kind: 'amend'
  readonly text: string
  readonly idHash: string
  readonly platformId: string
  readonly environment: Environment
  /** As on the wire: seconds with three decimals. */
  readonly receivedAt: string
  readonly valueReferences: readonly string[]
  readonly valueQuantities: readonly string[]
  readonly valueCurrencies: readonly string[]
  /** Null leaves the properties as they are. */
  readonly properties: Readonly<Record<string, string>> | null
  readonly actorId: string
  readonly requestId: string
  readonly reason: string
}
/** Something that cannot be acted on; stored with its reason, never dropped. */
export type DeadLine = Place & { readonly kind: 'dead'; readonly text: string; readonly reason: DeadReason }
export type DeadReason =
  | 'NOT_A_MESSAGE'
  | 'NOT_A_RECORD'
  | 'INVALID_FIELD'
  | 'WRONG_PARTITION'
  | 'DELETE_UNKNOWN'
  | 'DELETE_NOT_FOUND'
  | 'AMEND_UNKNOWN'
  | 'AMEND_NOT_FOUND'
  | 'LOG_GAP'

/** The usage of one customer on one meter in one hour (UTC). `customerKey` is the reference or id the sender gave. */
export type Bucket = {
  readonly platformId: string
  readonly environment: string
  readonly customerKey: string
  readonly meterReference: string
  /** Epoch seconds of the start of the hour. */
  readonly hour: number
}
/** "This partition last touched this bucket at `seq`." */
export type BucketMark = { readonly bucket: Bucket; readonly partition: number; readonly seq: number }

/** The place that first carried a reference, and the content that counts. */
export type Claim = Place & { readonly idHash: string; readonly contentHash: string }

export type Outcome =
  | { readonly kind: 'keep'; readonly record: EventLine }
  | {
      readonly kind: 'duplicate'
      readonly record: EventLine
      readonly first: Claim
    }
  | { readonly kind: 'delete'; readonly record: DeleteLine }
  | { readonly kind: 'amend'; readonly record: AmendLine }
  | { readonly kind: 'dead'; readonly record: DeadLine }

/** All that one batch of a partition's messages does; writing it twice is the same as writing it once. */
export type PartitionBatch = {
  readonly partition: number
  readonly outcomes: readonly Outcome[]
  /** Where the partition stands once the batch is stored. */
  readonly position: Position
}
/** `seq` is the last message whose effects are all in ClickHouse; `streamCreated` says which stream it counts in. */
export type Position = { readonly seq: number; readonly timeMs: number; readonly streamCreated: string }

const SECONDS_PER_HOUR = 3_600

/** The bucket's hour of an instant given in seconds. */
export const hourOf = (epochSeconds: number): number => Math.floor(epochSeconds / SECONDS_PER_HOUR) * SECONDS_PER_HOUR

/** One string per bucket. The meter's length stands before it, so that no two buckets share a key whatever they are named. */
export const bucketKey = (bucket: Bucket): string =>
  `${bucket.platformId}/${bucket.environment}/${bucket.hour}/${bucket.meterReference.length}/${bucket.meterReference}/${bucket.customerKey}`

/** Compares buckets by the order in which ClickHouse keeps their rows. */
export const byPlace = (one: Bucket, other: Bucket): number =>
  compare(one.platformId, other.platformId) ||
  compare(one.environment, other.environment) ||
  compare(one.customerKey, other.customerKey) ||
  compare(one.meterReference, other.meterReference) ||
  one.hour - other.hour

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
