// An approval request of a tenant, for the tests that call every route.
import type { TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { SCHEDULES } from '../../subscriptions/testing/approval-rig.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../../subscriptions/testing/seed-subscription.ts'
import { policyBody, REQUESTS, underPolicy } from './policy-body.ts'

/** Submits a schedule. The policy that requires it is retired, so that other schedules become ACTIVE as ever. */
export async function seedRequest(tenant: TestTenant): Promise<Row> {
  const everything = policyBody(tenant, [await tenant.seed.user()], { rule_groups: [] })
  return await underPolicy(tenant, everything, async () => {
    const terms = { pricing_plan_version_id: await makeVersion(tenant) }
    const schedule = await makeSchedule(tenant, await makeSubscription(tenant), '2026-01-01T00:00:00Z', terms)
    await succeed(tenant, 'POST', `${SCHEDULES}/${schedule}/activate`)
    return (await succeed(tenant, 'GET', `${REQUESTS}?source_id=${schedule}`))['data'][0]
  })
}
