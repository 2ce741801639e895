// The job queue against a real database: what a change sets off, what is found due, and what is forgotten.

import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asSystem, type Database } from '../../shared/database/database.ts'
import { createFailpoints } from '../../shared/failpoint.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { loginOf } from '../../shared/testing/database-logins.ts'
import type { Instant } from '../../shared/time.ts'
import { expireKeys } from '../http/idempotency/expire-idempotency-keys.ts'
import {
  findLostReprocesses,
  queueReprocesses,
  reprocessJobs,
  reprocessReactions,
} from '../modules/billing/reprocess/reprocess-jobs.ts'
import type { ReprocessRun } from '../modules/billing/reprocess/run-reprocess.ts'
import { billingJobs, findDueBilling } from '../modules/billing/run/jobs/billing-jobs.ts'
import { billingReactions } from '../modules/billing/run/jobs/changed-jobs.ts'
import { queueBilling } from '../modules/billing/run/jobs/queue-billing.ts'
import { findLostSimulations, simulationJobs } from '../modules/billing/simulate/simulation-jobs.ts'
import { NO_USAGE } from '../modules/billing/testing/no-usage.ts'
import {
  makeActiveSubscription,
  makeSubscription,
  succeed,
} from '../modules/subscriptions/testing/seed-subscription.ts'
import { catalogOf } from '../testing/catalog.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../testing/harness.ts'
import { openWorkerDatabase } from '../testing/worker.ts'
import { startOutboxRelay } from '../workers/outbox-relay.ts'
import { createRounds } from '../workers/rounds.ts'
import { prepareJobSchema } from './job-schema.ts'
import { createWorkerMetrics } from './metrics.ts'
import { startJobs } from './runner.ts'
import { runJob } from './testing/run-job.ts'

let api: ApiHarness
let tenant: TestTenant
let worker: Database
const metrics = createWorkerMetrics(new Registry())

beforeAll(async () => {
  api = await startOwnApi()
  tenant = api.tenants.aTest
  worker = await openWorkerDatabase(api, 6)
  // Several workers start at once, and a second start finds it done.
  await Promise.all([1, 2, 3].map(() => prepareJobSchema(api.databaseUrl)))
})
afterAll(async () => {
  await worker.close()
  await api.close()
})

type Run = NonNullable<Parameters<typeof billingJobs>[0]>
const deps = () => ({
  system: worker,
  database: api.database,
  usage: NO_USAGE,
  producers: [],
  metrics,
  logger: silentLogger,
})
const startBilling = (run: Run) => startJobs(loginOf(api.databaseUrl, 'millrace_worker'), billingJobs(run), deps())

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; !(await condition()); round += 1) {
    if (round > 1_000) throw new Error('it did not come about')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

const queued = async (id: string): Promise<number> =>
  (await api.sql('select 1 from graphile_worker.jobs where key = $1', [`billing-run:${id}`])).length

test('activating a subscription has it billed promptly, in its own tenant, by relay and queue', async () => {
  const runs: [Tenant, string][] = []
  const jobs = await startBilling(async (_deps, of, id) => {
    runs.push([of, id])
    return { nextBillingAt: null }
  })
  const relay = startOutboxRelay({
    database: worker,
    rounds: createRounds(worker),
    reactions: billingReactions,
    failpoints: createFailpoints(''),
    metrics,
    logger: silentLogger,
  })
  const draft = await makeSubscription(tenant)
  const id = await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z')
  await until(() => runs.length > 0)
  await relay.close()
  await jobs.close()
  expect(jobs.fault()).toBe('the job queue was left')
  expect(runs[0]).toEqual([tenant.tenant, id])
  expect(runs.some(run => run[1] === draft)).toBe(false)
})

test('a run that fails is tried again, and holds up no other', async () => {
  const [broken, sound] = [
    await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z'),
    await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z'),
  ]
  const due = [broken, sound].map(id => ({
    platform_id: tenant.tenant.platformId,
    environment: tenant.tenant.environment,
    id,
  }))
  await asSystem(worker, 'find-due-billing', tx => queueBilling(tx, due))
  await asSystem(worker, 'find-due-billing', tx => queueBilling(tx, due))
  expect([await queued(broken), await queued(sound)]).toEqual([1, 1])
  const run: Run = async (_deps, _tenant, id) => {
    if (id === broken) throw new Error('cannot be billed')
    return { nextBillingAt: null }
  }
  const jobs = await startBilling(run)
  await until(async () => (await queued(sound)) === 0)
  await until(
    async () =>
      (
        await api.sql('select 1 from graphile_worker.jobs where key = $1 and attempts = 1 and locked_at is null', [
          `billing-run:${broken}`,
        ])
      ).length === 1,
  )
  await jobs.close()
})

test('one run has a bound: a subscription that is due again at once is run again at once', async () => {
  const id = await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z')
  let left = 3
  const run: Run = async (_deps, _tenant, billed) => {
    if (billed === id) left -= 1
    return { nextBillingAt: billed === id && left > 0 ? (0 as Instant) : null }
  }
  const due = { platform_id: tenant.tenant.platformId, environment: tenant.tenant.environment, id }
  const jobs = await startBilling(run)
  await asSystem(worker, 'find-due-billing', tx => queueBilling(tx, [due]))
  await until(() => left === 0)
  await jobs.close()
})

test('what is due is found across tenants: by its time, or by a cancellation that takes effect', async () => {
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  const [billed, cancelled, later] = [
    await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z'),
    await makeActiveSubscription(api.tenants.bLive, '2026-01-01T00:00:00Z'),
    await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z'),
  ]
  await succeed(api.tenants.bLive, 'POST', `/v1/pricing-plan-subscriptions/${cancelled}/cancel`, {
    type: 'DATE',
    cancel_at: '2026-03-20T00:00:00Z',
  })
  await api.sql(
    "update pricing_plan_subscriptions set next_billing_at = case id when $1 then '2026-03-11T10:00:00Z'::timestamptz else '2026-09-01' end",
    [billed],
  )
  const dueIds = async () => (await findDueBilling(worker)).map(due => due.id)
  expect(await dueIds()).toEqual([billed])
  api.clock.set(Date.parse('2026-03-20T00:00:00Z'))
  expect((await dueIds()).sort()).toEqual([billed, cancelled].sort())
  expect(await dueIds()).not.toContain(later)
})

test('a cancellation takes effect before the run that bills up to it', async () => {
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  const id = await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z')
  await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${id}/cancel`, {
    type: 'DATE',
    cancel_at: '2026-03-20T00:00:00Z',
  })
  const seen: string[] = []
  const jobs = billingJobs(async () => {
    seen.push((await api.sql('select status from pricing_plan_subscriptions where id = $1', [id]))[0]?.['status'])
    return { nextBillingAt: null }
  })
  const payload = { platform_id: tenant.tenant.platformId, environment: tenant.tenant.environment, id }
  const runTask = () => runJob(jobs, 'billing-run', deps(), payload)
  await runTask()
  api.clock.set(Date.parse('2026-03-20T00:00:00Z'))
  await runTask()
  expect(seen).toEqual(['ACTIVE', 'CANCELLED'])
})

test('a reprocess is run once its delay has passed, tried again while it fails, and told of its last try', async () => {
  // The queue goes by the time of the database.
  api.clock.set(Date.now())
  const customer = await succeed(tenant, 'POST', '/v1/customers', { type: 'INDIVIDUAL' })
  const body = { type: 'CUSTOMER', customer: { customer_id: customer['id'] } }
  const [now, later] = [await succeed(tenant, 'POST', '/v1/reprocess', body), await laterReprocess(body)]
  const runs: ReprocessRun[] = []
  const reprocess = async (_deps: unknown, run: ReprocessRun) => {
    runs.push(run)
    if (runs.length === 1) throw new Error('not yet')
  }
  const relay = startOutboxRelay({
    database: worker,
    rounds: createRounds(worker),
    reactions: reprocessReactions,
    failpoints: createFailpoints(''),
    metrics,
    logger: silentLogger,
  })
  const waiting = () =>
    api.sql(
      `select key, run_at > now() + interval '1 hour' as later from graphile_worker.jobs where key like 'reprocess:%' order by later`,
    )
  await until(async () => (await waiting()).length === 2)
  await relay.close()
  expect(await waiting()).toEqual([
    { key: `reprocess:${now['id']}`, later: false },
    { key: `reprocess:${later['id']}`, later: true },
  ])
  const jobs = await startJobs(loginOf(api.databaseUrl, 'millrace_worker'), reprocessJobs(reprocess), deps())
  await until(() => runs.length === 1)
  // It comes again by itself, after a pause; the test does not wait for that.
  await until(
    async () =>
      (
        await api.sql(`select from graphile_worker.jobs where key = $1 and attempts = 1 and locked_at is null`, [
          `reprocess:${now['id']}`,
        ])
      ).length === 1,
  )
  await api.sql(`update graphile_worker._private_jobs set run_at = now(), max_attempts = 2 where key = $1`, [
    `reprocess:${now['id']}`,
  ])
  await until(() => runs.length === 2)
  await jobs.close()
  expect(runs).toEqual([
    { tenant: tenant.tenant, id: now['id'], last: false },
    { tenant: tenant.tenant, id: now['id'], last: true },
  ])
})

test('a reprocess whose worker was killed is taken up again, and one that waits for its next try is left to it', async () => {
  api.clock.set(Date.now())
  const [lost, waiting, fresh] = [await succeedReprocess(), await succeedReprocess(), await succeedReprocess()]
  const due = [lost, waiting, fresh].map(({ id, scheduled_at }) => ({ ...dueOf(id), scheduled_at }))
  await asSystem(worker, 'find-lost-reprocesses', tx => queueReprocesses(tx, due))
  const jobOf = (id: string) => `key = 'reprocess:${id}'`
  const lockedBy = `locked_at = now(), locked_by = 'a worker that is gone'`
  await api.sql(
    `update graphile_worker._private_jobs set ${lockedBy} where ${jobOf(lost['id'])} or ${jobOf(fresh['id'])}`,
  )
  // By the clock that stands still, however long the machine takes from here on.
  const silentSince = new Date(api.clock.now() - 31_000).toISOString()
  await api.sql('update reprocesses set updated_at = $2, scheduled_at = $2 where id = any($1)', [
    [lost['id'], waiting['id']],
    silentSince,
  ])
  const found = async () =>
    (await findLostReprocesses(worker)).map(({ id }) => id).filter(id => due.some(one => one.id === id))
  expect(await found()).toEqual([lost['id']])
  await runJob(reprocessJobs(), 'find-lost-reprocesses', deps())
  expect(await api.sql(`select locked_at from graphile_worker.jobs where ${jobOf(lost['id'])}`)).toEqual([
    { locked_at: null },
  ])
  expect(await found()).toEqual([])
})

test('a simulation whose worker was killed is taken up again, and one that is finished is not', async () => {
  api.clock.set(Date.now())
  const { version } = await catalogOf(tenant).activeVersion()
  const start = () => succeed(tenant, 'POST', `/v1/pricing-plan-versions/${version['id']}/simulate`, {})
  const [lost, finished, fresh] = [await start(), await start(), await start()]
  await succeed(tenant, 'POST', `/v1/pricing-plan-version-simulations/${finished['id']}/cancel`)
  const silentSince = new Date(api.clock.now() - 61_000).toISOString()
  await api.sql('update pricing_plan_version_simulations set updated_at = $2 where id = any($1)', [
    [lost['id'], finished['id']],
    silentSince,
  ])
  const made = [lost, finished, fresh].map(({ id }) => id)
  const found = async () => (await findLostSimulations(worker)).map(({ id }) => id).filter(id => made.includes(id))
  expect(await found()).toEqual([lost['id']])
  await runJob(simulationJobs, 'find-lost-simulations', deps())
  expect(await found()).toEqual([])
  await runJob(simulationJobs, 'simulate-pricing-plan-version', deps(), dueOf(lost['id']))
  const url = `/v1/pricing-plan-version-simulations/${lost['id']}`
  expect(await succeed(tenant, 'GET', url)).toMatchObject({ status: 'DONE', result: { number_of_customers: 0 } })
})

const succeedReprocess = () => succeed(tenant, 'POST', '/v1/reprocess', { type: 'NOT_MATCHED' })
const dueOf = (id: string) => ({ platform_id: tenant.tenant.platformId, environment: tenant.tenant.environment, id })

/** One made while the platform has a delay of two hours. */
async function laterReprocess(body: object) {
  const url = `/v1/platforms/${tenant.tenant.platformId}`
  await succeed(tenant, 'PATCH', url, { reprocessing_settings: { default_delay: { type: 'HOUR', value: 2 } } })
  const made = await succeed(tenant, 'POST', '/v1/reprocess', body)
  await succeed(tenant, 'PATCH', url, { reprocessing_settings: null })
  return made
}

test('answers of Idempotency-Keys are kept 48 hours', async () => {
  const create = (key: string) =>
    tenant.call('POST', '/v1/customers', { type: 'INDIVIDUAL' }, { 'idempotency-key': key })
  const first = [await create('old'), await create('fresh')]
  await api.sql(
    "update idempotency_keys set created_at = now() - case key when 'old' then interval '48 hours 1 second' else interval '47 hours 59 minutes' end",
  )
  await runJob([expireKeys], 'expire-idempotency-keys', deps())
  const again = [await create('old'), await create('fresh')]
  expect(again[0]?.body['id']).not.toBe(first[0]?.body['id'])
  expect(again[1]?.body['id']).toBe(first[1]?.body['id'])
})

test('the worker sees of a subscription only when it is due', async () => {
  const read = (column: string) =>
    asSystem(worker, 'find-due-billing', tx => tx.execute(`select ${column} from pricing_plan_subscriptions limit 1`))
  await expect(read('name')).rejects.toMatchObject({ cause: { code: '42501' } })
  expect((await read('next_billing_at')).rows).toHaveLength(1)
})
