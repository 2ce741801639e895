// Invoices that are not closed are computed again when usage arrives, and only then.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runJob } from '../../../../jobs/testing/run-job.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../../testing/harness.ts'
import { openWorker, type TestWorker } from '../../../../testing/worker.ts'
import type { ChangedCustomer } from '../../../../usage/changes/changed-customers.ts'
import { type Billed, billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import { runGroup } from '../group/run-group.ts'
import { followUsage } from '../state/followed-usage.ts'
import { followJobs, nextCheckMs } from './follow-usage.ts'

const NOW = Date.parse('2026-03-20T00:00:00Z')
let api: ApiHarness
let tenant: TestTenant
let worker: TestWorker
beforeAll(async () => {
  api = await startOwnApi()
  tenant = api.tenants.aLive
  worker = await openWorker(api, 4)
})
afterAll(async () => {
  await worker?.close()
  await api?.close()
})

/** A log at these positions, in which these customers were touched since, last at its end or at positions of their own. */
function reader(positions: readonly number[], touched: Touched) {
  const asked: (readonly number[])[] = []
  const usage = {
    positions: async () => [...positions],
    changedCustomers: async (_tenant: unknown, since: readonly number[]) => {
      asked.push(since)
      if (touched instanceof Error) throw touched
      return touched.map(each => (typeof each === 'string' ? { key: each, positions } : each))
    },
  }
  return { usage, asked }
}
type Touched = readonly (string | ChangedCustomer)[] | Error
const follow = async (positions: readonly number[], touched: Touched = []) => {
  const { usage, asked } = reader(positions, touched)
  const woken = await followUsage({ database: api.database, usage }, tenant.tenant)
  return { woken, asked }
}

/** A subscription whose next run is due in an hour. */
async function waiting(): Promise<Billed> {
  const billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z' })
  await postpone(billed)
  return billed
}
const postpone = ({ subscriptionId }: Billed) =>
  api.sql('update pricing_plan_subscriptions set next_billing_at = $2 where id = $1', [
    subscriptionId,
    new Date(NOW + 3_600_000),
  ])
const isDue = async ({ subscriptionId }: Billed): Promise<boolean> =>
  (
    await api.sql('select next_billing_at <= $2 as due from pricing_plan_subscriptions where id = $1', [
      subscriptionId,
      new Date(NOW),
    ])
  )[0]?.['due']

/** A customer whose events go on to this one. */
const childOf = ({ customerId }: Billed) =>
  succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('child'),
    type: 'INDIVIDUAL',
    status: 'ACTIVE',
    roles: ['PROCESSING_ONLY'],
    parent_customer_id: customerId,
  })

test('new usage makes exactly the subscriptions due that it may belong to', async () => {
  api.clock.set(NOW)
  const [touched, parent, other] = [await waiting(), await waiting(), await waiting()]
  const child = await childOf(parent)
  // The first call finds whatever was touched before.
  expect(await follow([5, 7], [other.customerReference])).toEqual({ woken: 1, asked: [[0, 0]] })
  expect(await isDue(other)).toBe(true)
  await postpone(other)
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

test.each([
  { due: 0, ms: 50_000 },
  { due: 2_000, ms: 36_000 },
  { due: 4_000, ms: 22_000 },
  { due: 1_000_000, ms: 5_000 },
])('with $due due, the next check comes after $ms ms', ({ due, ms }) => {
  expect(nextCheckMs(due)).toBe(ms)
})

test('usage that comes while a subscription is billed, and is checked for meanwhile, makes it due again', async () => {
  api.clock.set(NOW)
  const [touched, other] = [await waiting(), await waiting()]
  await follow([70])
  const wake = 'update pricing_plan_subscriptions set next_billing_at = $2 where id = any($1)'
  const ids = [touched, other].map(({ subscriptionId }) => subscriptionId)
  await api.sql(wake, [ids, new Date(NOW)])
  const keys = [touched.customerReference]
  const usage = {
    ...NO_USAGE,
    positions: async () => [70],
    changedCustomers: async (_tenant: unknown, since: readonly number[]) =>
      since[0] === 70 ? keys.map(key => ({ key, positions: [75] })) : [],
    // Both are due, so this check leaves them as they are.
    upToDateUntil: async () => {
      expect(await follow([75], keys)).toMatchObject({ woken: 0 })
      return api.clock.now()
    },
  }
  const outcomes = await runGroup({ database: api.database, usage }, tenant.tenant, ids)
  expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['DONE', 'DONE'])
  expect(outcomes.get(touched.subscriptionId)).toMatchObject({ run: { nextBillingAt: NOW } })
  expect(await Promise.all([touched, other].map(isDue))).toEqual([true, false])
  // Usage that no check has seen yet is left to the next.
  const unseen = { ...usage, positions: async () => [75], upToDateUntil: async () => api.clock.now() }
  await runGroup({ database: api.database, usage: unseen }, tenant.tenant, ids)
  expect(await isDue(touched)).toBe(false)
})

test('what a run counted already does not make a subscription due again', async () => {
  api.clock.set(NOW)
  const [billed, parent] = [await waiting(), await waiting()]
  const child = await childOf(parent)
  await follow([80, 80])
  const ids = [billed, parent].map(({ subscriptionId }) => subscriptionId)
  const billUpTo = async (...positions: number[]) => {
    const usage = { ...NO_USAGE, positions: async () => positions }
    await runGroup({ database: api.database, usage }, tenant.tenant, ids)
    await Promise.all([billed, parent].map(postpone))
  }
  await billUpTo(84, 83)
  const at = (key: unknown, ...positions: number[]) => ({ key: String(key), positions })
  const reference = billed.customerReference
  const dueOf = () => Promise.all([billed, parent].map(isDue))
  expect(await follow([84, 83], [at(reference, 84, 0), at(child['id'], 0, 83)])).toMatchObject({ woken: 0 })
  expect(await dueOf()).toEqual([false, false])
  // Whatever was touched later in any partition is not counted, whether the subscription is its own or that of a customer above it.
  expect(await follow([84, 84], [at(reference, 84, 0), at(child['id'], 0, 84)])).toMatchObject({ woken: 1 })
  expect(await dueOf()).toEqual([false, true])
  expect(await follow([85, 84], [at(reference, 0, 83), at(billed.customerId, 85, 0)])).toMatchObject({ woken: 1 })
  expect(await follow([85, 84, 1], [at(reference, 0, 0, 1)])).toMatchObject({ woken: 0 })
  await billUpTo(85, 84)
  expect(await follow([85, 84, 2], [at(reference, 0, 0, 2)])).toMatchObject({ woken: 1 })
})

/** Saves a run of this subscription, up to these positions, just before a check saves its own. */
async function savingBeforeTheEnd<T>(
  { subscriptionId }: Billed,
  counted: readonly number[],
  check: () => Promise<T>,
): Promise<T> {
  await api.sql(`create function save_run() returns trigger language plpgsql as $$ begin
    update pricing_plan_subscriptions set next_billing_at = '${new Date(NOW + 3_600_000).toISOString()}',
      usage_counted_positions = '{${counted.join()}}' where id = '${subscriptionId}';
    return new; end $$`)
  await api.sql('create trigger save_run before update on followed_usage for each row execute function save_run()')
  try {
    return await check()
  } finally {
    await api.sql('drop trigger save_run on followed_usage')
    await api.sql('drop function save_run')
  }
}
const makeDue = (...all: readonly Billed[]) =>
  api.sql('update pricing_plan_subscriptions set next_billing_at = $2 where id = any($1)', [
    all.map(({ subscriptionId }) => subscriptionId),
    new Date(NOW),
  ])

test('a run that saves while a check ends loses nothing', async () => {
  api.clock.set(NOW)
  // The other one is due still when the check ends.
  const [billed, other] = [await waiting(), await waiting()]
  await follow([90])
  await makeDue(billed, other)
  const check = () => follow([95], [billed.customerReference, other.customerReference])
  expect(await savingBeforeTheEnd(billed, [94], check)).toMatchObject({ woken: 1 })
  expect(await isDue(billed)).toBe(true)
  await makeDue(billed)
  const again = () => follow([96], [{ key: billed.customerReference, positions: [96] }])
  expect(await savingBeforeTheEnd(billed, [96], again)).toMatchObject({ woken: 0 })
})

test('neither does one of a customer above others, who are among many', async () => {
  api.clock.set(NOW)
  const parent = await waiting()
  const [first, last] = [await childOf(parent), await childOf(parent)]
  await follow([110, 110])
  await makeDue(parent)
  const strangers = Array.from({ length: 300 }, (_, number) => ({ key: `stranger-${number}`, positions: [112, 0] }))
  const at = (child: Record<string, unknown>, ...positions: number[]) => ({
    key: String(child['reference']),
    positions,
  })
  const check = () => follow([115, 119], [at(first, 115, 0), ...strangers, at(last, 0, 119)])
  expect(await savingBeforeTheEnd(parent, [110, 119], check)).toMatchObject({ woken: 1 })
  expect(await isDue(parent)).toBe(true)
})

test('each check queues the next one, and the search begins only where none waits', async () => {
  api.clock.set(Date.now())
  await api.sql('update pricing_plan_subscriptions set next_billing_at = null')
  await worker.takeQueued()
  const billed = await billedSubscription(tenant, { start_at: '2026-03-01T00:00:00Z' })
  const setNext = (at: Date | null) =>
    api.sql('update pricing_plan_subscriptions set next_billing_at = $2 where id = $1', [billed.subscriptionId, at])
  await setNext(new Date(Date.now() + 3_600_000))
  const queued = () =>
    api.sql("select key, run_at from graphile_worker.jobs where task_identifier = 'follow-usage-of-tenant'")
  const deps = { ...worker.deps, usage: { ...NO_USAGE, positions: async () => [1] } }
  const { platformId: platform_id, environment } = tenant.tenant
  const check = () => runJob(followJobs, 'follow-usage-of-tenant', deps, { platform_id, environment })

  await runJob(followJobs, 'follow-usage', deps)
  expect(await queued()).toMatchObject([{ key: `follow-usage-of-tenant:${platform_id}:${environment}` }])
  await check()
  const [next] = await queued()
  expect(Number(next?.['run_at'])).toBeGreaterThan(Date.now() + 30_000)
  // Not brought forward by the search.
  await runJob(followJobs, 'follow-usage', deps)
  expect(await queued()).toEqual([next])
  // One that failed is.
  await api.sql('update graphile_worker._private_jobs set attempts = 3')
  await runJob(followJobs, 'follow-usage', deps)
  const [repeated] = await queued()
  expect(Number(repeated?.['run_at'])).toBeLessThan(Date.now() + 30_000)
  // Where nothing will be billed, checking ends.
  await worker.takeQueued()
  await setNext(null)
  await check()
  expect(await queued()).toEqual([])
})
