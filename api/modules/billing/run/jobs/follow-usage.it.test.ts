// Invoices that are not closed are computed again when usage arrives, and only then.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import { type Billed, billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { followUsage } from './follow-usage.ts'

const NOW = Date.parse('2026-03-20T00:00:00Z')
let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

/** A log at these positions, in which these customers were touched since. */
function reader(positions: readonly number[], touched: readonly string[] | Error) {
  const asked: (readonly number[])[] = []
  const usage = {
    positions: async () => [...positions],
    touchedCustomers: async (_tenant: unknown, since: readonly number[]) => {
      asked.push(since)
      if (touched instanceof Error) throw touched
      return touched
    },
  }
  return { usage, asked }
}
const follow = async (positions: readonly number[], touched: readonly string[] | Error = []) => {
  const { usage, asked } = reader(positions, touched)
  const woken = await followUsage({ database: api.database, usage }, tenant.tenant)
  return { woken, asked }
}

/** A subscription whose next run is due in an hour. */
async function waiting(): Promise<Billed> {
  const billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z' })
  await api.sql('update pricing_plan_subscriptions set next_billing_at = $2 where id = $1', [
    billed.subscriptionId,
    new Date(NOW + 3_600_000),
  ])
  return billed
}
const isDue = async ({ subscriptionId }: Billed): Promise<boolean> =>
  (
    await api.sql('select next_billing_at <= $2 as due from pricing_plan_subscriptions where id = $1', [
      subscriptionId,
      new Date(NOW),
    ])
  )[0]?.['due']

test('new usage makes exactly the subscriptions due that it may belong to', async () => {
  api.clock.set(NOW)
  const [touched, parent, other] = [await waiting(), await waiting(), await waiting()]
  const child = await succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('child'),
    type: 'INDIVIDUAL',
    status: 'ACTIVE',
    roles: ['PROCESSING_ONLY'],
    parent_customer_id: parent.customerId,
  })
  // The first call only remembers the positions of the log.
  expect(await follow([5, 7], [other.customerReference])).toEqual({ woken: 0, asked: [] })
  // Nothing arrived: nothing is read.
  expect(await follow([5, 7], [other.customerReference])).toEqual({ woken: 0, asked: [] })
  const keys = [touched.customerId, child['reference'], 'nobody']
  expect(await follow([5, 9, 2], keys)).toEqual({ woken: 2, asked: [[5, 7, 0]] })
  expect(await Promise.all([touched, parent, other].map(isDue))).toEqual([true, true, false])
  // By its reference too; a subscription that is already due is not counted again.
  expect(await follow([6, 9, 2], [other.customerReference, touched.customerId])).toEqual({
    woken: 1,
    asked: [[5, 9, 2]],
  })
})

test('a call that fails is repeated from the same position', async () => {
  api.clock.set(NOW)
  const billed = await waiting()
  await follow([50])
  await expect(follow([60], new Error('away'))).rejects.toThrow('away')
  const { woken, asked } = await follow([60], [billed.customerReference])
  expect(woken).toBe(1)
  expect(asked).toEqual([[50]])
  expect(await isDue(billed)).toBe(true)
})
