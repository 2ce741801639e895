// What the tests of single events share: the api in the test's own process, with the log, the aggregator and ClickHouse.
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { Aggregator } from '../../../aggregator/aggregator.ts'
import { createTestAggregator, eventLineOf, type TestAggregator, type TestEvent } from '../../../aggregator/testing.ts'
import type { BillingDeps } from '../../../api/modules/billing/run/compute-invoice.ts'
import { type Billed, billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import { createUsageReader } from '../../../api/modules/billing/usage/usage-reader.ts'
import { type ApiHarness, startApi, startOwnApi, type TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { createEventLog, type EventLog } from '../../../api/usage/event-log.ts'
import { createEventStore, type EventStore } from '../../../api/usage/event-store.ts'
import { eventHash, eventId } from '../../../shared/contracts/usage-event.ts'
import { ensureStreams } from '../../../shared/log/streams.ts'
import { createTestClickHouse, type TestClickHouse } from '../../../shared/testing/clickhouse.ts'
import { startTestNats } from '../../../shared/testing/nats.ts'

/** When the subscriptions of these tests start. */
export const START = '2026-03-01T00:00:00Z'
export const ms = (text: string): number => Date.parse(text)
/** The time the api thinks it is. */
export const NOW = ms('2026-03-20T00:00:00Z')
export const PATHS = ['/v1/events', '/v1/ingest/meter-data'] as const

/** An event of `of` in its first period. */
export const tokensOf = (of: Billed, name: string) => ({
  reference: name,
  customerKey: of.customerReference,
  meterReference: of.meterReference,
  valueReference: of.valueReference,
  timestampMs: ms('2026-03-04T00:00:00Z'),
  quantity: '1000',
})

export type EventsRig = {
  readonly api: ApiHarness
  readonly aggregator: TestAggregator
  readonly log: EventLog
  readonly events: EventStore
  readonly tenant: TestTenant
  readonly billing: BillingDeps
  /** A subscription whose customer and meter events are of, unless they say otherwise. */
  readonly billed: Billed
  /** Publishes events of the tenant as the gateway would, one message each. */
  publish(...events: TestEvent[]): Promise<void>
  /** As publish, and waits until they are stored. */
  send(...events: TestEvent[]): Promise<void>
  /** A reference no other call gives. */
  reference(): string
  idOf(reference: string): string
  list(query: string): Promise<Row>
  references(query: string): Promise<string[]>
  /** Why an event is not billed, or its type. */
  variantOf(reference: string): Promise<unknown>
  startAggregator(): Promise<void>
  stopAggregator(): Promise<void>
  close(): Promise<void>
}

/**
 * `ownDatabase`: for a test of what works on the rows of every tenant, such as the relay. `clickhouse`: for a test that changes its tables;
 * it is dropped when the rig closes.
 */
export async function openEventsRig({
  ownDatabase = false,
  clickhouse: given,
}: {
  readonly ownDatabase?: boolean
  readonly clickhouse?: TestClickHouse
} = {}): Promise<EventsRig> {
  const nats = await startTestNats()
  const clickhouse = given ?? (await createTestClickHouse())
  const aggregator = await createTestAggregator({ natsUrl: nats.url, clickhouse })
  const { client, partitions } = aggregator
  const jsm = await jetstreamManager(aggregator.nats)
  await ensureStreams(jsm, { partitions, replicas: 1 })
  const log = createEventLog({ js: jetstream(aggregator.nats), jsm, partitions })
  const usage = createUsageReader({ client, jsm, partitions })
  const events = createEventStore(client, log)
  const api = await (ownDatabase ? startOwnApi : startApi)({ usage, events })
  api.clock.set(NOW)
  const tenant = api.tenants.aLive
  const billed = await billedSubscription(tenant, { start_at: START })
  let running: Aggregator | null = await aggregator.start()
  const rig: EventsRig = {
    api,
    aggregator,
    log,
    events,
    tenant,
    billing: { database: api.database, usage },
    billed,
    publish: async (...sent) => {
      const of = { customerKey: billed.customerReference, meterReference: billed.meterReference }
      for (const event of sent) await aggregator.publish([eventLineOf({ ...of, ...event, ...tenant.tenant })])
    },
    send: async (...sent) => {
      await rig.publish(...sent)
      await aggregator.settle()
    },
    reference: () => tenant.seed.unique('event'),
    idOf: reference => eventId(eventHash(tenant.tenant.platformId, tenant.tenant.environment, reference)),
    list: query => succeed(tenant, 'GET', `/v1/events?${query}`),
    references: async query => (await rig.list(query))['data'].map((event: Row) => event['reference']),
    variantOf: async reference => {
      const { processed_details: details } = await succeed(tenant, 'GET', `/v1/events/${reference}`)
      return details.not_matched?.variant ?? details.type
    },
    startAggregator: async () => {
      running ??= await aggregator.start()
    },
    stopAggregator: async () => {
      await running?.stop()
      running = null
    },
    close: async () => {
      await rig.stopAggregator()
      await api.close()
      await aggregator.close()
      await nats.stop()
      await clickhouse.drop()
    },
  }
  return rig
}
