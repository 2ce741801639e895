// What rules find of entitlements: real PostgreSQL and ClickHouse, time as the test sets it. Every look may come twice, at once, or be cut short.

import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { silentLogger } from '../../../../shared/process/logger.ts'
import { createTestClickHouse, type TestClickHouse } from '../../../../shared/testing/clickhouse.ts'
import { openTestDatabase } from '../../../../shared/testing/database-logins.ts'
import { type ClickHouseClient, createClickHouse, selectRows } from '../../../../shared/usage/clickhouse.ts'
import { prepareJobSchema } from '../../../jobs/job-schema.ts'
import { createWorkerMetrics } from '../../../jobs/metrics.ts'
import { runJob } from '../../../jobs/testing/run-job.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import {
  type Billed,
  type BilledOptions,
  billedSubscription,
  succeed,
  useTokens,
} from '../../billing/testing/billed-subscription.ts'
import { createUsageReader } from '../../billing/usage/usage-reader.ts'
import { grantTokens } from '../../catalog/features/testing/grant-tokens.ts'
import { alertJobs, findAlertRules } from '../jobs.ts'
import type { EvaluationDeps } from './alert-use.ts'
import { evaluateAlerts } from './evaluate-alerts.ts'

const NOW = '2026-03-20T12:00:00Z'
let clickhouse: TestClickHouse
let client: ClickHouseClient
let api: ApiHarness
let tenant: TestTenant
let deps: EvaluationDeps
/** Readings of usage since the test began. */
let reads: number

beforeAll(async () => {
  clickhouse = await createTestClickHouse()
  client = createClickHouse(clickhouse.url, clickhouse.database)
  const { read, lastMarks } = createUsageReader({ client, jsm: undefined as never, partitions: 0 })
  api = await startOwnApi()
  tenant = api.tenants.aLive
  const usage: EvaluationDeps['usage'] = {
    read: (...of) => {
      reads += 1
      return read(...of)
    },
    lastMarks,
    // Events are stored here by the test; how far the aggregator is, is the last of them.
    positions: async () => {
      const [row] = await selectRows<[string]>(client, 'SELECT max(log_seq) FROM usage_events')
      return [Number(row?.[0] ?? 0)]
    },
  }
  deps = { database: api.database, usage, logger: silentLogger }
})
afterAll(async () => {
  await api?.close()
  await client?.close()
  await clickhouse?.drop()
})
beforeEach(async () => {
  setTime(NOW)
  reads = 0
  // The rules of an earlier test are not this one's.
  await api.sql(`update alert_rules set status = 'ARCHIVED'`)
  await api.sql('truncate alert_evaluations')
})

const setTime = (text: string): void => api.clock.set(Date.parse(text))
const look = (more: Partial<EvaluationDeps> = {}, of = tenant) => evaluateAlerts({ ...deps, ...more }, of.tenant)
const rule = (body: object, of = tenant): Promise<Row> =>
  succeed(of, 'POST', '/v1/alert-rules', { reference: of.seed.unique('rule'), status: 'ACTIVE', ...body })
const watching = (feature: Granted, threshold: object, more: object = {}) =>
  rule({
    type: 'ENTITLEMENT',
    entitlement: { feature_id: feature.featureId, comparator: 'GREATER_THAN_OR_EQUALS', threshold },
    ...more,
  })
const alertsOf = async (by: Row): Promise<Row[]> =>
  (await succeed(tenant, 'GET', '/v1/alerts?limit=100'))['data']
    .filter((alert: Row) => alert['alert_rule_id'] === by['id'])
    .toReversed()
const use = (billed: Billed, tokens: string, timestamp: string) =>
  useTokens(client, tenant, { billed, tokens, timestamp })

type Granted = Billed & { readonly featureId: string }

/** A subscription since February 1 to which 1,000 tokens are granted. */
async function granted(options: Partial<BilledOptions> & { readonly featureId?: string } = {}): Promise<Granted> {
  const grant = grantTokens(tenant)
  const billed = await billedSubscription(tenant, {
    start_at: '2026-02-01T00:00:00Z',
    schedule: grant.schedule,
    ...options,
  })
  return { ...billed, featureId: options.featureId ?? grant.featureId }
}

describe('what is used of an entitlement', () => {
  test('of a customer of a test clock is that of the period in which the clock stands', async () => {
    const own = tenant
    tenant = api.tenants.aTest
    try {
      const one = await granted({ activate: false })
      await succeed(tenant, 'POST', '/v1/test-clocks', {
        frozen_time: '2026-02-10T00:00:00Z',
        customer_ids: [one.customerId],
      })
      const url = `/v1/pricing-plan-subscriptions/${one.subscriptionId}`
      await succeed(tenant, 'PATCH', url, { status: 'ACTIVE' })
      const watched = {
        feature_id: one.featureId,
        comparator: 'GREATER_THAN_OR_EQUALS',
        threshold: { percentage: '80' },
      }
      const by = await rule({ type: 'ENTITLEMENT', entitlement: watched }, tenant)
      // By the day it is March; by the clock, February.
      await use(one, '900', '2026-03-05 00:00:00.000')
      expect((await look({}, tenant)).ENTITLEMENT).toBe(0)
      await use(one, '900', '2026-02-05 00:00:00.000')
      expect((await look({}, tenant)).ENTITLEMENT).toBe(1)
      expect((await alertsOf(by)).map(alert => alert['data_trigger_reference'])).toEqual([
        `${one.subscriptionId} 2026-02-01T00:00:00Z`,
      ])
    } finally {
      tenant = own
    }
  })

  test('sets a rule off once a billing period, as soon as the threshold is reached and never before', async () => {
    const own = await granted()
    const by = await watching(own, { percentage: '80' })
    await use(own, '799', '2026-03-05 00:00:00.000')
    expect(await look()).toEqual({ INVOICE: 0, ENTITLEMENT: 0, complete: true })
    await use(own, '1', '2026-03-06 00:00:00.000')
    expect(await look()).toEqual({ INVOICE: 0, ENTITLEMENT: 1, complete: true })
    await use(own, '100', '2026-03-07 00:00:00.000')
    expect((await look()).ENTITLEMENT).toBe(0)
    const [alert] = await alertsOf(by)
    expect(alert).toMatchObject({
      object_type: 'ALERT',
      platform_id: tenant.tenant.platformId,
      customer_id: own.customerId,
      type: 'ENTITLEMENT',
      data_trigger_reference: `${own.subscriptionId} 2026-03-01T00:00:00Z`,
      alert_data: {
        entitlement: {
          pricing_plan_subscription_id: own.subscriptionId,
          entitlement_value: { number: '1000' },
          threshold_value: { number: '800' },
          used_value: { number: '800' },
        },
      },
    })
    const told = await api.sql(`select type, actor_id from outbox where object_id = $1`, [alert?.['id']])
    expect(told).toEqual([{ type: 'ALERT.CREATED', actor_id: null }])
    // The next period starts from nothing, and what comes late into the one before is not looked at.
    setTime('2026-04-01T00:00:01Z')
    await use(own, '5000', '2026-03-31 00:00:00.000')
    expect((await look()).ENTITLEMENT).toBe(0)
    await use(own, '900', '2026-04-01 00:00:00.500')
    expect((await look()).ENTITLEMENT).toBe(1)
    expect((await alertsOf(by)).map(each => each['data_trigger_reference'])).toEqual(
      ['03', '04'].map(month => `${own.subscriptionId} 2026-${month}-01T00:00:00Z`),
    )
  })

  test('makes one alert of many looks at once, also when one of them was cut short before', async () => {
    const own = await granted()
    const by = await watching(own, { number: '10' })
    await use(own, '10', '2026-03-05 00:00:00.000')
    const failpoint = async (name: string) => {
      if (name === 'alerts.before-save') throw new Error('killed')
    }
    await expect(look({ failpoint })).rejects.toThrow('killed')
    expect(await alertsOf(by)).toEqual([])
    const looks = await Promise.all(Array.from({ length: 4 }, () => look()))
    expect(looks.reduce((sum, each) => sum + each.ENTITLEMENT, 0)).toBe(1)
    expect(await alertsOf(by)).toHaveLength(1)
    const [told] = await api.sql(
      `select count(*)::int as times from outbox where type = 'ALERT.CREATED' and data ->> 'alert_rule_id' = $1`,
      [by['id']],
    )
    expect(told?.['times']).toBe(1)
  })

  test('is not told of by a rule that was changed while it was read, and is looked at again by what it is now', async () => {
    const own = await granted()
    const by = await watching(own, { number: '10' })
    await use(own, '10', '2026-03-05 00:00:00.000')
    const changing = (patch: object) => ({
      failpoint: async (name: string) => {
        if (name === 'alerts.before-save') await succeed(tenant, 'PATCH', `/v1/alert-rules/${by['id']}`, patch)
      },
    })
    expect((await look(changing({ status: 'DEPRECATED' }))).ENTITLEMENT).toBe(0)
    expect((await look()).ENTITLEMENT).toBe(0)
    await succeed(tenant, 'PATCH', `/v1/alert-rules/${by['id']}`, { status: 'ACTIVE' })
    expect((await look(changing({ name: 'Nearly used' }))).ENTITLEMENT).toBe(0)
    expect((await look()).ENTITLEMENT).toBe(1)
  })

  test('is read again only when something may have changed', async () => {
    const [own, other] = [await granted(), await granted()]
    const by = await watching(own, { number: '100' })
    await watching(other, { number: '100' })
    const readsOf = async (): Promise<number> => {
      reads = 0
      await look()
      return reads
    }
    expect(await readsOf()).toBe(2)
    expect(await readsOf()).toBe(0)
    // Another's event, one of no period of ours, and one of ours.
    await use(other, '1', '2026-03-05 00:00:00.000')
    expect(await readsOf()).toBe(1)
    await use(own, '1', '2026-02-05 00:00:00.000')
    expect(await readsOf()).toBe(0)
    await use(own, '50', '2026-03-05 00:00:00.000')
    expect(await readsOf()).toBe(1)
    expect(await alertsOf(by)).toEqual([])
    // A rule that asks for less finds it without an event, and once it has, its subscription is not read.
    await succeed(tenant, 'PATCH', `/v1/alert-rules/${by['id']}`, {
      entitlement: { ...by['entitlement'], threshold: { number: '50' } },
    })
    expect(await readsOf()).toBe(1)
    expect(await alertsOf(by)).toHaveLength(1)
    await use(own, '50', '2026-03-06 00:00:00.000')
    expect(await readsOf()).toBe(0)
    // What leaves no mark is seen within the hour.
    setTime('2026-03-20T13:00:00Z')
    expect(await readsOf()).toBe(1)
  })

  test('that cannot be read stops the look, which goes on where it was', async () => {
    const own = await granted()
    const by = await watching(own, { number: '10' })
    await use(own, '10', '2026-03-05 00:00:00.000')
    const away = { ...deps.usage, read: () => Promise.reject(new Error('ClickHouse is away')) }
    await expect(look({ usage: away })).rejects.toThrow('away')
    expect(await alertsOf(by)).toEqual([])
    const [state] = await api.sql('select seen_until from alert_evaluations where platform_id = $1', [
      tenant.tenant.platformId,
    ])
    expect(state?.['seen_until']).toBeNull()
    expect((await look()).ENTITLEMENT).toBe(1)
  })

  test('that cannot be read of one subscription holds up no other', async () => {
    const [own, other] = [await granted(), await granted()]
    const rules = [await watching(own, { number: '10' }), await watching(other, { number: '10' })]
    for (const each of [own, other]) await use(each, '10', '2026-03-05 00:00:00.000')
    const read: EvaluationDeps['usage']['read'] = async (of, parts, ...more) => {
      if (parts.some(part => part.customerId === own.customerId)) throw new AppError('INVALID_OPERATION', 'Too many.')
      return await deps.usage.read(of, parts, ...more)
    }
    expect(await look({ usage: { ...deps.usage, read } })).toEqual({ INVOICE: 0, ENTITLEMENT: 1, complete: true })
    expect(await Promise.all(rules.map(async by => (await alertsOf(by)).length))).toEqual([0, 1])
    expect((await look()).ENTITLEMENT).toBe(1)
  })

  test('of more subscriptions than one look takes is gone on with by the next', async () => {
    const all = [await granted(), await granted(), await granted()]
    const rules: Row[] = []
    for (const own of all) {
      rules.push(await watching(own, { number: '10' }))
      await use(own, '10', '2026-03-05 00:00:00.000')
    }
    const limits = { page: 1, pages: 2 }
    expect(await look({ limits })).toEqual({ INVOICE: 0, ENTITLEMENT: 2, complete: false })
    expect(await look({ limits })).toEqual({ INVOICE: 0, ENTITLEMENT: 1, complete: true })
    for (const by of rules) expect(await alertsOf(by)).toHaveLength(1)
  })

  test('counts from the start of the schedule where the state is carried on, also where it is not billed', async () => {
    const own = await granted({ calculation: { persist: true }, config: { pricing_type: 'NONE', bands: null } })
    const by = await watching(own, { number: '10' })
    await use(own, '6', '2026-02-05 00:00:00.000')
    expect((await look()).ENTITLEMENT).toBe(0)
    await use(own, '4', '2026-03-05 00:00:00.000')
    expect((await look()).ENTITLEMENT).toBe(1)
    expect((await alertsOf(by))[0]?.['alert_data'].entitlement.used_value).toEqual({ number: '10' })
  })

  test('is counted on from a state that was told of its price', async () => {
    const own = await granted({ calculation: { persist: true } })
    const by = await watching(own, { number: '10' })
    await use(own, '5', '2026-02-05 00:00:00.000')
    await use(own, '2', '2026-03-05 00:00:00.000')
    expect((await look()).ENTITLEMENT).toBe(0)
    const [pricing] = await api.sql(
      `select id, items from pricings where pricing_plan_version_id in (
         select pricing_plan_version_id from pricing_plan_schedules where pricing_plan_subscription_id = $1)`,
      [own.subscriptionId],
    )
    await succeed(tenant, 'POST', '/v1/ingest/persist-data', {
      customer_id: own.customerId,
      pricing_plan_subscription_id: own.subscriptionId,
      pricing_id: pricing?.['id'],
      pricing_item_id: pricing?.['items'][0].id,
      pricing_item_config_id: pricing?.['items'][0].configs[0].id,
      persist_usage: '8',
      timestamp: '2026-03-01T00:00:00Z',
    })
    expect((await look()).ENTITLEMENT).toBe(1)
    expect((await alertsOf(by))[0]?.['alert_data'].entitlement.used_value).toEqual({ number: '10' })
  })

  test('is that of the customers whose events come to the subscription, as it is on the invoice', async () => {
    const own = await granted()
    const by = await watching(own, { number: '10' })
    const reference = tenant.seed.unique('child')
    await succeed(tenant, 'POST', '/v1/customers', {
      reference,
      type: 'ORGANIZATION',
      status: 'ACTIVE',
      roles: ['PROCESSING_ONLY'],
      parent_customer_ids: [own.customerId],
    })
    await use(own, '4', '2026-03-05 00:00:00.000')
    await look()
    await use({ ...own, customerReference: reference }, '6', '2026-03-21 00:00:00.000')
    expect((await look()).ENTITLEMENT).toBe(1)
    expect((await alertsOf(by))[0]?.['customer_id']).toBe(own.customerId)
  })

  test('is looked at by ACTIVE rules, of the customers they name, in their tenant, while something is granted', async () => {
    const [own, other] = [await granted(), await granted()]
    await use(own, '10', '2026-03-05 00:00:00.000')
    const elsewhere = await watching(own, { number: '10' }, { customer_ids: [other.customerId] })
    const draft = await watching(own, { number: '10' }, { status: 'DRAFT' })
    const unmeasured = await watching(own, { number: '10' })
    const none = await granted({ schedule: async () => ({}), featureId: own.featureId })
    await use(none, '10', '2026-03-05 00:00:00.000')
    const over = await granted()
    const cancelled = await watching(over, { number: '10' })
    await use(over, '10', '2026-03-05 00:00:00.000')
    await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${over.subscriptionId}/cancel`, { type: 'NOW' })
    await succeed(tenant, 'PATCH', `/v1/features/${own.featureId}`, { meter_value_calculation_id: null })
    expect((await look()).ENTITLEMENT).toBe(0)
    expect((await look({}, api.tenants.aTest)).ENTITLEMENT).toBe(0)
    await succeed(tenant, 'PATCH', `/v1/features/${own.featureId}`, { meter_value_calculation_id: own.calculationId })
    expect((await look()).ENTITLEMENT).toBe(1)
    expect((await alertsOf(unmeasured)).map(alert => alert['customer_id'])).toEqual([own.customerId])
    for (const by of [elsewhere, draft, cancelled]) expect(await alertsOf(by)).toEqual([])
  })
})

describe('the job', () => {
  let worker: Database
  beforeAll(async () => {
    await prepareJobSchema(api.databaseUrl)
    worker = await openTestDatabase({
      url: api.databaseUrl,
      role: 'millrace_worker',
      clock: api.clock,
      logger: silentLogger,
      poolMax: 2,
    })
  })
  afterAll(() => worker?.close())

  test('is queued for the tenants that have ACTIVE rules, once each, and counts what it makes', async () => {
    const own = await granted()
    await watching(own, { number: '10' })
    await use(own, '10', '2026-03-05 00:00:00.000')
    const metrics = createWorkerMetrics(new Registry())
    const run = (name: string, payload?: unknown) =>
      runJob(alertJobs, name, { ...deps, system: worker, metrics, logger: silentLogger }, payload)
    const find = () => run('find-alert-rules')
    await find()
    await find()
    const jobs = await api.sql(`select key from graphile_worker.jobs where task_identifier = 'evaluate-alerts'`)
    expect(jobs).toEqual([{ key: `evaluate-alerts:${tenant.tenant.platformId}:LIVE` }])
    const { tenants } = await findAlertRules(worker)
    await run('evaluate-alerts', tenants[0])
    expect((await metrics.alerts.get()).values).toContainEqual({ labels: { type: 'ENTITLEMENT' }, value: 1 })
    expect((await metrics.alertLooks.get()).values).toEqual([{ labels: { outcome: 'complete' }, value: 1 }])
    setTime('2026-03-20T12:07:00Z')
    await find()
    // What was there when the look began has been seen; it takes no time by this clock.
    expect((await metrics.alertsSeenUntil.get()).values).toEqual([{ labels: {}, value: Date.parse(NOW) / 1_000 }])
  })
})
