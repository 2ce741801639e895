// What the api of a test stands on: a database, what follows keys and permissions in it, and the app itself. To build the app
// takes longer than most files of tests, so those that follow each other in one process (vitest.config.ts) share one.

import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { createLiveKeys } from '../../shared/access/live-keys.ts'
import type { Database } from '../../shared/database/database.ts'
import { type OutboundPolicy, outboundPolicy } from '../../shared/outbound/judge-url.ts'
import { createOutboundRequest } from '../../shared/outbound/outbound-request.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { openTestDatabase } from '../../shared/testing/database-logins.ts'
import { followsOthers } from '../../shared/testing/one-process.ts'
import { createTestDatabase, type TestDatabase } from '../../shared/testing/postgres.ts'
import { type Clock, instantOf } from '../../shared/time.ts'
import { createPermissionCache, type PermissionCache } from '../access/permission-cache.ts'
import { type AppDeps, buildApp, type DeclaredRoute } from '../app.ts'
import { createLiveRates } from '../http/rate-limit/live-rates.ts'
import { createRequestLimits } from '../http/rate-limit/request-limits.ts'
import { NO_USAGE } from '../modules/billing/testing/no-usage.ts'
import type { UsageReader } from '../modules/billing/usage/usage-reader.ts'
import { NO_EVENTS } from '../modules/ingestion/events/testing/no-events.ts'
import { RULES } from '../modules/modules.ts'
import { createPost, WEBHOOK_TIMES } from '../modules/webhooks/request/post.ts'
import { withRules } from '../resource/rules.ts'
import type { EventStore } from '../usage/event-store.ts'
import { BUILT_REFERENCE } from './described-api.ts'
import type { Row } from './wire.ts'

/** A clock the test sets; until then it shows the present. */
export type TestClock = Clock & { set(epochMs: number): void }

type App = {
  readonly app: FastifyInstance
  /** Every route that needs a caller. */
  readonly routes: readonly DeclaredRoute[]
  close(): Promise<void>
}

export type Ground = {
  readonly databaseUrl: string
  readonly database: Database
  readonly permissionCache: PermissionCache
  readonly clock: TestClock
  /** Runs SQL as the owner, past row-level security. */
  sql(text: string, values?: unknown[]): Promise<Row[]>
  /** The api with these dependencies besides the usual ones. */
  appWith(more?: Partial<AppDeps>): Promise<App>
  close(): Promise<void>
}

function testClock(): TestClock & { reset(): void } {
  let fixed: number | null = null
  return {
    now: () => instantOf(fixed ?? Date.now()),
    set: epochMs => {
      fixed = epochMs
    },
    reset: () => {
      fixed = null
    },
  }
}

/** What an api needs for webhooks. */
export const webhookDeps = (policy: OutboundPolicy) => ({
  outbound: policy,
  dataSecret: 'a secret of the tests, long enough for it',
  postWebhook: createPost({ request: createOutboundRequest(policy, WEBHOOK_TIMES), policy }),
})

/** A ground of its own; closing it removes its database. */
export const openGround = async (): Promise<Ground> => groundOn(await createTestDatabase(), testClock())

async function groundOn(testDatabase: TestDatabase, clock: TestClock): Promise<Ground> {
  const shared = { url: testDatabase.url, clock, logger: silentLogger }
  const login = await openTestDatabase({ ...shared, role: 'millrace_app', poolMax: 10 })
  const database = withRules(login, RULES, { permissions: new Set() })
  const keyDatabase = await openTestDatabase({ ...shared, role: 'millrace_gateway', poolMax: 5 })
  // A recorded use would be a change to a tenant's rows for the tests that look for changes.
  const keys = createLiveKeys({ database: keyDatabase, logger: silentLogger, noteUsesMs: 3_600_000 })
  const permissionCache = createPermissionCache({
    database: keyDatabase,
    logger: silentLogger,
    nowMs: () => performance.now(),
  })
  const nowMs = () => performance.now()
  const rates = createLiveRates({ database: keyDatabase, logger: silentLogger, nowMs, perSecond: 500 })
  const limits = createRequestLimits({ rates, nowMs, addressPerSecond: 1_000 })
  const owner = new pg.Client({ connectionString: testDatabase.url })
  await owner.connect()
  const files = { fileBytesMax: 64 * 1024 * 1024, storageBytesMax: 256 * 1024 * 1024 }
  const outbound = outboundPolicy({ OUTBOUND_HTTP: 'refuse', OUTBOUND_HOSTS: [], OUTBOUND_NETWORKS: [] })
  const usual = {
    database,
    keys,
    permissionCache,
    limits,
    logger: silentLogger,
    usage: NO_USAGE,
    events: NO_EVENTS,
    files,
    // To describe the routes of an app takes two seconds of processor time.
    ...(BUILT_REFERENCE ? { builtReference: BUILT_REFERENCE } : {}),
    ...webhookDeps(outbound),
  }
  return {
    databaseUrl: testDatabase.url,
    database,
    permissionCache,
    clock,
    sql: async (text, values) => (await owner.query(text, values)).rows,
    appWith: async more => {
      const routes: DeclaredRoute[] = []
      const app = await buildApp({ ...usual, onRoute: route => routes.push(route), ...more })
      await app.ready()
      return { app, routes, close: () => app.close() }
    },
    close: async () => {
      await Promise.all([keys.close(), permissionCache.close(), rates.close()])
      await keyDatabase.close()
      await database.close()
      await owner.end()
      await testDatabase.drop()
    },
  }
}

const clock = testClock()
/** What the kept app reads usage and events from: those of the file that runs. */
const ofFile: { usage: UsageReader; events: EventStore } = { usage: NO_USAGE, events: NO_EVENTS }
const standIns = {
  usage: new Proxy(NO_USAGE, { get: (_, name) => Reflect.get(ofFile.usage, name) }),
  events: new Proxy(NO_EVENTS, { get: (_, name) => Reflect.get(ofFile.events, name) }),
}
let kept: { readonly ground: Promise<Ground>; readonly app: Promise<App> } | null = null

function keep(): NonNullable<typeof kept> {
  const ground = createTestDatabase({ kept: true }).then(testDatabase => groundOn(testDatabase, clock))
  return { ground, app: ground.then(({ appWith }) => appWith(standIns)) }
}

/** The ground of this process, kept for the files that follow; where each file has a process of its own, one of its own. */
export async function sharedGround(): Promise<Ground> {
  if (!followsOthers()) return await openGround()
  clock.reset()
  kept ??= keep()
  const { ground, app } = kept
  const stays = async () => undefined
  const shared = await ground
  return {
    ...shared,
    appWith: async (more = {}) => {
      if (!Object.keys(more).every(name => name in standIns)) return await shared.appWith(more)
      Object.assign(ofFile, { usage: NO_USAGE, events: NO_EVENTS, ...more })
      return { ...(await app), close: stays }
    },
    close: stays,
  }
}
