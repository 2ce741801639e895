// What the gateway measures. The hot path only adds to plain numbers; Prometheus objects are filled when they are read.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { measureLog } from '../shared/process/logger.ts'
import type { PublishCounts } from './events/publish.ts'
import type { Connections } from './http/connections.ts'

export type IngestCounts = {
  acceptedRequests: number
  acceptedEvents: number
  /** By platform and environment, at most THROTTLED_MAX of them. */
  readonly throttledEvents: Map<string, Throttled>
  /** Whether an ack outlives the loss of a machine, as found at the start. */
  ackDurable: boolean
  /** Null until the server listens. */
  connections: Pick<Connections, 'max' | 'open' | 'refused'> | null
  /** Refused requests by error code. */
  readonly refused: Map<string, number>
}

type Throttled = { readonly platform: string; readonly environment: string; events: number }

/** Series of one metric; tenants beyond it share one, so that a scrape stays small however many there are. */
const THROTTLED_MAX = 500

/** Counts events over their platform's limit. */
export function countThrottled(
  counts: IngestCounts,
  of: { platformId: string; environment: string },
  events: number,
): void {
  const { throttledEvents } = counts
  const own = `${of.platformId} ${of.environment}`
  const known = throttledEvents.get(own)
  if (known) {
    known.events += events
    return
  }
  const isFull = throttledEvents.size >= THROTTLED_MAX
  const platform = isFull ? 'other' : of.platformId
  const environment = isFull ? 'other' : of.environment
  const rest = throttledEvents.get(`${platform} ${environment}`)
  if (rest) rest.events += events
  else throttledEvents.set(`${platform} ${environment}`, { platform, environment, events })
}

export const newCounts = (): IngestCounts => ({
  acceptedRequests: 0,
  acceptedEvents: 0,
  throttledEvents: new Map(),
  ackDurable: false,
  connections: null,
  refused: new Map(),
})

export type IngestMetrics = {
  readonly registry: Registry
  /** Observes one published message: lines in it, and seconds until its ack. */
  observeMessage(lines: number, seconds: number): void
}

/** A registry over the given counts. */
export function createMetrics(counts: IngestCounts, published: PublishCounts, gateways: () => number): IngestMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  measureLog(registry)
  const counter = (name: string, help: string, read: () => number): void => {
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read())
      },
    })
  }
  counter('millrace_ingest_requests_accepted_total', 'Requests answered 201.', () => counts.acceptedRequests)
  counter('millrace_ingest_events_accepted_total', 'Events in requests answered 201.', () => counts.acceptedEvents)
  counter('millrace_ingest_duplicates_recent_total', 'Identical repeats spared the log.', () => published.sparedRecent)
  counter(
    'millrace_ingest_duplicates_in_flight_total',
    'Identical repeats that waited for the ack of the first.',
    () => published.sparedInFlight,
  )
  counter('millrace_ingest_messages_total', 'Messages published.', () => published.messages)
  counter('millrace_ingest_messages_failed_total', 'Messages without an ack.', () => published.messagesFailed)
  counter('millrace_ingest_lines_acked_total', 'Lines in acknowledged messages.', () => published.linesAcked)
  gauge('millrace_ingest_ack_durable', '1 when an ack means synced on three replicas, as found at the start.', () =>
    counts.ackDurable ? 1 : 0,
  )
  gauge('millrace_ingest_bytes_queued', 'Bytes of lines waiting for a message.', () => published.bytesQueued)
  gauge('millrace_ingest_bytes_in_flight', 'Bytes of lines waiting for an ack.', () => published.bytesInFlight)
  gauge('millrace_ingest_gateways', 'Gateways that share the rate limits, as this one sees them.', gateways)
  gauge('millrace_ingest_connections', 'Connections open at the gateway.', () => counts.connections?.open() ?? 0)
  gauge('millrace_ingest_connections_max', 'Connections that may be open.', () => counts.connections?.max ?? 0)
  counter(
    'millrace_ingest_connections_refused_total',
    'Connections beyond the bound that were closed.',
    () => counts.connections?.refused() ?? 0,
  )
  new Counter({
    name: 'millrace_ingest_requests_refused_total',
    help: 'Requests refused, by error code.',
    labelNames: ['code'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [code, count] of counts.refused) this.inc({ code }, count)
    },
  })
  new Counter({
    name: 'millrace_ingest_events_throttled_total',
    help: 'Events in requests answered 429, by platform and environment.',
    labelNames: ['platform', 'environment'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { platform, environment, events } of counts.throttledEvents.values())
        this.inc({ platform, environment }, events)
    },
  })
  const latency = new Histogram({
    name: 'millrace_ingest_publish_seconds',
    help: 'From publish to ack of a message.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  })
  const size = new Histogram({
    name: 'millrace_ingest_message_lines',
    help: 'Lines in a message.',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
    registers: [registry],
  })
  return {
    registry,
    observeMessage: (lines, seconds) => {
      size.observe(lines)
      latency.observe(seconds)
    },
  }
}
