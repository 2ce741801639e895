// Builders the aggregator's tests share: events as the gateway writes them, and an aggregator in the test's own process.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type JetStreamClient, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { Registry } from 'prom-client'
import { streamSubject } from '../shared/contracts/streams.ts'
import {
  encodeAmend,
  encodeDelete,
  encodeEvent,
  encodeMessage,
  eventHash,
  partitionOf,
} from '../shared/contracts/usage-event.ts'
import { brokerAddress } from '../shared/log/address.ts'
import { logEnds } from '../shared/log/streams.ts'
import { silentLogger } from '../shared/process/logger.ts'
import type { Environment } from '../shared/tenant.ts'
import { systemClock } from '../shared/time.ts'
import { type ClickHouseClient, createClickHouse, selectRows } from '../shared/usage/clickhouse.ts'
import { type Aggregator, type AggregatorDeps, startAggregator } from './aggregator.ts'
import type { LeaseStore } from './leases/lease-store.ts'
import { EMPTY_TABLE, type LeaseTable } from './leases/lease-table.ts'
import { createMetrics } from './metrics.ts'

export type TestEvent = {
  reference: string
  platformId?: string
  environment?: Environment
  customerKey?: string
  meterReference?: string
  valueReference?: string
  timestampMs?: number
  receivedAtMs?: number
  quantity?: string
  currency?: string
  /** Instead of one value of `quantity`. */
  values?: readonly { reference: string; quantity: string; currency: string }[]
  subscription?: string
  properties?: Record<string, string>
}

export const TEST_TIME_MS = Date.UTC(2026, 0, 15, 10, 20, 30, 123)
export const TEST_PLATFORM = 'plat_0000000000000000000001'

export const hashOf = ({
  reference,
  platformId = TEST_PLATFORM,
  environment = 'TEST',
}: Pick<TestEvent, 'reference' | 'platformId' | 'environment'>): string => eventHash(platformId, environment, reference)

/** The wire line of an event, and the hash of its reference. */
export function eventLineOf(event: TestEvent): { line: string; idHash: string } {
  const { platformId = TEST_PLATFORM, environment = 'TEST', reference } = event
  const idHash = hashOf(event)
  const { valueReference = 'tokens', quantity = '1', currency = '' } = event
  const values = event.values ?? [{ reference: valueReference, quantity, currency }]
  const { line } = encodeEvent({
    idHash,
    platformId,
    environment,
    reference,
    customerKey: event.customerKey ?? 'customer-1',
    meterReference: event.meterReference ?? 'requests',
    timestampMs: event.timestampMs ?? TEST_TIME_MS,
    receivedAtMs: event.receivedAtMs ?? TEST_TIME_MS + 1_000,
    valueReferences: values.map(value => value.reference),
    valueQuantities: values.map(value => value.quantity),
    valueCurrencies: values.map(value => value.currency),
    properties: event.properties ?? {},
    subscription: event.subscription ?? '',
  })
  return { line, idHash }
}

export function deleteLineOf(event: TestEvent): { line: string; idHash: string } {
  const { platformId = TEST_PLATFORM, environment = 'TEST' } = event
  const idHash = hashOf(event)
  return { idHash, line: encodeDelete({ idHash, platformId, environment, receivedAtMs: TEST_TIME_MS }) }
}

/** A correction of the event of a reference; the properties stay when none are given. */
export function amendLineOf(
  of: Pick<TestEvent, 'reference' | 'platformId' | 'environment' | 'valueReference' | 'quantity'> & {
    properties?: Record<string, string> | null
  },
): { line: string; idHash: string } {
  const { platformId = TEST_PLATFORM, environment = 'TEST' } = of
  const idHash = hashOf(of)
  const line = encodeAmend({
    idHash,
    platformId,
    environment,
    receivedAtMs: TEST_TIME_MS + 2_000,
    valueReferences: [of.valueReference ?? 'tokens'],
    valueQuantities: [of.quantity ?? '1'],
    valueCurrencies: [''],
    properties: of.properties ?? null,
    actorId: 'apik_1',
    requestId: 'reqr_1',
    reason: 'counted twice by the sender',
  })
  return { idHash, line }
}

/** Message bodies by partition, cut as a gateway would: the lines of one call in order, one message a partition. */
export function messagesOf(
  lines: readonly { line: string; idHash: string }[],
  partitions: number,
): Map<number, string> {
  const byPartition = new Map<number, string[]>()
  for (const { line, idHash } of lines) {
    const partition = partitionOf(idHash, partitions)
    byPartition.set(partition, [...(byPartition.get(partition) ?? []), line])
  }
  return new Map([...byPartition].map(([partition, list]) => [partition, encodeMessage(list)]))
}

export type TestAggregator = {
  readonly client: ClickHouseClient
  readonly nats: NatsConnection
  readonly indexDirectory: string
  readonly partitions: number
  /** `over`: another folder, leases of its own, a ClickHouse behind something. */
  start(over?: Partial<AggregatorDeps>): Promise<Aggregator>
  publish(lines: readonly { line: string; idHash: string }[]): Promise<void>
  /** Resolves when all that was published is stored; rejects after `timeoutMs`, two minutes unless given. */
  settle(timeoutMs?: number): Promise<void>
  rows<Row extends readonly unknown[]>(sql: string): Promise<Row[]>
  close(): Promise<void>
}

/** Longer than a process takes to start and a lease to end, on a machine with many other tests. */
const SETTLE_MS = 120_000
const PUBLISH_MS = 60_000
const PUBLISH_PAUSE_MS = 100
/** An aggregator with a client of its own is not noticed when it stores. Each question costs the server that all tests share 5 ms. */
const SETTLE_POLL_MS = 200
const POSITIONS = /^INSERT INTO usage_positions /

/** Notices when positions are stored by this client. */
function watchPositions(client: ClickHouseClient): { next(atMostMs: number): Promise<void> } {
  const waiting = new Set<() => void>()
  const exec = client.exec.bind(client)
  client.exec = async params => {
    const result = await exec(params)
    if (POSITIONS.test(params.query)) for (const wake of [...waiting]) wake()
    return result
  }
  return {
    next: atMostMs =>
      new Promise(resolve => {
        const wake = () => {
          clearTimeout(timer)
          waiting.delete(wake)
          resolve()
        }
        // Not awaited once everything is stored.
        const timer = setTimeout(wake, atMostMs).unref()
        waiting.add(wake)
      }),
  }
}

/**
 * Puts one message into the log exactly once. A request sent while the connection to a killed broker breaks is lost without
 * an answer, so silence is asked again under the same message id, by which the broker knows what it has.
 */
async function publishOnce(js: JetStreamClient, partition: number, body: string): Promise<void> {
  const msgID = randomUUID()
  const deadline = performance.now() + PUBLISH_MS
  for (;;) {
    try {
      await js.publish(streamSubject(partition), body, { msgID, timeout: 2_000 })
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(PUBLISH_PAUSE_MS)
    }
  }
}

/** An aggregator on real servers, with its own index directory. */
export async function createTestAggregator(servers: {
  natsUrl: string
  clickhouse: { url: string; database: string }
  partitions?: number
}): Promise<TestAggregator> {
  const { natsUrl, clickhouse, partitions = 2 } = servers
  const nats = await connect({ ...brokerAddress(natsUrl), maxReconnectAttempts: -1, reconnectTimeWait: 100 })
  const jsm = await jetstreamManager(nats)
  const js = jetstream(nats)
  const client = createClickHouse(clickhouse.url, clickhouse.database)
  const positions = watchPositions(client)
  const indexDirectory = mkdtempSync(join(tmpdir(), 'millrace-index-'))
  const rows = <Row extends readonly unknown[]>(sql: string) => selectRows<Row>(client, sql)
  return {
    client,
    nats,
    indexDirectory,
    partitions,
    rows,
    start: over =>
      startAggregator({
        nats,
        client,
        clock: systemClock,
        logger: silentLogger,
        metrics: createMetrics(new Registry(), partitions),
        failpoints: () => undefined,
        partitions,
        replicas: 1,
        indexDirectory,
        ...over,
      }),
    async publish(lines) {
      for (const [partition, body] of messagesOf(lines, partitions)) await publishOnce(js, partition, body)
    },
    async settle(timeoutMs = SETTLE_MS) {
      const ends = await logEnds(jsm, partitions)
      const deadline = performance.now() + timeoutMs
      for (;;) {
        // Listens before it asks, so that what is stored meanwhile is noticed.
        const more = positions.next(SETTLE_POLL_MS)
        const stored = new Map(await rows<[number, string]>('SELECT log_partition, log_seq FROM usage_positions FINAL'))
        if ([...ends].every(([partition, end]) => Number(stored.get(partition) ?? 0) >= end)) return
        if (performance.now() > deadline)
          throw new Error(`not stored after ${timeoutMs} ms: ${[...ends]} / ${[...stored]}`)
        await more
      }
    },
    async close() {
      await nats.close()
      await client.close()
      rmSync(indexDirectory, { recursive: true })
    },
  }
}

/** Leases that nobody else sees: an aggregator with these believes to be alone, and works every partition. */
export function soleMemberLeases(): LeaseStore {
  let table: LeaseTable = EMPTY_TABLE
  let revision = 0
  return {
    read: async () => ({ table, revision }),
    async replace(next) {
      table = next
      revision += 1
      return true
    },
    announce: () => undefined,
    onAnnounce: () => () => undefined,
  }
}
