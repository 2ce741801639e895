// Migrations whose runs are killed, stopped or cancelled, and what else happens to their subscriptions meanwhile.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runJob } from '../../../jobs/testing/run-job.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import { openWorker } from '../../../testing/worker.ts'
import { runGroup } from '../run/group/run-group.ts'
import { runBilling } from '../run/run-billing.ts'
import { succeed } from '../testing/billed-subscription.ts'
import { findLostMigrations, migrationJobs } from './migration-jobs.ts'
import type { MigrationDeps } from './run-migration.ts'
import { type MigrationRig, openMigrationRig, PATH } from './testing/migration-rig.ts'

let rig: MigrationRig
let api: ApiHarness
let tenant: TestTenant
let deps: MigrationDeps
beforeAll(async () => {
  rig = await openMigrationRig()
  ;({ api, tenant, deps } = rig)
})
afterAll(() => api.close())

const get: MigrationRig['get'] = url => rig.get(url)
const post: MigrationRig['post'] = (url, body) => rig.post(url, body)
const onOneVersion: MigrationRig['onOneVersion'] = count => rig.onOneVersion(count)
const run: MigrationRig['run'] = (id, more) => rig.run(id, more)
const subscriptionsOf: MigrationRig['subscriptionsOf'] = id => rig.subscriptionsOf(id)
const versionsOf: MigrationRig['versionsOf'] = subscription => rig.versionsOf(subscription)

test('continues after a kill between two subscriptions, and moves each once', async () => {
  const { version, next, subscriptions } = await onOneVersion(4)
  const made = await post(`pricing-plan-versions/${version}/migrate`, { pricing_plan_version_id: next })
  const killedAfter = (count: number) => {
    let left = count
    return async (name: string) => {
      if (!name.startsWith('migrate.')) return
      left -= 1
      if (left === 0) throw new Error('killed')
    }
  }
  await expect(run(made['id'], { failpoint: killedAfter(1) })).rejects.toThrow('killed')
  const counted = async () => {
    const statuses = (await subscriptionsOf(made['id'])).map(row => row['status'])
    return Object.fromEntries(
      [...new Set(statuses)].map(each => [each, statuses.filter(other => other === each).length]),
    )
  }
  expect(await counted()).toEqual({ PREVIEWED: 4 })
  // How far it is shows what is committed, in the middle of a run too.
  const shown = () => get(`pricing-plan-version-migrations/${made['id']}`)
  expect(await shown()).toMatchObject({ status: 'SCHEDULED', percentage: 100, result: { number_of_previewed: 4 } })
  await run(made['id'])
  await post(`pricing-plan-version-migrations/${made['id']}/start`)
  await expect(run(made['id'], { failpoint: killedAfter(1) })).rejects.toThrow('killed')
  expect(await counted()).toEqual({ MOVED: 1, PREVIEWED: 3 })
  const quarter = {
    status: 'IN_PROGRESS',
    percentage: 25,
    result: { number_of_subscriptions: 4, number_of_moved: 1, number_of_previewed: 3 },
  }
  expect(await shown()).toMatchObject(quarter)
  const listed = await get(`pricing-plan-version-migrations?from_pricing_plan_version_id=${version}`)
  expect(listed['data']).toMatchObject([quarter])
  await Promise.all([run(made['id']), run(made['id'])])
  expect(await counted()).toEqual({ MOVED: 4 })
  for (const id of subscriptions) expect(await versionsOf(id)).toHaveLength(2)
  // One more finds nothing to do.
  await run(made['id'])
  expect(await get(`pricing-plan-version-migrations/${made['id']}`)).toMatchObject({ status: 'DONE', percentage: 100 })
})

test('is found when its worker was killed, once it is silent, and is finished', async () => {
  const { version, next, subscriptions } = await onOneVersion(2)
  const { id } = await post(`pricing-plan-versions/${version}/migrate`, { pricing_plan_version_id: next })
  await run(id)
  await post(`pricing-plan-version-migrations/${id}/start`)
  const killed = async (name: string) => {
    if (name.startsWith('migrate.')) throw new Error('killed')
  }
  await expect(run(id, { failpoint: killed })).rejects.toThrow('killed')
  const worker = await openWorker(api, 1)
  const jobDeps = { ...deps, ...worker.deps }
  const found = async () => (await findLostMigrations(worker.deps.system)).some(each => each.id === id)
  const search = () => runJob(migrationJobs, 'find-lost-migrations', jobDeps)
  try {
    api.clock.set(Date.parse('2026-03-10T00:00:30Z'))
    expect(await found()).toBe(false)
    api.clock.set(Date.parse('2026-03-10T00:00:31Z'))
    expect(await found()).toBe(true)
    await search()
    expect(await found()).toBe(false)
    // The queue keeps the job of a worker that is gone; another is queued beside it.
    await api.sql(
      `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'a worker that is gone'
       where key = $1`,
      [`migrate-pricing-plan-version:${id}`],
    )
    expect(await found()).toBe(true)
    await search()
    expect(await found()).toBe(false)
    const due = { platform_id: tenant.tenant.platformId, environment: tenant.tenant.environment, id }
    await runJob(migrationJobs, 'migrate-pricing-plan-version', jobDeps, due)
    expect(await get(`pricing-plan-version-migrations/${id}`)).toMatchObject({
      status: 'DONE',
      result: { number_of_moved: 2 },
    })
    for (const each of subscriptions) expect(await versionsOf(each)).toHaveLength(2)
    api.clock.set(Date.parse('2026-03-10T01:00:00Z'))
    expect(await found()).toBe(false)
  } finally {
    await worker.close()
  }
})

test('is stopped between two subscriptions, and what cannot be moved holds up no other', async () => {
  const { version, next, subscriptions } = await onOneVersion(3)
  const [blocked = ''] = subscriptions
  // Its schedule of April on is planned already, so the new one would have no room.
  const [{ id: schedule }] = (await get(`pricing-plan-schedules?pricing_plan_subscription_id=${blocked}`))['data']
  await succeed(tenant, 'POST', `/v1/pricing-plan-schedules/${schedule}/copy?set_previous_end_at=true`, {
    start_at: '2026-04-01T00:00:00Z',
  })
  const body = { pricing_plan_version_id: next, type: 'IMMEDIATE' }
  const made = await post(`pricing-plan-versions/${version}/migrate`, body)
  await run(made['id'])
  await post(`pricing-plan-version-migrations/${made['id']}/start`)
  const cancel = async () => void (await tenant.call('POST', `${PATH}/${made['id']}/cancel`))
  await run(made['id'], { failpoint: cancel })
  const stopped = await get(`pricing-plan-version-migrations/${made['id']}`)
  expect(stopped).toMatchObject({
    status: 'CANCELLED',
    percentage: 33,
    result: { number_of_moved: 1, number_of_previewed: 2 },
  })
  const again = await post(`pricing-plan-versions/${version}/migrate`, { pricing_plan_version_id: next })
  await run(again['id'])
  const rows = await subscriptionsOf(again['id'])
  expect(rows).toHaveLength(2)
  expect(
    (await get(`pricing-plan-version-migrations?from_pricing_plan_version_id=${version}&status=CANCELLED`))['data'],
  ).toHaveLength(1)
})

test('moves every subscription of a customer while they are billed and one of them is cancelled', async () => {
  const { version, next, subscriptions } = await onOneVersion(4)
  for (const id of subscriptions) await runBilling(deps, tenant.tenant, id)
  const made = await post(`pricing-plan-versions/${version}/migrate`, {
    pricing_plan_version_id: next,
    type: 'IMMEDIATE_PRO_RATA',
  })
  await run(made['id'])
  await post(`pricing-plan-version-migrations/${made['id']}/start`)
  const [cancelled = ''] = subscriptions
  const cancel = tenant.call('POST', `/v1/pricing-plan-subscriptions/${cancelled}/cancel`, { type: 'NOW' })
  const [answer] = await Promise.all([
    cancel,
    run(made['id']),
    ...[1, 2, 3].map(() => runGroup(deps, tenant.tenant, subscriptions)),
  ])
  expect(answer.status).toBe(200)
  for (const row of await subscriptionsOf(made['id'])) {
    const id = row['pricing_plan_subscription_id']
    // Whichever comes first, the subscription has all of it or nothing.
    expect(row).toMatchObject(id === cancelled ? { code: null } : { status: 'MOVED' })
    expect(await versionsOf(id)).toHaveLength(row['status'] === 'MOVED' ? 2 : 1)
  }
})

test('started and cancelled at once it ends cancelled, and only its start may be refused', async () => {
  const { version, next } = await onOneVersion(1)
  const made = await post(`pricing-plan-versions/${version}/migrate`, { pricing_plan_version_id: next })
  await run(made['id'])
  const [start, cancel] = await Promise.all(
    ['start', 'cancel'].map(verb => tenant.call('POST', `${PATH}/${made['id']}/${verb}`)),
  )
  expect(cancel?.status).toBe(200)
  expect(start?.status === 200 || start?.body).toSatisfy(
    answer => answer === true || answer['code'] === 'INVALID_OPERATION',
  )
  await run(made['id'])
  expect(await get(`pricing-plan-version-migrations/${made['id']}`)).toMatchObject({ status: 'CANCELLED' })
})
