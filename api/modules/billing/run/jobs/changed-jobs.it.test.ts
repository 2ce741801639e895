// Subscriptions that change are billed at once: a few by themselves, and many of a tenant in groups.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { asSystem } from '../../../../../shared/database/database.ts'
import { runJob } from '../../../../jobs/testing/run-job.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../../testing/harness.ts'
import { noticesOf } from '../../../../testing/notices.ts'
import type { Row } from '../../../../testing/wire.ts'
import { openWorker, type TestWorker } from '../../../../testing/worker.ts'
import type { OutboxRow } from '../../../../workers/outbox-row.ts'
import { runReactions } from '../../../../workers/reaction.ts'
import { makeActiveSubscription, succeed } from '../../../subscriptions/testing/seed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import { billingJobs } from './billing-jobs.ts'
import { billingReactions } from './changed-jobs.ts'
import type { GroupRun } from './group-jobs.ts'

const NOW = Date.parse('2026-03-11T10:00:00Z')
const S = '/v1/pricing-plan-subscriptions'
let api: ApiHarness
let worker: TestWorker
let ids: string[]
let others: string[]

beforeAll(async () => {
  api = await startOwnApi()
  worker = await openWorker(api)
  api.clock.set(NOW)
  const made = async (tenant: TestTenant, count: number): Promise<string[]> => {
    const all: string[] = []
    while (all.length < count) all.push(await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z'))
    return all
  }
  ids = await made(api.tenants.aTest, 13)
  others = await made(api.tenants.bLive, 2)
})
afterAll(async () => {
  await worker?.close()
  await api?.close()
})
afterEach(async () => {
  await worker.takeQueued()
})

/** Puts off all billing. */
const putOff = () =>
  api.sql(`update pricing_plan_subscriptions set billing_claimed_until = null, next_billing_at = $1`, [
    new Date(NOW + 86_400_000),
  ])

/** Changes these of a tenant, and has the last notice of each relayed in one batch. */
async function change(...changed: readonly (readonly [tenant: TestTenant, ids: readonly string[]])[]): Promise<void> {
  const rows: OutboxRow[] = []
  for (const [tenant, own] of changed)
    for (const id of own) {
      await succeed(tenant, 'PATCH', `${S}/${id}`, { purchase_order_number: tenant.seed.unique('po') })
      rows.push(...((await noticesOf(api, id)) as OutboxRow[]).slice(-1))
    }
  await putOff()
  await relay(rows)
}
const relay = (rows: readonly OutboxRow[]) =>
  asSystem(worker.deps.system, 'find-due-billing', tx =>
    runReactions(tx, billingReactions, { heads: rows, bodies: new Map(rows.map(row => [row.id, row])) }),
  )

/** Runs the one job that bills many, and gives the jobs that it queued. */
async function billMany(): Promise<{ payload: Row; queued: { name: string; payload: Row }[] }> {
  const [job, ...more] = await worker.takeQueued()
  expect([job?.name, more]).toEqual(['bill-changed', []])
  const payload = job?.payload ?? {}
  const deps = { ...worker.deps, usage: NO_USAGE }
  // A worker that is killed before the job ends leaves it to another, which does the same again.
  await runJob(billingJobs(), 'bill-changed', deps, payload)
  await worker.takeQueued()
  await runJob(billingJobs(), 'bill-changed', deps, payload)
  return { payload, queued: await worker.takeQueued() }
}

const due = async (): Promise<string[]> =>
  (
    await api.sql('select id from pricing_plan_subscriptions where next_billing_at <= $1 order by id', [new Date(NOW)])
  ).map(({ id }) => id)

test('a few that change together have a run each', async () => {
  await change([api.tenants.aTest, ids.slice(0, 9)], [api.tenants.bLive, others])
  const queued = await worker.takeQueued()
  expect(queued.map(({ name, payload }) => [name, payload['id']]).sort()).toEqual(
    [...ids.slice(0, 9), ...others].map(id => ['billing-run', id]).sort(),
  )
  expect(await due()).toEqual([])
})

test('many of a tenant are billed as a group, and the few of another tenant by themselves', async () => {
  await change([api.tenants.aTest, ids])
  const { payload, queued } = await billMany()
  const { platformId, environment } = api.tenants.aTest.tenant
  expect(payload).toEqual({ platform_id: platformId, environment, ids: expect.any(Array) })
  expect(queued).toEqual([{ name: 'billing-group', payload: { platform_id: platformId, environment, slot: 0 } }])
  expect(await due()).toEqual(ids.toSorted())
  const billed: string[][] = []
  const run: GroupRun = async (_deps, _tenant, all) => {
    billed.push([...all])
    return new Map()
  }
  await runJob(billingJobs(undefined, run), 'billing-group', { ...worker.deps, usage: NO_USAGE }, queued[0]?.payload)
  expect(billed.map(all => all.toSorted())).toEqual([ids.toSorted()])
})

test('each batch has a job of its own, so that none takes the place of another that waits', async () => {
  await change([api.tenants.aTest, ids.slice(0, 10)])
  await change([api.tenants.aTest, ids.slice(2, 12)], [api.tenants.bLive, others])
  const queued = await worker.takeQueued()
  expect(queued.map(({ name }) => name).sort()).toEqual(['bill-changed', 'bill-changed', 'billing-run', 'billing-run'])
  expect(new Set(queued.flatMap(({ payload }) => payload['ids'] ?? []))).toEqual(new Set(ids.slice(0, 12)))
})

test('of many, those that no group may bill have a run of their own', async () => {
  const [onClock = '', running = '', draft = '', ended = ''] = ids
  const clock = await succeed(api.tenants.aTest, 'POST', '/v1/test-clocks', {
    name: 'year',
    frozen_time: '2026-03-11T10:00:00Z',
  })
  const { platformId } = api.tenants.aTest.tenant
  await api.sql(
    `insert into test_clock_customers (platform_id, environment, customer_id, test_clock_id)
     select platform_id, environment, customer_id, $2 from pricing_plan_subscriptions where id = $1 on conflict do nothing`,
    [onClock, clock['id']],
  )
  await change([api.tenants.aTest, ids])
  await api.sql('update pricing_plan_subscriptions set billing_claimed_until = $2 where id = $1', [
    running,
    new Date(NOW + 60_000),
  ])
  // What became of them since they changed.
  await api.sql(`update pricing_plan_subscriptions set status = 'DRAFT' where id = $1`, [draft])
  await api.sql(
    `update pricing_plan_subscriptions set status = 'CANCELLED', cancelled_at = $2, next_billing_at = null where id = $1`,
    [ended, new Date(NOW)],
  )
  const { queued } = await billMany()
  const alone = [onClock, running, draft]
  expect(queued.filter(({ name }) => name === 'billing-run').map(({ payload }) => payload)).toEqual(
    expect.arrayContaining(alone.map(id => ({ platform_id: platformId, environment: 'TEST', id }))),
  )
  expect(queued.map(({ name }) => name).sort()).toEqual(['billing-group', ...alone.map(() => 'billing-run')].sort())
  expect(await due()).toEqual(ids.filter(id => !alone.includes(id)).sort())
})
