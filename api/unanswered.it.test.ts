// Whatever the api stands on is away or hangs: every route is answered in time, with what it can do without it or with 503 and
// Retry-After, and readiness too (docs/fault-tests.md).

import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestConfig } from '../ingest/config.ts'
import { type Gateway, startGateway } from '../ingest/gateway.ts'
import { createLiveKeys } from '../shared/access/live-keys.ts'
import { outboundPolicy } from '../shared/outbound/judge-url.ts'
import { silentLogger } from '../shared/process/logger.ts'
import { createTestClickHouse } from '../shared/testing/clickhouse.ts'
import { loginOf, openTestDatabase } from '../shared/testing/database-logins.ts'
import { startTestNats } from '../shared/testing/nats.ts'
import { type ServerProxy, startServerProxy } from '../shared/testing/server-proxy.ts'
import { systemClock } from '../shared/time.ts'
import { createPermissionCache } from './access/permission-cache.ts'
import { buildApp, type DeclaredRoute } from './app.ts'
import { FORWARDED } from './gateway/forward-ingest.ts'
import { meterResource } from './modules/catalog/meters/meter.ts'
import { openUsage, type UsageConnections } from './open-usage.ts'
import { readiness } from './readiness.ts'
import { webhookDeps } from './testing/ground.ts'
import { type Answer, callerWith, startOwnApi } from './testing/harness.ts'
import { callsOf } from './testing/probe-tenants.ts'
import type { Row } from './testing/wire.ts'

/**
 * Promised are 5 s and 3 s, kept by bounds of the connections. These here are long enough for a busy machine, and shorter than the 25 s
 * after which any call is refused: what has no bound of its own is found.
 */
const ANSWER_MS = 20_000
const READY_MS = 15_000
/**
 * Calls at a time: fewer than the connections to PostgreSQL, so that none waits for another; and many, since each waits for seconds
 * for what hangs.
 */
const AT_ONCE = 45
const POOL_MAX = 50
const PARTITIONS = 2

const closers: (() => Promise<unknown>)[] = []
const proxies: Record<string, ServerProxy> = {}
let calls: Awaited<ReturnType<typeof callsOf>>
let call: ReturnType<typeof callerWith>
let ready: () => Promise<string | null>
let meter: Row

const proxyTo = async (name: string, url: string): Promise<string> => {
  const proxy = await startServerProxy(url)
  proxies[name] = proxy
  closers.push(() => proxy.takeAway())
  return proxy.url
}

beforeAll(async () => {
  const nats = await startTestNats()
  closers.push(() => nats.stop())
  const clickhouse = await createTestClickHouse()
  closers.push(() => clickhouse.drop())
  // Makes what the routes are called with, past the proxies.
  const seeds = await startOwnApi()
  closers.push(() => seeds.close())
  meter = await seeds.tenants.aLive.seed.make(meterResource)

  const DATABASE_URL = await proxyTo('PostgreSQL', seeds.databaseUrl)
  const NATS_URL = await proxyTo('NATS', nats.url)
  const CLICKHOUSE_URL = await proxyTo('ClickHouse', clickhouse.url)
  const shared = { url: DATABASE_URL, clock: systemClock, logger: silentLogger, connectMs: 4_000 }
  const database = await openTestDatabase({ ...shared, role: 'millrace_app', poolMax: POOL_MAX })
  const keyDatabase = await openTestDatabase({ ...shared, role: 'millrace_gateway', poolMax: 5 })
  closers.push(() => Promise.all([database.close(), keyDatabase.close()]))
  const keys = createLiveKeys({ database: keyDatabase, logger: silentLogger, noteUsesMs: 3_600_000 })
  const permissionCache = createPermissionCache({
    database: keyDatabase,
    logger: silentLogger,
    nowMs: () => performance.now(),
  })
  closers.push(() => Promise.all([keys.close(), permissionCache.close()]))
  await keys.load()
  const settings = { CLICKHOUSE_URL, CLICKHOUSE_DATABASE: clickhouse.database, NATS_URL, PARTITIONS }
  const gatewaySettings = {
    PORT: '0',
    METRICS_PORT: '0',
    DATABASE_URL: loginOf(DATABASE_URL, 'millrace_gateway'),
    NATS_URL,
    PARTITIONS: String(PARTITIONS),
    DURABILITY: 'local',
  }
  const gateway: Gateway = await startGateway(ingestConfig(gatewaySettings), silentLogger)
  closers.push(() => gateway.stop())
  const usage: UsageConnections = await openUsage(settings, { name: 'test', logger: silentLogger })
  closers.push(() => usage.close())
  const pool = new Pool(`http://127.0.0.1:${gateway.port}`, { connections: 64 })
  closers.push(() => pool.destroy())
  const routes: DeclaredRoute[] = []
  const app = await buildApp({
    database,
    keys,
    permissionCache,
    logger: silentLogger,
    usage: usage.usage,
    events: usage.events,
    files: { fileBytesMax: 1_048_576, storageBytesMax: 1_048_576 },
    ...webhookDeps(outboundPolicy({ OUTBOUND_HTTP: 'refuse', OUTBOUND_HOSTS: [], OUTBOUND_NETWORKS: [] })),
    gateway: { dispatcher: pool, bodyBytesMax: 262_144 },
    onRoute: route => routes.push(route),
  })
  closers.push(() => app.close())
  await app.ready()
  call = callerWith(app, { 'x-api-key': seeds.tenants.aLive.key })
  ready = () => readiness({ database, client: usage.client, peers: { gateway: pool } })
  calls = await callsOf(seeds, routes, seeds.tenants.aLive)
})
afterAll(async () => {
  for (const proxy of Object.values(proxies)) await proxy.bringBack()
  for (const close of closers.toReversed()) await close()
})

let events = 0
function ingestBody(path: string): unknown {
  events += 1
  const event = {
    reference: `event-${events}`,
    customer_reference: 'acme',
    meter_reference: meter['reference'],
    meter_values: [{ reference: meter['meter_values'][0].reference, number: '1' }],
  }
  return /list|batch|datas/.test(path) ? [event] : event
}

type Seen = { what: string; ms: number; answer: Answer }
async function callAll(): Promise<Seen[]> {
  const queue = calls.values()
  const seen: Seen[] = []
  const worker = async (): Promise<void> => {
    for (const { what, method, url, body, headers } of queue) {
      const startedAt = performance.now()
      const answer = await call(method, url, url in FORWARDED ? ingestBody(url) : body, headers)
      seen.push({ what, ms: performance.now() - startedAt, answer })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return seen
}

const tell = ({ what, ms, answer: { status, body } }: Seen): string =>
  `${what}: ${status} ${JSON.stringify(body).slice(0, 200)} after ${Math.round(ms)} ms`

/** Answered in time, and where it cannot be done now with what a client needs to send it again. */
function isRight({ ms, answer: { status, headers, body } }: Seen): boolean {
  if (ms > ANSWER_MS) return false
  return (
    status < 500 || (status === 503 && body['code'] === 'SERVICE_UNAVAILABLE' && Number(headers['retry-after']) > 0)
  )
}
const statusOf = (seen: readonly Seen[], what: string): number | undefined =>
  seen.find(each => each.what === what)?.answer.status

test('with everything there no route is out of order', async () => {
  const seen = await callAll()
  expect(seen.length).toBeGreaterThan(150)
  // No aggregator runs: what waits for the events of these very calls to be counted says so.
  const isOut = ({ what, answer: { status } }: Seen) => status >= 500 && (status !== 503 || what.startsWith('GET'))
  expect(seen.filter(isOut).map(tell)).toEqual([])
  expect(await ready()).toBeNull()
}, 120_000)

const needs: Record<string, string> = {
  PostgreSQL: 'GET /v1/customers',
  ClickHouse: 'GET /v1/events',
  NATS: 'POST /v1/events/ingest',
}
describe.each(Object.keys(needs))('%s', name => {
  test.each(['is away', 'hangs'])(
    '%s: every route is answered in time, and readiness says so',
    async how => {
      const proxy = proxies[name]
      if (!proxy) throw new Error(`there is no ${name}`)
      if (how === 'hangs') proxy.hang()
      else await proxy.takeAway()
      try {
        const seen = await callAll()
        expect(seen.filter(each => !isRight(each)).map(tell)).toEqual([])
        expect(statusOf(seen, needs[name] ?? '')).toBe(503)
        if (name !== 'NATS') expect(statusOf(seen, 'POST /v1/events/ingest')).toBe(201)
        const startedAt = performance.now()
        const fault = await ready()
        expect(performance.now() - startedAt).toBeLessThan(READY_MS)
        if (name !== 'NATS' || how === 'is away') expect(fault).not.toBeNull()
      } finally {
        await proxy.bringBack()
      }
      await expect.poll(ready, { timeout: 60_000, interval: 500 }).toBeNull()
      const { url, ...first } = calls.find(({ what }) => what === needs[name]) ?? expect.fail('no such route')
      const again = async () => (await call(first.method, url, url in FORWARDED ? ingestBody(url) : first.body)).status
      await expect.poll(again, { timeout: 60_000, interval: 500 }).toBeLessThan(300)
    },
    240_000,
  )
})
