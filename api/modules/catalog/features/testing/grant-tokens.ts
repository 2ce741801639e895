// A feature and its grant for the subscription of billed-subscription.ts.
import type { TestTenant } from '../../../../testing/harness.ts'
import { type BilledOptions, succeed } from '../../../billing/testing/billed-subscription.ts'

export type TokenGrant = {
  /** Makes the schedule grant 1,000 of what its price measures. */
  readonly schedule: NonNullable<BilledOptions['schedule']>
  /** Of the feature that is granted; empty until there is a schedule. */
  featureId: string
}

export function grantTokens(tenant: TestTenant): TokenGrant {
  const grant: TokenGrant = {
    featureId: '',
    schedule: async calculationId => {
      const body = {
        reference: tenant.seed.unique('tokens'),
        type: 'NUMBER',
        meter_value_calculation_id: calculationId,
      }
      grant.featureId = (await succeed(tenant, 'POST', '/v1/features', body))['id']
      return { entitlements: [{ feature_id: grant.featureId, number: '1000' }] }
    },
  }
  return grant
}
