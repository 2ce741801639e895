// What the tests of files share: the api, the gateway, the aggregator and the worker's jobs in the test's own process, over real
// servers.

import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Registry } from 'prom-client'
import { Pool } from 'undici'
import { createTestAggregator, type TestAggregator } from '../../../aggregator/testing.ts'
import { prepareJobSchema } from '../../../api/jobs/job-schema.ts'
import { createWorkerMetrics, type WorkerMetrics } from '../../../api/jobs/metrics.ts'
import { type Jobs, startJobs } from '../../../api/jobs/runner.ts'
import { createUsageReader } from '../../../api/modules/billing/usage/usage-reader.ts'
import {
  type DownloadJobDeps,
  downloadJobs,
  downloadReactions,
} from '../../../api/modules/ingestion/files/download/download-jobs.ts'
import {
  type FileJobDeps,
  fileJobs,
  fileReactions,
  settleUsage,
} from '../../../api/modules/ingestion/files/process/file-jobs.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { createEventLog } from '../../../api/usage/event-log.ts'
import { createEventStore } from '../../../api/usage/event-store.ts'
import { findUsedIds } from '../../../api/usage/known-references.ts'
import { startOutboxRelay } from '../../../api/workers/outbox-relay.ts'
import { createRounds } from '../../../api/workers/rounds.ts'
import { ingestConfig } from '../../../ingest/config.ts'
import { type Gateway, startGateway } from '../../../ingest/gateway.ts'
import type { Database } from '../../../shared/database/database.ts'
import { createOutboundRequest } from '../../../shared/outbound/outbound-request.ts'
import { silentLogger } from '../../../shared/process/logger.ts'
import { createTestClickHouse } from '../../../shared/testing/clickhouse.ts'
import { loginOf, openTestDatabase } from '../../../shared/testing/database-logins.ts'
import { startTestNats } from '../../../shared/testing/nats.ts'

export type FilesRig = {
  readonly api: ApiHarness
  readonly tenant: TestTenant
  readonly aggregator: TestAggregator
  readonly gatewayUrl: string
  /** What the jobs work with; a test may start others beside them. */
  readonly deps: FileJobDeps & { readonly metrics: WorkerMetrics }
  /** A meter with a number `tokens`, an amount `cost` and a property `model`, all under a reference of its own. */
  meter(): Promise<MeterParts>
  /** Creates a DEFAULT file of this text. */
  upload(text: string | Buffer, more?: object): Promise<Row>
  /** The file when it is DONE or in ERROR. */
  finished(id: string): Promise<Row>
  /** `[status, message]` of each line. */
  outcomes(id: string): Promise<[string, string | null][]>
  /** References of the tenant's events that count, and their quantities. */
  counted(prefix: string): Promise<Record<string, string>>
  startJobs(more?: Partial<FileJobDeps['files']>): Promise<Jobs>
  /** Lets the api and the downloads ask this server, whatever its address: `127.0.0.1:8081`. */
  allow(hostAndPort: string): void
  /** What the downloads work with: three attempts, one soon after the other, each of which waits patiently for an answer. */
  readonly download: DownloadJobDeps['download']
  startDownloads(more?: Partial<DownloadJobDeps['download']>): Promise<Jobs>
  close(): Promise<void>
}

export type MeterParts = { readonly id: string; readonly reference: string; readonly header: string }

/** Far more than a file of a test takes: the machine may be busy with others. */
const PATIENCE_MS = 120_000
/** Of a downloaded file. */
export const DOWNLOAD_BYTES_MAX = 4 * 1024 * 1024

export async function openFilesRig(settings: Record<string, string> = {}): Promise<FilesRig> {
  const nats = await startTestNats()
  const clickhouse = await createTestClickHouse()
  const aggregator = await createTestAggregator({ natsUrl: nats.url, clickhouse })
  const { client, partitions } = aggregator
  const jsm = await jetstreamManager(aggregator.nats)
  const usage = createUsageReader({ client, jsm, partitions })
  const log = createEventLog({ js: jetstream(aggregator.nats), jsm, partitions })
  const hosts = new Set<string>()
  const policy = { ports: { 'https:': [443], 'http:': [] }, hosts }
  const api = await startOwnApi({ usage, events: createEventStore(client, log), outbound: policy })
  const gateway = await startGateway(
    ingestConfig({
      PORT: '0',
      METRICS_PORT: '0',
      DATABASE_URL: loginOf(api.databaseUrl, 'millrace_gateway'),
      NATS_URL: nats.url,
      PARTITIONS: String(partitions),
      INGEST_RATE_LIVE: '1000000',
      DURABILITY: 'local',
      ...settings,
    }),
    silentLogger,
  )
  const running = await aggregator.start()
  const gatewayUrl = `http://127.0.0.1:${gateway.port}`
  const pool = new Pool(gatewayUrl, { connections: 8 })
  const worker = await openWorker(api)
  const metrics = createWorkerMetrics(new Registry())
  const deps = {
    system: worker,
    files: {
      database: api.database,
      gateway: pool,
      eventsPerSecond: { LIVE: 1_000_000, TEST: 1_000_000 },
      share: 1,
      findUsedIds: (lease, hashes) => findUsedIds(client, lease.tenant, hashes),
      settleUsage: () => settleUsage(usage),
      patienceMs: 5_000,
      failpoint: () => undefined,
    },
    metrics,
    logger: silentLogger,
  } satisfies FileJobDeps
  const request = createOutboundRequest(policy, { connectMs: PATIENCE_MS, headMs: PATIENCE_MS, silenceMs: PATIENCE_MS })
  const download: DownloadJobDeps['download'] = {
    request,
    policy,
    limits: { fileBytesMax: DOWNLOAD_BYTES_MAX, storageBytesMax: 256 * 1024 * 1024 },
    deadlineMs: 60_000,
    waitsMs: [50, 100],
    failpoint: () => undefined,
  }
  const relay = startOutboxRelay({
    database: worker,
    rounds: createRounds(worker),
    reactions: [...fileReactions, ...downloadReactions],
    failpoints: () => undefined,
    metrics,
    logger: silentLogger,
  })
  const tenant = api.tenants.aLive
  return {
    api,
    tenant,
    aggregator,
    gatewayUrl,
    deps,
    meter: () => makeMeter(tenant),
    upload: (text, more = {}) => upload(tenant, text, more),
    finished: id => finished(tenant, id),
    outcomes: async id => {
      const outcomes: [string, string | null][] = []
      for (let page = 1; ; page += 1) {
        const { data } = await must(tenant, 'GET', `/v1/files/${id}/lines?limit=100&page=${page}`)
        outcomes.push(...data.map((line: Row) => [line['status'], line['message']]))
        if (data.length < 100) return outcomes
      }
    },
    counted: async prefix => {
      await aggregator.settle()
      const rows = await aggregator.rows<[string, string]>(
        `SELECT reference, toString(value_quantities[1]) FROM usage_events FINAL
         WHERE deleted = 0 AND startsWith(reference, '${prefix}') ORDER BY reference`,
      )
      return Object.fromEntries(rows)
    },
    startJobs: more =>
      startJobs(loginOf(api.databaseUrl, 'millrace_worker'), fileJobs, { ...deps, files: { ...deps.files, ...more } }),
    allow: hostAndPort => hosts.add(hostAndPort),
    download,
    startDownloads: more =>
      startJobs(loginOf(api.databaseUrl, 'millrace_worker'), downloadJobs, {
        system: worker,
        database: api.database,
        download: { ...download, ...more },
        metrics,
        logger: silentLogger,
      }),
    close: () => close({ relay, pool, gateway, running, worker, api, aggregator, nats, clickhouse }),
  }
}

async function openWorker(api: ApiHarness): Promise<Database> {
  await prepareJobSchema(api.databaseUrl)
  return await openTestDatabase({
    url: api.databaseUrl,
    role: 'millrace_worker',
    clock: api.clock,
    logger: silentLogger,
    poolMax: 6,
  })
}

type Closing = {
  readonly relay: { close(): Promise<void> }
  readonly pool: Pool
  readonly gateway: Gateway
  readonly running: { stop(): Promise<void> }
  readonly worker: Database
  readonly api: ApiHarness
  readonly aggregator: TestAggregator
  readonly nats: { stop(): Promise<void> }
  readonly clickhouse: { drop(): Promise<void> }
}

async function close(of: Closing): Promise<void> {
  await of.relay.close()
  await of.pool.destroy()
  await of.gateway.stop()
  await of.running.stop()
  await of.worker.close()
  await of.api.close()
  await of.aggregator.close()
  await of.nats.stop()
  await of.clickhouse.drop()
}

/** A call that must succeed; its body. */
export async function must(tenant: TestTenant, method: string, url: string, body?: unknown): Promise<Row> {
  const answer = await tenant.call(method, url, body)
  if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

async function makeMeter(tenant: TestTenant): Promise<MeterParts> {
  const reference = tenant.seed.unique('meter')
  const active = { name: 'n', status: 'ACTIVE' }
  const names = { tokens: `${reference}.tokens`, cost: `${reference}.cost`, model: `${reference}.model` }
  await must(tenant, 'POST', '/v1/meter-values', { ...active, reference: names.tokens, type: 'NUMBER' })
  await must(tenant, 'POST', '/v1/meter-values', { ...active, reference: names.cost, type: 'AMOUNT' })
  await must(tenant, 'POST', '/v1/meter-properties', { ...active, reference: names.model, type: 'STRING' })
  const meter = await must(tenant, 'POST', '/v1/meters', {
    reference,
    status: 'ACTIVE',
    meter_values: [{ reference: names.tokens, required: true }, { reference: names.cost }],
    meter_properties: [{ reference: names.model }],
  })
  const { body } = await tenant.call('GET', `/v1/meters/${reference}/meter-data-file`)
  return { id: meter['id'], reference, header: body['text'] }
}

const upload = (tenant: TestTenant, text: string | Buffer, more: object): Promise<Row> =>
  must(tenant, 'POST', '/v1/files', {
    reference: tenant.seed.unique('file'),
    file_name: 'usage.csv',
    type: 'METER_DATA',
    processing_type: 'DEFAULT',
    content: Buffer.from(text).toString('base64'),
    ...more,
  })

async function finished(tenant: TestTenant, id: string): Promise<Row> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const file = await must(tenant, 'GET', `/v1/files/${id}`)
    if (file['status'] === 'DONE' || file['status'] === 'ERROR') return file
    if (performance.now() > deadline) throw new Error(`the file is ${JSON.stringify(file)}`)
    await sleep(50)
  }
}
