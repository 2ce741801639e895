// What the tests of migrations share: an api, subscriptions to one version, and what a migration has done with them.
import { silentLogger } from '../../../../../shared/process/logger.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import { type MigrationDeps, runMigration } from '../run-migration.ts'
import { onOneVersion } from './on-one-version.ts'

export const PATH = '/v1/pricing-plan-version-migrations'

export type MigrationRig = {
  readonly api: ApiHarness
  readonly tenant: TestTenant
  readonly deps: MigrationDeps
  get(url: string): Promise<Row>
  post(url: string, body?: unknown): Promise<Row>
  setTime(text: string): void
  /** On 10 March. */
  onOneVersion(count: number): ReturnType<typeof onOneVersion>
  run(id: string, more?: Partial<MigrationDeps>): ReturnType<typeof runMigration>
  /** What became of each subscription of a migration. */
  subscriptionsOf(id: string): Promise<Row[]>
  /** The schedules of a subscription. */
  versionsOf(subscription: string): Promise<string[]>
}

export async function openMigrationRig(): Promise<MigrationRig> {
  const api = await startApi({ usage: NO_USAGE })
  const tenant = api.tenants.aLive
  const deps: MigrationDeps = { database: api.database, usage: NO_USAGE, logger: silentLogger }
  const get = (url: string) => succeed(tenant, 'GET', `/v1/${url}`)
  const setTime = (text: string): void => api.clock.set(Date.parse(text))
  return {
    api,
    tenant,
    deps,
    get,
    post: (url, body = {}) => succeed(tenant, 'POST', `/v1/${url}`, body),
    setTime,
    onOneVersion: count => {
      setTime('2026-03-10T00:00:00Z')
      return onOneVersion(tenant, count)
    },
    run: (id, more = {}) => runMigration({ ...deps, ...more }, { tenant: tenant.tenant, id, last: false }),
    subscriptionsOf: async id => (await get(`pricing-plan-version-migrations/${id}/results?limit=50`))['data'],
    versionsOf: async subscription =>
      (
        await get(
          `pricing-plan-schedules?pricing_plan_subscription_id=${subscription}&order_by=start_at&order_direction=asc`,
        )
      )['data'].map((row: Row) => `${row['pricing_plan_version_id']} ${row['start_at']} ${row['status']}`),
  }
}
