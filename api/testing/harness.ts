// The api in a test: real PostgreSQL, requests through app.inject, two platforms in two environments.
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { createPlatform, type NewPlatform } from '../../shared/access/create-platform.ts'
import { createLiveKeys } from '../../shared/access/live-keys.ts'
import { type Database, openDatabase } from '../../shared/database/database.ts'
import { silentLogger } from '../../shared/logger.ts'
import { outboundPolicy } from '../../shared/outbound/judge-url.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { createTestDatabase } from '../../shared/testing/postgres.ts'
import { type Clock, instantOf } from '../../shared/time.ts'
import { createLivePowers } from '../access/live-powers.ts'
import { type AppDeps, buildApp, type DeclaredRoute } from '../app.ts'
import { NO_EVENTS } from '../modules/events/testing/no-events.ts'
import { NO_USAGE } from '../modules/invoices/testing/no-usage.ts'
import type { FixtureSeed, Row } from '../resource/define-resource.ts'

export type Answer = { status: number; headers: Record<string, unknown>; body: Row }
export type TestTenant = { key: string; tenant: Tenant; call: Call; seed: Seed }
type Call = (method: string, url: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

/** Creates resources by their fixtures, with names no other call uses. */
export type Seed = FixtureSeed

export type ApiHarness = {
  readonly app: FastifyInstance
  readonly database: Database
  readonly databaseUrl: string
  /** Every route that needs a caller. */
  readonly routes: readonly DeclaredRoute[]
  readonly clock: Clock & { set(epochMs: number): void }
  readonly tenants: { aLive: TestTenant; aTest: TestTenant; bLive: TestTenant; bTest: TestTenant }
  /** Runs SQL as the owner, past row-level security: for looking at what is really stored. */
  sql(text: string, values?: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/** A clock the test sets; it starts at the present. */
export function testClock(): ApiHarness['clock'] {
  let fixed: number | null = null
  return {
    now: () => instantOf(fixed ?? Date.now()),
    set: epochMs => {
      fixed = epochMs
    },
  }
}

/** Starts the api on a database of its own. `more` adds dependencies such as usage. */
export async function startApi(more: Partial<AppDeps> = {}): Promise<ApiHarness> {
  const testDatabase = await createTestDatabase()
  const clock = testClock()
  const shared = { url: testDatabase.url, clock, logger: silentLogger }
  const database = await openDatabase({ ...shared, role: 'millrace_app', poolMax: 10 })
  const keyDatabase = await openDatabase({ ...shared, role: 'millrace_gateway', poolMax: 5 })
  // A use that is noted would be a change of a tenant's rows to the tests that look for those.
  const keys = createLiveKeys({ database: keyDatabase, logger: silentLogger, noteUsesMs: 3_600_000 })
  const powers = createLivePowers({ database: keyDatabase, logger: silentLogger, nowMs: () => performance.now() })
  const routes: DeclaredRoute[] = []
  const onRoute = (route: DeclaredRoute) => routes.push(route)
  const files = { fileBytesMax: 64 * 1024 * 1024, storageBytesMax: 256 * 1024 * 1024 }
  const outbound = outboundPolicy({ OUTBOUND_HTTP: 'refuse', OUTBOUND_HOSTS: [] })
  const absent = { usage: NO_USAGE, events: NO_EVENTS, files, outbound }
  const app = await buildApp({ database, keys, powers, logger: silentLogger, ...absent, onRoute, ...more })
  await app.ready()
  const owner = new pg.Client({ connectionString: testDatabase.url })
  await owner.connect()
  const [a, b] = [
    await createPlatform(testDatabase.url, 'Platform A'),
    await createPlatform(testDatabase.url, 'Platform B'),
  ]
  return {
    app,
    database,
    databaseUrl: testDatabase.url,
    routes,
    clock,
    tenants: {
      aLive: tenantOf(app, a, 'LIVE'),
      aTest: tenantOf(app, a, 'TEST'),
      bLive: tenantOf(app, b, 'LIVE'),
      bTest: tenantOf(app, b, 'TEST'),
    },
    sql: async (text, values) => (await owner.query(text, values)).rows,
    close: async () => {
      await app.close()
      await Promise.all([keys.close(), powers.close()])
      await keyDatabase.close()
      await database.close()
      await owner.end()
      await testDatabase.drop()
    },
  }
}

function tenantOf(app: FastifyInstance, platform: NewPlatform, environment: 'TEST' | 'LIVE'): TestTenant {
  const key = platform.environments[environment].api_key
  const call = callerWith(app, { 'x-api-key': key })
  return { key, tenant: { platformId: platform.id, environment }, call, seed: seedOf(call, platform.id) }
}

/** A function that sends requests with these headers. */
export function callerWith(app: FastifyInstance, own: Record<string, string>): Call {
  return async (method, url, body, headers = {}) => {
    const response = await app.inject({
      method: method as 'GET',
      url,
      headers: { ...own, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined
        ? {}
        : { payload: typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body) }),
    })
    const isJson = String(response.headers['content-type']).startsWith('application/json')
    return {
      status: response.statusCode,
      headers: response.headers,
      body: isJson ? response.json() : { text: response.body },
    }
  }
}

let counter = 0

function seedOf(call: Call, platformId: string): Seed {
  const seed: Seed = {
    platformId,
    unique: prefix => {
      counter += 1
      return `${prefix}-${process.pid}-${counter}`
    },
    make: async resource => {
      const body = await resource.fixture.create(seed)
      const { status, body: view } = await call('POST', `/v1/${resource.path}`, body)
      if (status !== 201) throw new Error(`fixture of ${resource.objectType}: ${status} ${JSON.stringify(view)}`)
      return view
    },
  }
  return seed
}
