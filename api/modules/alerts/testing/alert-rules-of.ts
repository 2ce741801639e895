// Alert rules for tests, created through the API: of what is used of a feature that is measured, and of late invoices.
import { expect } from 'vitest'
import type { Answer, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { featureResource } from '../../catalog/features/feature.ts'

export const RULES = '/v1/alert-rules'

export const overdue = (comparator = 'GREATER_THAN', value = 14) => ({
  variant: 'OVERDUE',
  overdue: { comparator, threshold: { type: 'DAY', value } },
})

/** Rules of one tenant, of a new feature unless they name another. */
export async function alertRulesOf({ call, seed }: TestTenant) {
  const featureId: string = (await seed.make(featureResource))['id']
  const entitlement = (threshold: object, more: object = {}) => ({
    feature_id: featureId,
    comparator: 'GREATER_THAN',
    threshold,
    ...more,
  })
  const post = (body: object): Promise<Answer> => call('POST', RULES, { reference: seed.unique('rule'), ...body })
  /** An ACTIVE rule. */
  const rule = async (body: object): Promise<Row> => {
    const answer = await post({ status: 'ACTIVE', ...body })
    expect(answer.status).toBe(201)
    return answer.body
  }
  return { featureId, entitlement, post, rule }
}
