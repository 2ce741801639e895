// What the tests of test clocks share: subscriptions of customers that live by a clock, and what is read of them.
import { expect } from 'vitest'
import { type Answer, type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import {
  type Billed,
  type BilledOptions,
  billedSubscription,
  succeed,
} from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'

export const CLOCKS = '/v1/test-clocks'
export const SUBSCRIPTIONS = '/v1/pricing-plan-subscriptions'
/** When the clocks start, and the subscriptions with them. */
export const start = '2025-01-01T00:00:00Z'

export type ClockRig = {
  readonly api: ApiHarness
  readonly tenant: TestTenant
  /** A subscription of 100 a month in advance since the start of the clock that its customer lives by. */
  living(options?: Partial<BilledOptions>): Promise<{ billed: Billed; clock: string }>
  /** Sent again for as long as one call was not enough. */
  advance(clock: string, frozen_time: string): Promise<Answer>
  subscriptionOf(billed: Billed): Promise<Row>
  invoicesOf(billed: Billed): Promise<Row[]>
}

/** `settle`: whether usage is there when a run waits for it. */
export async function openClockRig(settle: () => Promise<boolean>): Promise<ClockRig> {
  const api = await startApi({ usage: { ...NO_USAGE, settle } })
  const tenant = api.tenants.aTest
  api.clock.set(Date.parse('2026-11-22T10:00:00Z'))
  return {
    api,
    tenant,
    living: async (options = {}) => {
      const billed = await billedSubscription(tenant, { start_at: start, fee: '100', activate: false, ...options })
      const customer_ids = [billed.customerReference]
      const clock = await succeed(tenant, 'POST', CLOCKS, { frozen_time: start, customer_ids })
      await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${billed.subscriptionId}`, { status: 'ACTIVE' })
      return { billed, clock: clock['id'] }
    },
    advance: async (clock, frozen_time) => {
      let runs = 0
      for (;;) {
        const answer = await tenant.call('POST', `${CLOCKS}/${clock}/advance`, { frozen_time })
        runs += answer.body['billing_runs'] ?? 0
        if (answer.status !== 200) return answer
        if (answer.body['complete']) return { ...answer, body: { ...answer.body, billing_runs: runs } }
        expect(answer.body['frozen_time'] <= frozen_time).toBe(true)
      }
    },
    subscriptionOf: ({ subscriptionId }) => succeed(tenant, 'GET', `${SUBSCRIPTIONS}/${subscriptionId}`),
    invoicesOf: async ({ subscriptionId }) => {
      const url = `/v1/invoices?pricing_plan_subscription_id=${subscriptionId}&limit=100`
      const data: Row[] = (await succeed(tenant, 'GET', url))['data']
      const made = (invoice: Row) => `${invoice['created_at']} ${invoice['updated_to_final_at'] ?? ''}`
      return data.toSorted((a, b) => (made(a) < made(b) ? -1 : 1))
    },
  }
}

export const amountOf = (invoice: Row): string => invoice['invoice_amount_excluding_tax'].quantity
