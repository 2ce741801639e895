// What rules find of entitlements: real PostgreSQL and ClickHouse, time as the test sets it. Every evaluation may come twice, at once,
// or be cut short.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../../shared/errors.ts'
import { runJob } from '../../../jobs/testing/run-job.ts'
import type { Row } from '../../../testing/wire.ts'
import { openWorker, type TestWorker } from '../../../testing/worker.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { alertJobs, findAlertRules } from '../jobs.ts'
import type { EvaluationDeps } from './alert-use.ts'
import { NOW, openEvaluationRig } from './testing/evaluation-rig.ts'

let rig: Awaited<ReturnType<typeof openEvaluationRig>>
beforeAll(async () => {
  rig = await openEvaluationRig()
})
afterAll(() => rig?.close())
beforeEach(() => rig.reset())

describe('what is used of an entitlement', () => {
  test('sets a rule off once a billing period, as soon as the threshold is reached and never before', async () => {
    const own = await rig.granted()
    const by = await rig.watching(own, { percentage: '80' })
    await rig.use(own, '799', '2026-03-05 00:00:00.000')
    expect(await rig.evaluate()).toEqual({ INVOICE: 0, ENTITLEMENT: 0, complete: true })
    await rig.use(own, '1', '2026-03-06 00:00:00.000')
    expect(await rig.evaluate()).toEqual({ INVOICE: 0, ENTITLEMENT: 1, complete: true })
    await rig.use(own, '100', '2026-03-07 00:00:00.000')
    expect((await rig.evaluate()).ENTITLEMENT).toBe(0)
    const [alert] = await rig.alertsOf(by)
    expect(alert).toMatchObject({
      object_type: 'ALERT',
      platform_id: rig.tenant.tenant.platformId,
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
    const emitted = await rig.api.sql(`select type, actor_id from outbox where object_id = $1`, [alert?.['id']])
    expect(emitted).toEqual([{ type: 'ALERT.CREATED', actor_id: null }])
    // The next period starts from nothing, and what comes late into the one before is not looked at.
    rig.setTime('2026-04-01T00:00:01Z')
    await rig.use(own, '5000', '2026-03-31 00:00:00.000')
    expect((await rig.evaluate()).ENTITLEMENT).toBe(0)
    await rig.use(own, '900', '2026-04-01 00:00:00.500')
    expect((await rig.evaluate()).ENTITLEMENT).toBe(1)
    expect((await rig.alertsOf(by)).map(each => each['data_trigger_reference'])).toEqual(
      ['03', '04'].map(month => `${own.subscriptionId} 2026-${month}-01T00:00:00Z`),
    )
  })

  test('makes one alert of many evaluations at once, also when one of them was cut short before', async () => {
    const own = await rig.granted()
    const by = await rig.watching(own, { number: '10' })
    await rig.use(own, '10', '2026-03-05 00:00:00.000')
    const failpoint = async (name: string) => {
      if (name === 'alerts.before-save') throw new Error('killed')
    }
    await expect(rig.evaluate({ failpoint })).rejects.toThrow('killed')
    expect(await rig.alertsOf(by)).toEqual([])
    const found = await Promise.all(Array.from({ length: 4 }, () => rig.evaluate()))
    expect(found.reduce((sum, each) => sum + each.ENTITLEMENT, 0)).toBe(1)
    expect(await rig.alertsOf(by)).toHaveLength(1)
    const [emitted] = await rig.api.sql(
      `select count(*)::int as times from outbox where type = 'ALERT.CREATED' and data ->> 'alert_rule_id' = $1`,
      [by['id']],
    )
    expect(emitted?.['times']).toBe(1)
  })

  test('gets no alert by a rule that was changed while it was read, and is evaluated again by what the rule is now', async () => {
    const own = await rig.granted()
    const by = await rig.watching(own, { number: '10' })
    await rig.use(own, '10', '2026-03-05 00:00:00.000')
    const changing = (patch: object) => ({
      failpoint: async (name: string) => {
        if (name === 'alerts.before-save') await succeed(rig.tenant, 'PATCH', `/v1/alert-rules/${by['id']}`, patch)
      },
    })
    expect((await rig.evaluate(changing({ status: 'DEPRECATED' }))).ENTITLEMENT).toBe(0)
    expect((await rig.evaluate()).ENTITLEMENT).toBe(0)
    await succeed(rig.tenant, 'PATCH', `/v1/alert-rules/${by['id']}`, { status: 'ACTIVE' })
    expect((await rig.evaluate(changing({ name: 'Nearly used' }))).ENTITLEMENT).toBe(0)
    expect((await rig.evaluate()).ENTITLEMENT).toBe(1)
  })

  test('is read again only when something may have changed', async () => {
    const [own, other] = [await rig.granted(), await rig.granted()]
    const by = await rig.watching(own, { number: '100' })
    await rig.watching(other, { number: '100' })
    const readsOf = async (): Promise<number> => {
      rig.counted.reads = 0
      await rig.evaluate()
      return rig.counted.reads
    }
    expect(await readsOf()).toBe(2)
    expect(await readsOf()).toBe(0)
    // Another's event, one of no period of ours, and one of ours.
    await rig.use(other, '1', '2026-03-05 00:00:00.000')
    expect(await readsOf()).toBe(1)
    await rig.use(own, '1', '2026-02-05 00:00:00.000')
    expect(await readsOf()).toBe(0)
    await rig.use(own, '50', '2026-03-05 00:00:00.000')
    expect(await readsOf()).toBe(1)
    expect(await rig.alertsOf(by)).toEqual([])
    // A rule that asks for less finds it without an event, and once it has, its subscription is not read.
    await succeed(rig.tenant, 'PATCH', `/v1/alert-rules/${by['id']}`, {
      entitlement: { ...by['entitlement'], threshold: { number: '50' } },
    })
    expect(await readsOf()).toBe(1)
    expect(await rig.alertsOf(by)).toHaveLength(1)
    await rig.use(own, '50', '2026-03-06 00:00:00.000')
    expect(await readsOf()).toBe(0)
    // What leaves no mark is seen within the hour.
    rig.setTime('2026-03-20T13:00:00Z')
    expect(await readsOf()).toBe(1)
  })

  test('that cannot be read stops the evaluation; the next one continues there', async () => {
    const own = await rig.granted()
    const by = await rig.watching(own, { number: '10' })
    await rig.use(own, '10', '2026-03-05 00:00:00.000')
    const away = { ...rig.deps.usage, read: () => Promise.reject(new Error('ClickHouse is away')) }
    await expect(rig.evaluate({ usage: away })).rejects.toThrow('away')
    expect(await rig.alertsOf(by)).toEqual([])
    const [state] = await rig.api.sql('select seen_until from alert_evaluations where platform_id = $1', [
      rig.tenant.tenant.platformId,
    ])
    expect(state?.['seen_until']).toBeNull()
    expect((await rig.evaluate()).ENTITLEMENT).toBe(1)
  })

  test('that cannot be read of one subscription holds up no other', async () => {
    const [own, other] = [await rig.granted(), await rig.granted()]
    const rules = [await rig.watching(own, { number: '10' }), await rig.watching(other, { number: '10' })]
    for (const each of [own, other]) await rig.use(each, '10', '2026-03-05 00:00:00.000')
    const read: EvaluationDeps['usage']['read'] = async (of, parts, ...more) => {
      if (parts.some(part => part.customerId === own.customerId)) throw new AppError('INVALID_OPERATION', 'Too many.')
      return await rig.deps.usage.read(of, parts, ...more)
    }
    expect(await rig.evaluate({ usage: { ...rig.deps.usage, read } })).toEqual({
      INVOICE: 0,
      ENTITLEMENT: 1,
      complete: true,
    })
    expect(await Promise.all(rules.map(async by => (await rig.alertsOf(by)).length))).toEqual([0, 1])
    expect((await rig.evaluate()).ENTITLEMENT).toBe(1)
  })

  test('of more subscriptions than one evaluation covers is continued by the next', async () => {
    const all = [await rig.granted(), await rig.granted(), await rig.granted()]
    const rules: Row[] = []
    for (const own of all) {
      rules.push(await rig.watching(own, { number: '10' }))
      await rig.use(own, '10', '2026-03-05 00:00:00.000')
    }
    const limits = { page: 1, pages: 2 }
    expect(await rig.evaluate({ limits })).toEqual({ INVOICE: 0, ENTITLEMENT: 2, complete: false })
    expect(await rig.evaluate({ limits })).toEqual({ INVOICE: 0, ENTITLEMENT: 1, complete: true })
    for (const by of rules) expect(await rig.alertsOf(by)).toHaveLength(1)
  })

  test('is looked at by ACTIVE rules, of the customers they name, in their tenant, while something is granted', async () => {
    const [own, other] = [await rig.granted(), await rig.granted()]
    await rig.use(own, '10', '2026-03-05 00:00:00.000')
    const elsewhere = await rig.watching(own, { number: '10' }, { customer_ids: [other.customerId] })
    const draft = await rig.watching(own, { number: '10' }, { status: 'DRAFT' })
    const unmeasured = await rig.watching(own, { number: '10' })
    const none = await rig.granted({ schedule: async () => ({}), featureId: own.featureId })
    await rig.use(none, '10', '2026-03-05 00:00:00.000')
    const over = await rig.granted()
    const cancelled = await rig.watching(over, { number: '10' })
    await rig.use(over, '10', '2026-03-05 00:00:00.000')
    await succeed(rig.tenant, 'POST', `/v1/pricing-plan-subscriptions/${over.subscriptionId}/cancel`, { type: 'NOW' })
    await succeed(rig.tenant, 'PATCH', `/v1/features/${own.featureId}`, { meter_value_calculation_id: null })
    expect((await rig.evaluate()).ENTITLEMENT).toBe(0)
    expect((await rig.of(rig.api.tenants.aTest).evaluate()).ENTITLEMENT).toBe(0)
    await succeed(rig.tenant, 'PATCH', `/v1/features/${own.featureId}`, {
      meter_value_calculation_id: own.calculationId,
    })
    expect((await rig.evaluate()).ENTITLEMENT).toBe(1)
    expect((await rig.alertsOf(unmeasured)).map(alert => alert['customer_id'])).toEqual([own.customerId])
    for (const by of [elsewhere, draft, cancelled]) expect(await rig.alertsOf(by)).toEqual([])
  })
})

describe('the job', () => {
  let worker: TestWorker
  beforeAll(async () => {
    worker = await openWorker(rig.api)
  })
  afterAll(() => worker?.close())

  test('is queued for the tenants that have ACTIVE rules, once each, and counts what it makes', async () => {
    const own = await rig.granted()
    await rig.watching(own, { number: '10' })
    await rig.use(own, '10', '2026-03-05 00:00:00.000')
    const { metrics } = worker.deps
    const run = (name: string, payload?: unknown) => runJob(alertJobs, name, { ...rig.deps, ...worker.deps }, payload)
    const find = () => run('find-alert-rules')
    await find()
    await find()
    const jobs = await rig.api.sql(`select key from graphile_worker.jobs where task_identifier = 'evaluate-alerts'`)
    expect(jobs).toEqual([{ key: `evaluate-alerts:${rig.tenant.tenant.platformId}:LIVE` }])
    const { tenants } = await findAlertRules(worker.deps.system)
    await run('evaluate-alerts', tenants[0])
    expect((await metrics.alerts.get()).values).toContainEqual({ labels: { type: 'ENTITLEMENT' }, value: 1 })
    expect((await metrics.alertEvaluations.get()).values).toEqual([{ labels: { outcome: 'complete' }, value: 1 }])
    rig.setTime('2026-03-20T12:07:00Z')
    await find()
    // What was there when the evaluation began has been seen; it takes no time by this clock.
    expect((await metrics.alertsSeenUntil.get()).values).toEqual([{ labels: {}, value: Date.parse(NOW) / 1_000 }])
  })
})
