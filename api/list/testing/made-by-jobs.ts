// What calls and jobs make that no fixture begins: redemptions, a migration and a simulation with results, and deliveries of events.
import { silentLogger } from '../../../shared/process/logger.ts'
import { runBilling } from '../../modules/billing/run/run-billing.ts'
import { runSimulation } from '../../modules/billing/simulate/run-simulation.ts'
import { billedSubscription } from '../../modules/billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../modules/billing/testing/no-usage.ts'
import { runMigration } from '../../modules/billing/version-migrations/run-migration.ts'
import { onOneVersion } from '../../modules/billing/version-migrations/testing/on-one-version.ts'
import { couponResource } from '../../modules/coupons/coupon.ts'
import type { DeliveryRig } from '../../modules/webhooks/testing/delivery-rig.ts'
import { succeed } from '../../testing/calls.ts'
import type { TestTenant } from '../../testing/harness.ts'

const START = '2026-03-01T00:00:00Z'

/** By tenant: the path of each list's resource, and the id of what has rows there. */
export async function makeByJobs(
  rig: DeliveryRig,
  tenants: readonly TestTenant[],
): Promise<Map<TestTenant, ReadonlyMap<string, string>>> {
  const made = new Map<TestTenant, Map<string, string>>()
  for (const tenant of tenants)
    made.set(tenant, new Map([...(await redeemed(tenant)), ...(await movedAndSimulated(rig, tenant))]))
  // The present again, in which the webhooks were made and wait.
  rig.api.clock.set(Date.now())
  await rig.relay()
  await rig.send({ post: async () => ({ succeeded: true, responseCode: 204, cause: null, durationMs: 5 }) })
  for (const [tenant, ids] of made) {
    const [event] = await rig.api.sql(
      'select event_id as id from webhook_attempts where platform_id = $1 and environment = $2 limit 1',
      [tenant.tenant.platformId, tenant.tenant.environment],
    )
    ids.set('webhook-events', String(event?.['id']))
  }
  return made
}

/** A subscription with a promotion code, and so with its coupon. */
async function redeemed(tenant: TestTenant): Promise<[string, string][]> {
  const { id: coupon_id } = await tenant.seed.make(couponResource)
  const body = { coupon_id, code: tenant.seed.unique('spring'), status: 'ACTIVE' }
  const code = await succeed(tenant, 'POST', '/v1/promotion-codes', body)
  await billedSubscription(tenant, { start_at: START, schedule: async () => ({ promotion_codes: [code['code']] }) })
  return [
    ['coupons', coupon_id],
    ['promotion-codes', code['id']],
  ]
}

/** A migration that is previewed, and a simulation of what is FINAL. */
async function movedAndSimulated({ api }: DeliveryRig, tenant: TestTenant): Promise<[string, string][]> {
  const deps = { database: api.database, usage: NO_USAGE, logger: silentLogger }
  const post = (url: string, body: object) => succeed(tenant, 'POST', `/v1/pricing-plan-versions/${url}`, body)
  const { version, next, subscriptions } = await onOneVersion(tenant, 1)
  for (const time of ['2026-03-02', '2026-04-02', '2026-04-03']) {
    api.clock.set(Date.parse(`${time}T12:00:00Z`))
    for (const id of subscriptions) await runBilling(deps, tenant.tenant, id)
  }
  const simulation = await post(`${next}/simulate`, { periods: 1 })
  await runSimulation(deps, { tenant: tenant.tenant, id: simulation['id'], last: true })
  const migration = await post(`${version}/migrate`, { pricing_plan_version_id: next })
  await runMigration(deps, { tenant: tenant.tenant, id: migration['id'], last: true })
  return [
    ['pricing-plan-version-simulations', simulation['id']],
    ['pricing-plan-version-migrations', migration['id']],
  ]
}
