// What the test files of subscriptions start from: an api, a tenant of it, and the time in which they happen.
import { instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

type Started = { readonly api: ApiHarness; readonly tenant: TestTenant; readonly stop: () => Promise<void> }

/** Starts the api without usage, in LIVE unless it is given another. `stop` sets the clock that its files share back. */
export async function startAt(now: string, environment: 'LIVE' | 'TEST' = 'LIVE'): Promise<Started> {
  const api = await startApi({ usage: NO_USAGE })
  const before = api.clock.now()
  api.clock.set(instantOf(Date.parse(now)))
  return {
    api,
    tenant: environment === 'LIVE' ? api.tenants.aLive : api.tenants.aTest,
    stop: async () => {
      api.clock.set(instantOf(before))
      await api.close()
    },
  }
}
