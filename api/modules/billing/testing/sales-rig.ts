// The rig of tests that sell a plan by the API and read the invoices of it: an api of the whole file, one tenant, its sales, and the
// calls that must succeed.
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { succeed } from '../../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../run/run-billing.ts'
import { NO_USAGE } from './no-usage.ts'
import { salesOf } from './sales.ts'

/** Starts the api before the tests of the file that calls it, and ends it after them. */
export function salesRig() {
  let api: ApiHarness | undefined
  beforeAll(async () => {
    api = await startApi({ usage: NO_USAGE })
  })
  afterAll(() => api?.close())

  const running = (): ApiHarness => {
    if (!api) throw new Error('the api runs only inside tests')
    return api
  }
  const own = (): TestTenant => running().tenants.aLive
  /** The tenant of the api that will run, so that a file can hold it before. */
  const tenant: TestTenant = {
    get key() {
      return own().key
    },
    get tenant() {
      return own().tenant
    },
    get seed() {
      return own().seed
    },
    call: (...request) => own().call(...request),
  }
  /** From now on it is this time. */
  const setTime = (text: string): void => running().clock.set(Date.parse(text))
  return {
    tenant,
    sales: salesOf(tenant),
    setTime,
    unique: (name: string): string => tenant.seed.unique(name),
    post: (url: string, body: unknown): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body),
    patch: (url: string, body: unknown): Promise<Row> => succeed(tenant, 'PATCH', `/v1/${url}`, body),
    /** A connection of its own, for a transaction beside the calls. */
    connect: async (): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: running().databaseUrl })
      await client.connect()
      return client
    },
    sql: (text: string, values?: unknown[]): Promise<Row[]> => running().sql(text, values),
    /** A call of another tenant. */
    callOther: (...request: Parameters<TestTenant['call']>) => running().tenants.bLive.call(...request),
    get: (url: string): Promise<Row> => succeed(tenant, 'GET', `/v1/${url}`),
    /** Bills a subscription at each of these times. */
    bill: async (subscriptionId: string, ...times: string[]): Promise<void> => {
      for (const time of times) {
        setTime(time)
        await runBilling({ database: running().database, usage: NO_USAGE }, tenant.tenant, subscriptionId)
      }
    },
  }
}
