// A subscription that has ended can be archived once its last invoice is closed, by a billing run or by a user.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import { startAt } from '../../subscriptions/testing/start-at.ts'
import { billedSubscription, succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'
import { runBilling } from './run-billing.ts'

let api: ApiHarness
let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

test.each([
  ['FINAL', (id: string) => succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })],
  ['VOID', (id: string) => succeed(tenant, 'POST', `/v1/invoices/${id}/void`)],
] as const)(
  'the billing run looks at once when a user makes it %s, and it can then be archived',
  async (_status, close) => {
    const now = '2026-03-11T10:00:00Z'
    api.clock.set(instantOf(Date.parse(now)))
    const { subscriptionId: id } = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z' })
    const url = `/v1/pricing-plan-subscriptions/${id}`
    const deps = { database: api.database, usage: NO_USAGE }
    const dueAt = async () =>
      (await api.sql('select next_billing_at from pricing_plan_subscriptions where id = $1', [id]))[0]?.[
        'next_billing_at'
      ]
    await succeed(tenant, 'POST', `${url}/cancel`, { type: 'NOW' })
    await runBilling(deps, tenant.tenant, id)
    // The end of the grace period of its DRAFT.
    expect(new Date(await dueAt()).getTime()).toBeGreaterThan(Date.parse(now))
    const [last] = (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${id}`))['data']
    expect((await tenant.call('POST', `${url}/archive`)).body['message']).toContain('not FINAL yet')
    await close(last.id)
    expect(new Date(await dueAt()).getTime()).toBe(Date.parse(now))
    await runBilling(deps, tenant.tenant, id)
    expect(await dueAt()).toBeNull()
    expect((await tenant.call('POST', `${url}/archive`)).status).toBe(200)
  },
)
