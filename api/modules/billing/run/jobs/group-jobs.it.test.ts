// Due subscriptions are claimed in groups: by one run at a time, and not for ever.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { asSystem } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { createFailpoints } from '../../../../../shared/failpoint.ts'
import { silentLogger } from '../../../../../shared/process/logger.ts'
import { loginOf } from '../../../../../shared/testing/database-logins.ts'
import { countLivingWorkers, watchWorkers } from '../../../../jobs/living-workers.ts'
import { runJob } from '../../../../jobs/testing/run-job.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../../testing/harness.ts'
import { noticesOf } from '../../../../testing/notices.ts'
import { openWorker, type TestWorker } from '../../../../testing/worker.ts'
import type { OutboxRow } from '../../../../workers/outbox-row.ts'
import { runReactions } from '../../../../workers/reaction.ts'
import { makeActiveSubscription, succeed } from '../../../subscriptions/testing/seed-subscription.ts'
import { NO_USAGE } from '../../testing/no-usage.ts'
import { runGroup } from '../group/run-group.ts'
import type { Outcome } from '../outcome.ts'
import { billingJobs, findDueBilling } from './billing-jobs.ts'
import { billingReactions } from './changed-jobs.ts'
import { billGroup, type GroupRun, queueGroups } from './group-jobs.ts'

const NOW = Date.parse('2026-03-11T10:00:00Z')
let api: ApiHarness
let tenant: TestTenant
let worker: TestWorker

beforeAll(async () => {
  api = await startOwnApi()
  tenant = api.tenants.aTest
  worker = await openWorker(api, 4)
})
afterAll(async () => {
  await worker?.close()
  await api?.close()
})
afterEach(async () => {
  await api.sql('update pricing_plan_subscriptions set next_billing_at = null, billing_claimed_until = null')
  await worker.takeQueued()
})

const deps = (over: object = {}) => ({ ...worker.deps, usage: NO_USAGE, ...over })

/** ACTIVE subscriptions of this tenant that are due. */
async function due(count: number, of: TestTenant = tenant): Promise<string[]> {
  api.clock.set(NOW)
  const ids: string[] = []
  for (let place = 0; place < count; place += 1) ids.push(await makeActiveSubscription(of, '2026-01-01T00:00:00Z'))
  return ids
}

/** Makes them subscriptions of one customer that combine. */
const combine = (ids: readonly string[]) =>
  api.sql(
    `update pricing_plan_subscriptions set combine = true, customer_id = (
       select customer_id from pricing_plan_subscriptions where id = $1) where id = any($2)`,
    [ids[0], ids],
  )

const done: Outcome = { kind: 'DONE', run: { invoices: [], nextBillingAt: null, isUnfinished: false } }
/** A run that does nothing but remember its input. */
function recording(outcomeOf: (id: string) => Outcome = () => done): { run: GroupRun; seen: string[][] } {
  const seen: string[][] = []
  const run: GroupRun = async (_deps, _tenant, ids) => {
    seen.push([...ids])
    return new Map(ids.map(id => [id, outcomeOf(id)]))
  }
  return { run, seen }
}
const found = async () => (await findDueBilling(worker.deps.system)).map(({ id, alone }) => [id, alone])

test('bills each due subscription of a tenant once, whichever of two groups claims it, and none of another tenant', async () => {
  const ids = await due(3)
  const others = await due(1, api.tenants.bLive)
  const { run, seen } = recording()
  await Promise.all([billGroup(deps(), tenant.tenant, run), billGroup(deps(), tenant.tenant, run)])
  expect(seen.flat().sort()).toEqual([...ids].sort())
  expect(await found()).toEqual(others.map(id => [id, false]))
})

test('releases a billed group, with the time at which each is due next', async () => {
  const ids = await due(2)
  expect(await billGroup(deps(), tenant.tenant, runGroup)).toEqual({ again: false, alone: [] })
  const rows = await api.sql(
    'select next_billing_at > $2 as later, billing_claimed_until as until from pricing_plan_subscriptions where id = any($1)',
    [ids, new Date(NOW)],
  )
  expect(rows).toEqual(ids.map(() => ({ later: true, until: null })))
})

test('claims at most one group, and runs again while more may be due', async () => {
  await due(3)
  const taken: number[] = []
  const run: GroupRun = async (_deps, _tenant, ids) => {
    taken.push(ids.length)
    return new Map(ids.map(id => [id, done]))
  }
  expect(await billGroup(deps(), tenant.tenant, run, 2)).toMatchObject({ again: true })
  expect(await billGroup(deps(), tenant.tenant, run, 2)).toMatchObject({ again: false })
  expect(taken).toEqual([2, 1])
})

test('claims subscriptions that became due at the same time in the order in which ClickHouse stores their usage', async () => {
  const [d = '', b = '', a = '', c = ''] = await due(4)
  const references = new Map([
    [d, 'd'],
    [b, 'b'],
    [a, 'a'],
    [c, 'c'],
  ])
  for (const [id, reference] of references)
    await api.sql(
      'update customers set reference = $2 where id = (select customer_id from pricing_plan_subscriptions where id = $1)',
      [id, `usage-order-${reference}`],
    )
  // The run of the month before leaves the order.
  await billGroup(deps(), tenant.tenant, runGroup)
  const makeDue = (ids: readonly string[], at: number) =>
    api.sql('update pricing_plan_subscriptions set next_billing_at = $2 where id = any($1)', [ids, new Date(at)])
  const { run, seen } = recording()
  await makeDue([a, b, c, d], NOW - 60_000)
  for (let group = 0; group < 2; group += 1) await billGroup(deps(), tenant.tenant, run, 2)
  expect(
    seen.map(ids =>
      ids
        .map(id => references.get(id))
        .toSorted()
        .join(),
    ),
  ).toEqual(['a,b', 'c,d'])
  await api.sql('update pricing_plan_subscriptions set billing_claimed_until = null')
  // What has been due for longer comes first all the same.
  await makeDue([d], NOW - 120_000)
  await billGroup(deps(), tenant.tenant, run, 2)
  expect(
    seen
      .at(-1)
      ?.map(id => references.get(id))
      .toSorted(),
  ).toEqual(['a', 'd'])
})

test('claims with a subscription what is combined with it, so that no other group computes that as well', async () => {
  const [one = '', beside = '', other = '', third = ''] = await due(4)
  await combine([one, beside])
  await combine([other, third])
  const { run, seen } = recording()
  await Promise.all([billGroup(deps(), tenant.tenant, run, 1), billGroup(deps(), tenant.tenant, run, 1)])
  const sets = seen.map(ids => ids.toSorted().join()).toSorted()
  expect(sets).toEqual([[one, beside].toSorted().join(), [other, third].toSorted().join()].toSorted())
})

test('bills no more at once where what is combined makes a claim larger', async () => {
  const pairs = [await due(2), await due(2), await due(2)]
  for (const ids of pairs) await combine(ids)
  const { run, seen } = recording()
  await api.sql('update pricing_plan_subscriptions set next_billing_at = $2 where id = any($1)', [
    pairs.map(([first]) => first),
    new Date(NOW - 60_000),
  ])
  expect(await billGroup(deps(), tenant.tenant, run, 3)).toMatchObject({ again: true })
  expect(seen.map(ids => ids.length)).toEqual([2, 2, 2])
  expect(new Set(seen.map(ids => ids.toSorted().join()))).toEqual(new Set(pairs.map(ids => ids.toSorted().join())))
})

test('leaves what cannot be billed to a run of its own, and no group claims it meanwhile', async () => {
  const [broken = '', held = '', sound = ''] = await due(3)
  const outcomes: Record<string, Outcome> = {
    [broken]: { kind: 'FAILED', error: new AppError('INVALID_OPERATION', 'It cannot be billed.') },
    [held]: { kind: 'ALONE' },
  }
  const first = recording(id => outcomes[id] ?? done)
  const left = await billGroup(deps(), tenant.tenant, first.run)
  expect([...left.alone].sort()).toEqual([broken, held].sort())
  const second = recording()
  await billGroup(deps(), tenant.tenant, second.run)
  expect(second.seen).toEqual([])
  expect(await found()).toEqual([])
  // When the claims expire they are still due, and still billed alone.
  api.clock.set(NOW + 121_000)
  expect((await found()).filter(([id]) => id !== sound).sort()).toEqual(
    [
      [broken, true],
      [held, true],
    ].sort(),
  )
})

test('finds the claims of a run that died once they expire', async () => {
  const ids = await due(2)
  const failpoint = createFailpoints('billing.after-claim:error')
  await expect(billGroup(deps({ failpoint }), tenant.tenant, recording().run)).rejects.toThrow('failpoint')
  expect(await found()).toEqual([])
  api.clock.set(NOW + 121_000)
  expect((await found()).sort()).toEqual(ids.map(id => [id, true]).sort())
})

test('releases what could not be read at all: it is due as before', async () => {
  const ids = await due(2)
  const away: GroupRun = async () => {
    throw new AppError('SERVICE_UNAVAILABLE', 'Usage cannot be read right now.')
  }
  await expect(billGroup(deps(), tenant.tenant, away)).rejects.toThrow('Usage cannot be read')
  const unread: Outcome = { kind: 'FAILED', error: new AppError('SERVICE_UNAVAILABLE', 'Usage is away.') }
  expect(await billGroup(deps(), tenant.tenant, recording(() => unread).run)).toEqual({ again: false, alone: [] })
  expect((await found()).sort()).toEqual(ids.map(id => [id, false]).sort())
})

describe('cancellations', () => {
  const AT = '2026-03-20T00:00:00Z'

  /** Subscriptions that are cancelled for a time that has come. */
  async function ending(count: number): Promise<string[]> {
    const ids = await due(count)
    for (const id of ids)
      await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${id}/cancel`, { type: 'DATE', cancel_at: AT })
    api.clock.set(Date.parse(AT))
    return ids
  }
  const statuses = async (ids: readonly string[]) => {
    const rows = await api.sql('select id, status from pricing_plan_subscriptions where id = any($1)', [ids])
    return ids.map(id => rows.find(row => row['id'] === id)?.['status'])
  }
  const lastNotices = async (id: string) => ((await noticesOf(api, id)) as OutboxRow[]).slice(-2)

  test('take effect before the group is billed, each with its notices', async () => {
    const ids = await ending(3)
    const seen: unknown[] = []
    await billGroup(deps(), tenant.tenant, async (_deps, _tenant, own) => {
      seen.push(await statuses(ids))
      return new Map(own.map(each => [each, done]))
    })
    expect(seen).toEqual([['CANCELLED', 'CANCELLED', 'CANCELLED']])
    for (const id of ids)
      expect(await lastNotices(id)).toMatchObject([
        { type: 'PRICING_PLAN_SUBSCRIPTION.UPDATED', data: { status: 'CANCELLED' } },
        { type: 'PRICING_PLAN_SUBSCRIPTION.CANCELLED', data: { status: 'CANCELLED' } },
      ])
  })

  test('one that cannot take effect leaves the others to theirs, and is billed by itself', async () => {
    const ids = await ending(3)
    const broken = ids[1] ?? ''
    await api.sql(`create function refuse_end() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`)
    await api.sql(`create trigger refuse_end before update on pricing_plan_subscriptions for each row
      when (new.id = '${broken}' and new.status = 'CANCELLED') execute function refuse_end()`)
    try {
      const { run, seen } = recording()
      expect(await billGroup(deps(), tenant.tenant, run)).toMatchObject({ alone: [broken] })
      expect(seen.flat().sort()).toEqual(ids.filter(id => id !== broken).sort())
      expect(await statuses(ids)).toEqual(['CANCELLED', 'ACTIVE', 'CANCELLED'])
    } finally {
      await api.sql('drop trigger refuse_end on pricing_plan_subscriptions')
      await api.sql('drop function refuse_end')
    }
  })

  test('queue no other run where a run made them take effect, and one where a call did', async () => {
    const [settled = ''] = await ending(1)
    await billGroup(deps(), tenant.tenant, recording().run)
    const [cancelled = ''] = await due(1)
    await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${cancelled}/cancel`, { type: 'NOW' })
    await worker.takeQueued()
    const rows = [...(await lastNotices(settled)), ...(await lastNotices(cancelled))]
    const bodies = new Map(rows.map(row => [row.id, row]))
    await asSystem(worker.deps.system, 'find-due-billing', tx =>
      runReactions(tx, billingReactions, { heads: rows, bodies }),
    )
    expect((await worker.takeQueued()).map(({ payload }) => payload['id'])).toEqual([cancelled])
  })
})

test('a job is a group: those that are due are queued by tenant, and one that fails has a job of its own', async () => {
  const [broken = '', ...others] = await due(3)
  const run = recording(id => (id === broken ? { kind: 'ALONE' } : done))
  const jobs = billingJobs(undefined, run.run)
  await runJob(jobs, 'find-due-billing', deps())
  const keys = async () =>
    (await api.sql('select key from graphile_worker.jobs order by key')).map(row => String(row['key']))
  const { platformId, environment } = tenant.tenant
  expect(await keys()).toEqual([`billing-group:${platformId}:${environment}:0`])
  const queue = (count: number) =>
    asSystem(worker.deps.system, 'find-due-billing', tx =>
      queueGroups(
        tx,
        Array.from({ length: count }, () => ({ platform_id: platformId, environment })),
      ),
    )
  await queue(251)
  expect(await keys()).toHaveLength(2)
  // Two for each worker there is: others share the work.
  await queue(1_251)
  expect(await keys()).toHaveLength(2)
  const workers = [1, 2].map(place => {
    const living = watchWorkers(loginOf(api.databaseUrl, 'millrace_worker'), silentLogger)
    living.add(`other-${place}-short`)
    living.add(`other-${place}-long`)
    return living
  })
  try {
    await expect
      .poll(() => asSystem(worker.deps.system, 'find-due-billing', countLivingWorkers), { timeout: 30_000 })
      .toBe(2)
    await queue(251)
    expect(await keys()).toHaveLength(2)
    await queue(1_251)
    expect(await keys()).toHaveLength(4)
  } finally {
    await Promise.all(workers.map(living => living.close()))
  }
  await runJob(jobs, 'billing-group', deps(), { platform_id: platformId, environment, slot: 0 })
  expect(run.seen.flat().sort()).toEqual([broken, ...others].sort())
  expect(await keys()).toContain(`billing-run:${broken}`)
})

test('shows in the metrics how many are due, since when, and which failed', async () => {
  const { metrics } = worker.deps
  const gauge = async (name: 'billingDue' | 'billingFailing' | 'billingLag') =>
    (await metrics[name].get()).values[0]?.value
  const measured = async (jobs = billingJobs()) => {
    await runJob(jobs, 'find-due-billing', deps())
    return [await gauge('billingDue'), await gauge('billingFailing'), await gauge('billingLag')]
  }
  const runsOf = async (outcome: string) =>
    (await metrics.billingRuns.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
  expect(await measured()).toEqual([0, 0, 0])
  const [broken = ''] = await due(3)
  await api.sql('update pricing_plan_subscriptions set next_billing_at = $2 where id = $1', [
    broken,
    new Date(NOW - 90_000),
  ])
  expect(await measured()).toEqual([3, 0, 90])
  const error = new AppError('INVALID_OPERATION', 'It cannot be billed.')
  const group: GroupRun = (of, its, ids) =>
    runGroup(
      of,
      its,
      ids.filter(id => id !== broken),
    ).then(
      found =>
        new Map([
          ...found,
          ...ids.filter(id => id === broken).map((id): [string, Outcome] => [id, { kind: 'FAILED', error }]),
        ]),
    )
  const failing = billingJobs(() => Promise.reject(error), group)
  const { platformId, environment } = tenant.tenant
  await runJob(failing, 'billing-group', deps(), { platform_id: platformId, environment, slot: 0 })
  const failedBefore = await runsOf('failed')
  await expect(
    runJob(failing, 'billing-run', deps(), { platform_id: platformId, environment, id: broken }),
  ).rejects.toThrow('It cannot be billed.')
  expect(await runsOf('failed')).toBe(failedBefore + 1)
  // The others are billed; the one that failed is tried again, and shows as failing once its claim has expired.
  api.clock.set(NOW + 121_000)
  expect(await measured(failing)).toEqual([1, 1, 211])
})
