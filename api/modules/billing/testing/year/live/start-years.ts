// The api for simulated years whose usage is answered from their stories.
import { type ApiHarness, startApi, type TestTenant } from '../../../../../testing/harness.ts'
import { succeed } from '../../billed-subscription.ts'
import { usageInMemory } from './usage-in-memory.ts'

export type YearsRig = {
  readonly api: ApiHarness
  readonly tenant: TestTenant
  readonly usage: ReturnType<typeof usageInMemory>
}

/**
 * Starts it, at a time after all of the years. The model knows nothing of a grace period: what happens after a period has no part in its
 * invoice.
 */
export async function startYears(): Promise<YearsRig> {
  const usage = usageInMemory()
  const api = await startApi({ usage: usage.reader })
  const tenant = api.tenants.aTest
  api.clock.set(Date.parse('2027-03-01T10:00:00Z'))
  const grace = { invoice_grace_period: { type: 'CUSTOM', configuration: { value: 0, type: 'HOUR' } } }
  await succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { invoice_settings: grace })
  return { api, tenant, usage }
}
