// Names in the usage log: one JetStream stream a partition, each with one subject, totally ordered.

export const streamName = (partition: number): string => `USAGE_${partition}`
export const streamSubject = (partition: number): string => `usage.${partition}`

/** Days a stream keeps its messages: long enough to rebuild or replay, whatever else was down (security 6.2). */
export const STREAM_DAYS = 14
/** Largest message the gateway publishes; NATS itself refuses above 1 MiB unless configured otherwise. */
export const MESSAGE_BYTES_MAX = 900_000
