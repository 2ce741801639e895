// A DRAFT subscription and a version to schedule on it.
import type { Answer, TestTenant } from '../../../testing/harness.ts'
import { makeSubscription, makeVersion } from './seed-subscription.ts'

export const SCHEDULES = '/v1/pricing-plan-schedules'

export type SchedulesOf = {
  readonly subscription: string
  readonly version: string
  /** Schedules the version on the subscription, unless the body says otherwise. */
  post(body: object, query?: string): Promise<Answer>
}

export async function schedulesOf(tenant: TestTenant): Promise<SchedulesOf> {
  const subscription = await makeSubscription(tenant)
  const version = await makeVersion(tenant)
  return {
    subscription,
    version,
    post: (body, query = '') =>
      tenant.call('POST', `${SCHEDULES}${query}`, {
        pricing_plan_subscription_id: subscription,
        pricing_plan_version_id: version,
        ...body,
      }),
  }
}
