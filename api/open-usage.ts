// The connections through which the api and its worker read usage: ClickHouse for the figures, the log for how far they must be.
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connectToBroker, untilBrokerAnswers } from '../shared/log/connect.ts'
import type { Logger } from '../shared/process/logger.ts'
import { type ClickHouseClient, createClickHouse } from '../shared/usage/clickhouse.ts'
import { createUsageReader, type UsageReader } from './modules/billing/usage/usage-reader.ts'
import { createEventLog } from './usage/event-log.ts'
import { createEventStore, type EventStore } from './usage/event-store.ts'

export type UsageSettings = {
  readonly CLICKHOUSE_URL: string
  readonly CLICKHOUSE_DATABASE: string
  readonly NATS_URL: string
  readonly PARTITIONS: number
}

export type UsageConnections = {
  readonly client: ClickHouseClient
  readonly usage: UsageReader
  readonly events: EventStore
  /** Why the log cannot be reached now; null when it can. */
  logFault(): string | null
  close(): Promise<void>
}

/** So that a call which asks it twice is still answered within 5 s when it hangs. */
const BROKER_ANSWER_MS = 2_000

/**
 * Connects. NATS must answer at the start; later an outage of it or of ClickHouse is outlived. Questions that take longer than
 * `statementMs` are given up; a process that answers requests gives it.
 */
export async function openUsage(
  settings: UsageSettings,
  process: { readonly name: string; readonly logger: Logger },
  statementMs?: number,
): Promise<UsageConnections> {
  const nats = await connectToBroker({ url: settings.NATS_URL, maxReconnectAttempts: -1, ...process })
  const jsm = await untilBrokerAnswers(() => jetstreamManager(nats, { timeout: BROKER_ANSWER_MS }), process.logger)
  const client = createClickHouse(settings.CLICKHOUSE_URL, settings.CLICKHOUSE_DATABASE, { statementMs })
  return {
    client,
    usage: createUsageReader({
      client,
      jsm,
      partitions: settings.PARTITIONS,
      answersRequests: statementMs !== undefined,
    }),
    events: createEventStore(
      client,
      createEventLog({ js: jetstream(nats, { timeout: BROKER_ANSWER_MS }), jsm, partitions: settings.PARTITIONS }),
    ),
    logFault: () => (nats.isClosed() ? 'the connection to NATS is closed' : null),
    close: async () => {
      await client.close()
      await nats.close()
    },
  }
}
