// Migrations of all subscriptions of a plan version by the API: the preview, the move, what cannot be moved, and what is refused.
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { runBilling } from '../run/run-billing.ts'
import { succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'
import type { UsageReader } from '../usage/usage-reader.ts'
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
const setTime = (text: string): void => rig.setTime(text)
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const onOneVersion: MigrationRig['onOneVersion'] = count => rig.onOneVersion(count)
const run: MigrationRig['run'] = (id, more) => rig.run(id, more)
const subscriptionsOf: MigrationRig['subscriptionsOf'] = id => rig.subscriptionsOf(id)
const versionsOf: MigrationRig['versionsOf'] = subscription => rig.versionsOf(subscription)
const firstOf = async (subscription: string): Promise<string> =>
  (
    await get(
      `pricing-plan-schedules?pricing_plan_subscription_id=${subscription}&order_by=start_at&order_direction=asc`,
    )
  )['data'][0].id

test('is previewed, moves nothing until it is started, and then bills what it previewed', async () => {
  const { version, next, subscriptions } = await onOneVersion(2)
  const [one = '', ends = ''] = subscriptions
  await post(`pricing-plan-subscriptions/${ends}/cancel`, { type: 'DATE', cancel_at: '2026-03-20T00:00:00Z' })
  for (const id of subscriptions) await runBilling(deps, tenant.tenant, id)
  const made = await post(`pricing-plan-versions/${version}/migrate`, { pricing_plan_version_id: next })
  expect(made).toMatchObject({ status: 'SCHEDULED', type: 'NEXT_BILLING_PERIOD', result: null })
  expect(await tenant.call('POST', `${PATH}/${made['id']}/start`)).toMatchObject({
    status: 400,
    body: { code: 'INVALID_OPERATION', resource_id: made['id'] },
  })
  await run(made['id'])
  const previewed = await get(`pricing-plan-version-migrations/${made['id']}`)
  expect(previewed).toMatchObject({
    status: 'PREVIEWED',
    percentage: 100,
    result: {
      number_of_subscriptions: 2,
      number_of_previewed: 1,
      number_of_skipped: 1,
      totals: [{ currency: 'EUR', amount: eur('10'), migrated_amount: eur('20'), difference: eur('10') }],
    },
  })
  const rows = await subscriptionsOf(made['id'])
  expect(rows.find(row => row['pricing_plan_subscription_id'] === one)).toMatchObject({
    status: 'PREVIEWED',
    start_at: '2026-04-01T00:00:00Z',
    invoice_date: '2026-03-31T00:00:00Z',
    difference: eur('10'),
  })
  expect(rows.find(row => row['pricing_plan_subscription_id'] === ends)).toMatchObject({
    status: 'SKIPPED',
    message: expect.stringContaining('ends at 2026-03-20'),
  })
  expect(await versionsOf(one)).toEqual([`${version} 2026-03-01T00:00:00Z ACTIVE`])
  await post(`pricing-plan-version-migrations/${made['id']}/start`)
  await run(made['id'])
  expect(await get(`pricing-plan-version-migrations/${made['id']}`)).toMatchObject({
    status: 'DONE',
    result: { number_of_moved: 1, number_of_skipped: 1, number_of_failed: 0 },
  })
  expect(await versionsOf(one)).toEqual([
    `${version} 2026-03-01T00:00:00Z ACTIVE`,
    `${next} 2026-04-01T00:00:00Z ACTIVE`,
  ])
  // A price of a year has charged days beyond, which the new version charges again.
  const flags = await api.sql(
    'select refund_advance_charges as refund from pricing_plan_schedules where pricing_plan_subscription_id = $1 order by start_at',
    [one],
  )
  expect(flags).toEqual([{ refund: true }, { refund: false }])
  // The invoice of April is what was previewed.
  setTime('2026-04-01T01:00:00Z')
  await runBilling(deps, tenant.tenant, one)
  const invoices = (await get(`invoices?pricing_plan_subscription_id=${one}`))['data']
  expect(invoices.map((row: Row) => row['invoice_amount_including_tax'].quantity)).toContain('24.20')
  await expectPayloads(api, made['id'], [
    'PRICING_PLAN_VERSION_MIGRATION.CREATED',
    'PRICING_PLAN_VERSION_MIGRATION.UPDATED',
  ])
})

test('a subscription is billed at the first attempt although another one of its customer moves meanwhile', async () => {
  const { version, next, subscriptions } = await onOneVersion(2)
  const [one = ''] = subscriptions
  const made = await post(`pricing-plan-versions/${version}/migrate`, {
    pricing_plan_version_id: next,
    type: 'IMMEDIATE_PRO_RATA',
  })
  await run(made['id'])
  await post(`pricing-plan-version-migrations/${made['id']}/start`)
  await api.sql('delete from migrated_subscriptions where migration_id = $1 and pricing_plan_subscription_id = $2', [
    made['id'],
    one,
  ])
  let attempts = 0
  const progress: UsageReader['progress'] = async clock => {
    attempts += 1
    if (attempts === 1) await run(made['id'])
    return { positions: [], upToDateUntil: clock.now(), isComplete: true }
  }
  await runBilling({ ...deps, usage: { ...NO_USAGE, progress } }, tenant.tenant, one)
  expect((await get(`pricing-plan-version-migrations/${made['id']}`))['result'].number_of_moved).toBe(1)
  expect(attempts).toBe(1)
})

test('compares with the invoice of the same period however far ahead, and moves later schedules where they are', async () => {
  const { version, next, subscriptions } = await onOneVersion(3)
  const [one = '', planned = '', trial = ''] = subscriptions
  const scheduleOf = async (id: string): Promise<string> =>
    (await get(`pricing-plan-schedules?pricing_plan_subscription_id=${id}`))['data'][0].id
  const JUNE = '2026-06-01T00:00:00Z'
  const JULY = '2026-07-01T00:00:00Z'
  const follow = async (id: string, start_at: string, end_at: string | null = null): Promise<string> =>
    (
      await post(`pricing-plan-schedules/${await scheduleOf(id)}/copy?set_previous_end_at=true`, {
        start_at,
        ...(end_at ? { end_at } : {}),
      })
    )['id']
  const later = await follow(planned, JUNE, JULY)
  await post(`pricing-plan-schedules/${later}/activate`)
  const draft = (
    await post('pricing-plan-schedules', {
      pricing_plan_subscription_id: planned,
      pricing_plan_version_id: version,
      start_at: JULY,
      end_at: '2026-08-01T00:00:00Z',
      discount: { totals: [{ percentage: '5' }] },
    })
  )['id']
  // It is pending review, so the migration leaves it unchanged.
  const pending = (
    await post('pricing-plan-schedules', {
      pricing_plan_subscription_id: planned,
      pricing_plan_version_id: version,
      start_at: '2026-08-01T00:00:00Z',
    })
  )['id']
  await api.sql(`update pricing_plan_schedules set approval_status = 'PENDING_REVIEW' where id = $1`, [pending])
  await post(`pricing-plan-schedules/${await follow(trial, JUNE)}/activate`)
  await api.sql(`update pricing_plan_schedules set type = 'TRIAL' where id = $1`, [await firstOf(trial)])
  const preview = async (body: object): Promise<[string, Row[]]> => {
    const { id } = await post(`pricing-plan-versions/${version}/migrate`, { pricing_plan_version_id: next, ...body })
    await run(id)
    return [id, await subscriptionsOf(id)]
  }
  const of = (rows: readonly Row[], id: string) => rows.find(row => row['pricing_plan_subscription_id'] === id)
  const [, ahead] = await preview({ type: 'IMMEDIATE', start_at: '2027-01-01T00:00:00Z' })
  expect(of(ahead, one)).toMatchObject({ amount: eur('10'), migrated_amount: eur('20'), difference: eur('10') })
  const [id, rows] = await preview({})
  const plain = { status: 'PREVIEWED', message: null }
  expect([of(rows, one), of(rows, planned), of(rows, trial)]).toMatchObject([
    plain,
    plain,
    { ...plain, start_at: JUNE },
  ])
  await post(`pricing-plan-version-migrations/${id}/start`)
  await run(id)
  expect(of(await subscriptionsOf(id), planned)).toMatchObject({ status: 'MOVED', message: null })
  expect((await versionsOf(planned)).slice(1)).toEqual([
    expect.stringMatching(`${next} .* ACTIVE`),
    `${next} ${JUNE} ACTIVE`,
    `${next} ${JULY} DRAFT`,
    `${version} 2026-08-01T00:00:00Z DRAFT`,
  ])
  expect((await get(`pricing-plan-schedules/${draft}`))['discount']).toMatchObject({ totals: [{ percentage: '5' }] })
  expect((await versionsOf(trial)).map(text => text.split(' ')[0])).toEqual([version, next])
})

test('moves a subscription whose discount has ended by then, and leaves the discount behind', async () => {
  const { version, next, subscriptions } = await onOneVersion(1)
  const [one = ''] = subscriptions
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-schedules/${await firstOf(one)}`, {
    discount: { totals: [{ percentage: '50', end_at: '2026-03-20T00:00:00Z' }] },
  })
  const { id } = await post(`pricing-plan-versions/${version}/migrate`, { pricing_plan_version_id: next })
  await run(id)
  await post(`pricing-plan-version-migrations/${id}/start`)
  await run(id)
  const [row] = await subscriptionsOf(id)
  expect(row).toMatchObject({ status: 'MOVED', code: null })
  expect((await get(`pricing-plan-schedules/${row?.['pricing_plan_schedule_id']}`))['discount']).toEqual({ totals: [] })
})

test('leaves a later schedule that a FINAL invoice has charged ahead, and names it', async () => {
  const { version, next, subscriptions } = await onOneVersion(1)
  const [id = ''] = subscriptions
  const copying = `pricing-plan-schedules/${await firstOf(id)}/copy?set_previous_end_at=true`
  const start_at = '2026-04-15T00:00:00Z'
  const later = (await post(copying, { start_at }))['id']
  await post(`pricing-plan-schedules/${later}/activate`)
  // The invoice of March charges all of April ahead.
  for (const time of ['2026-04-01T00:01:00Z', '2026-04-05T10:00:00Z']) {
    setTime(time)
    await runBilling(deps, tenant.tenant, id)
  }
  const { id: migration } = await post(`pricing-plan-versions/${version}/migrate`, {
    pricing_plan_version_id: next,
    type: 'IMMEDIATE',
  })
  await run(migration)
  await post(`pricing-plan-version-migrations/${migration}/start`)
  await run(migration)
  const stays = expect.stringContaining(`${later} from ${start_at} on`)
  expect(await subscriptionsOf(migration)).toMatchObject([{ status: 'MOVED', message: stays }])
  expect((await versionsOf(id)).map(text => text.split(' ')[0])).toEqual([version, next, version])
})

test('logs a fault that is no refusal, and previews the others', async () => {
  const { version, next, subscriptions } = await onOneVersion(3)
  const [, bad = ''] = subscriptions
  const read: UsageReader['read'] = (tenant, parts, ...need) =>
    parts.some(({ keys }) => keys?.some(key => key.includes(bad)))
      ? Promise.reject(new TypeError('a bug'))
      : NO_USAGE.read(tenant, parts, ...need)
  const logged: unknown[] = []
  const logger = pino({ level: 'error' }, { write: (line: string) => logged.push(JSON.parse(line)) })
  const made = await post(`pricing-plan-versions/${version}/migrate`, { pricing_plan_version_id: next })
  await run(made['id'], { usage: { ...NO_USAGE, read }, logger })
  expect(logged).toMatchObject([{ migrationId: made['id'], subscriptionId: bad, err: { message: 'a bug' } }])
  const rows = await subscriptionsOf(made['id'])
  expect(rows.filter(row => row['status'] === 'PREVIEWED')).toHaveLength(2)
  expect(rows.find(row => row['pricing_plan_subscription_id'] === bad)).toMatchObject({
    status: 'ERROR',
    code: 'INTERNAL_ERROR',
  })
})

test.each<[object, string, string]>([
  [{}, 'pricing_plan_version_id', 'MISSING_FIELD'],
  [{ pricing_plan_version_id: 'ppve_0000000000000000000000' }, 'pricing_plan_version_id', 'RESOURCE_NOT_FOUND'],
  [{ pricing_plan_version_id: 'itself' }, 'pricing_plan_version_id', 'INVALID_FIELD'],
  [{ pricing_plan_version_id: 'draft' }, 'pricing_plan_version_id', 'INVALID_FIELD'],
  [{ pricing_plan_version_id: 'next', type: 'LATER' }, 'type', 'INVALID_FIELD'],
  [{ pricing_plan_version_id: 'next', start_at: '2027-01-01T00:00:00Z' }, 'start_at', 'INVALID_FIELD'],
  [
    { pricing_plan_version_id: 'next', type: 'IMMEDIATE', start_at: '2020-01-01T00:00:00Z' },
    'start_at',
    'INVALID_FIELD',
  ],
  [{ pricing_plan_version_id: 'next', limit: 5 }, 'limit', 'INVALID_FIELD'],
])('%j is refused by name', async (given, field, code) => {
  versions ??= onOneVersion(1).then(async ({ version, next }) => {
    const { pricing_plan_id } = await get(`pricing-plan-versions/${version}`)
    return { itself: version, next, draft: (await post('pricing-plan-versions', { pricing_plan_id }))['id'] }
  })
  const named: Readonly<Record<string, string>> = await versions
  const id = 'pricing_plan_version_id' in given ? String(given.pricing_plan_version_id) : undefined
  const body = { ...given, ...(id === undefined ? {} : { pricing_plan_version_id: named[id] ?? id }) }
  const answer = await tenant.call('POST', `/v1/pricing-plan-versions/${named['itself']}/migrate`, body)
  expect(answer.body).toMatchObject({ code, field })
})
let versions: Promise<Readonly<Record<string, string>>> | undefined
