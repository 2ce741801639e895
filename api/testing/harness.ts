// The api in a test: real PostgreSQL, requests through app.inject, two platforms in two environments.
import type { FastifyInstance } from 'fastify'
import { insertPlatform, type NewPlatform } from '../../shared/access/create-platform.ts'
import type { Database } from '../../shared/database/database.ts'
import type { Tenant } from '../../shared/tenant.ts'
import type { PermissionCache } from '../access/permission-cache.ts'
import type { AppDeps, DeclaredRoute } from '../app.ts'
import type { FixtureSeed, Resource } from '../resource/define-resource.ts'
import { type Ground, openGround, sharedGround, type TestClock } from './ground.ts'
import type { Row } from './wire.ts'

export type Answer = { status: number; headers: Record<string, unknown>; body: Row }
export type TestTenant = { key: string; tenant: Tenant; call: Call; seed: Seed }
type Call = (method: string, url: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

/** Creates resources by their fixtures, with names no other call uses. */
/** As resources name it; its `make` says less of what it gives. */
export type Seed = { make(resource: Resource): Promise<Row> } & FixtureSeed

export type ApiHarness = {
  readonly app: FastifyInstance
  readonly database: Database
  readonly databaseUrl: string
  readonly permissionCache: PermissionCache
  /** Every route that needs a caller. */
  readonly routes: readonly DeclaredRoute[]
  readonly clock: TestClock
  /** A further app on the same database. */
  readonly appWith: Ground['appWith']
  readonly tenants: { aLive: TestTenant; aTest: TestTenant; bLive: TestTenant; bTest: TestTenant }
  /** Runs SQL as the owner, past row-level security: for looking at what is really stored. */
  sql(text: string, values?: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/**
 * Starts the api with fresh platforms of its own. Files that follow each other in one process share its database and, but for
 * those that pass dependencies other than `usage` and `events`, its app: what a test counts, it counts in its own platforms. The
 * shared app reads the usage and the events of its last start. A test of what spans all tenants, such as the relay or the jobs, takes
 * `startOwnApi`.
 */
export const startApi = (more?: Partial<AppDeps>): Promise<ApiHarness> => startOn(sharedGround, more)

/** Starts the api on a database of its own. */
export const startOwnApi = (more?: Partial<AppDeps>): Promise<ApiHarness> => startOn(openGround, more)

async function startOn(open: () => Promise<Ground>, more: Partial<AppDeps> | undefined): Promise<ApiHarness> {
  const ground = await open()
  const { app, routes, close } = await ground.appWith(more)
  const [a, b] = [
    await insertPlatform(ground.database, 'Platform A'),
    await insertPlatform(ground.database, 'Platform B'),
  ]
  return {
    app,
    database: ground.database,
    databaseUrl: ground.databaseUrl,
    permissionCache: ground.permissionCache,
    routes,
    clock: ground.clock,
    appWith: ground.appWith,
    tenants: {
      aLive: tenantOf(app, a, 'LIVE'),
      aTest: tenantOf(app, a, 'TEST'),
      bLive: tenantOf(app, b, 'LIVE'),
      bTest: tenantOf(app, b, 'TEST'),
    },
    sql: ground.sql,
    close: async () => {
      await close()
      await ground.close()
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
  const make = async (resource: Resource): Promise<never> => {
    const body = await resource.fixture.create(seed)
    const { status, body: view } = await call('POST', `/v1/${resource.path}`, body)
    if (status !== 201) throw new Error(`fixture of ${resource.objectType}: ${status} ${JSON.stringify(view)}`)
    return view as never
  }
  const seed: Seed = {
    platformId,
    unique: prefix => {
      counter += 1
      return `${prefix}-${process.pid}-${counter}`
    },
    user: async () => {
      const username = `${seed.unique('approver')}@example.com`
      const body = { username, account_memberships: [{ role_ids: ['role_contributor'] }] }
      const { status, body: view } = await call('POST', '/v1/users', body)
      if (status !== 201) throw new Error(`a user: ${status} ${JSON.stringify(view)}`)
      return view['id']
    },
    make,
  }
  return seed
}
