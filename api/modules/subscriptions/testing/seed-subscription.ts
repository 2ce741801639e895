// What the tests of subscriptions start from: plans that can be sold, and subscriptions on them.

import { succeed } from '../../../testing/calls.ts'
import type { TestTenant } from '../../../testing/harness.ts'
import { pricingResource } from '../../catalog/pricing-plans/pricing.ts'
import { subscriptionResource } from '../subscription.ts'

export { succeed }

/** The id of a version with one usage price in EUR; ACTIVE unless it is given another. */
export async function makeVersion(tenant: TestTenant, status: 'DRAFT' | 'ACTIVE' = 'ACTIVE'): Promise<string> {
  const pricing = await tenant.seed.make(pricingResource)
  const id: string = pricing['pricing_plan_version_id']
  if (status === 'ACTIVE') await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${id}`, { status })
  return id
}

export const makeSubscription = async (tenant: TestTenant): Promise<string> =>
  (await tenant.seed.make(subscriptionResource))['id']

export type ScheduleOptions = { end_at?: string; query?: string; [field: string]: unknown }

/** The id of a new DRAFT schedule from `start_at` on. */
export async function makeSchedule(
  tenant: TestTenant,
  subscriptionId: string,
  start_at: string,
  options: ScheduleOptions = {},
): Promise<string> {
  const { query = '', ...more } = options
  const body = {
    pricing_plan_subscription_id: subscriptionId,
    start_at,
    ...('pricing_plan_version_id' in more ? {} : { pricing_plan_version_id: await makeVersion(tenant) }),
    ...more,
  }
  return (await succeed(tenant, 'POST', `/v1/pricing-plan-schedules${query}`, body))['id']
}

/** The id of an ACTIVE subscription with one schedule from `start_at` on. */
export async function makeActiveSubscription(tenant: TestTenant, start_at: string): Promise<string> {
  const id = await makeSubscription(tenant)
  await makeSchedule(tenant, id, start_at)
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  return id
}
