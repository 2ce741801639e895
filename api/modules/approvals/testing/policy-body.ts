// Bodies of approval policies, for tests.
import { succeed } from '../../../testing/calls.ts'
import type { TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'

export const POLICIES = '/v1/approval-policies'
export const REQUESTS = '/v1/approval-requests'

/** Every discount of more than ten percent needs an approval. */
export const LARGE_DISCOUNT = {
  rules: [{ type: 'DISCOUNT', comparator: 'GREATER_THAN', discount: { percentage: '10' } }],
}

/** A DRAFT that any of these users decides by, where large discounts are given. */
export const policyBody = (tenant: TestTenant, userIds: readonly string[], over: object = {}): Row => ({
  reference: tenant.seed.unique('policy'),
  name: 'Large discounts',
  source_type: 'PRICING_PLAN_SCHEDULE',
  approval_type: 'GROUP',
  approvers: {
    type: 'ANYONE_CAN_DECIDE',
    approval_groups: [{ approvers: userIds.map(id => ({ type: 'USER', user: { id } })) }],
  },
  rule_groups: [LARGE_DISCOUNT],
  ...over,
})

/** Does `work` while a policy is ACTIVE. */
export async function underPolicy<T>(
  tenant: TestTenant,
  body: object,
  work: (policyId: string) => Promise<T>,
): Promise<T> {
  const { id } = await succeed(tenant, 'POST', POLICIES, { ...body, status: 'ACTIVE' })
  try {
    return await work(id)
  } finally {
    await succeed(tenant, 'POST', `${POLICIES}/${id}/deprecate`)
  }
}
