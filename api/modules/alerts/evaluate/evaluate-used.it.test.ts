// Which use counts towards a rule: that of its period, on the state that is carried on, of every customer it is billed for.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { openEvaluationRig } from './testing/evaluation-rig.ts'

let rig: Awaited<ReturnType<typeof openEvaluationRig>>
beforeAll(async () => {
  rig = await openEvaluationRig()
})
afterAll(() => rig?.close())
beforeEach(() => rig.reset())

describe('what is used of an entitlement', () => {
  test('of a customer of a test clock is that of the period in which the clock stands', async () => {
    const tenant = rig.api.tenants.aTest
    const { granted, rule, use, evaluate, alertsOf } = rig.of(tenant)
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
    const by = await rule({ type: 'ENTITLEMENT', entitlement: watched })
    // By the day it is March; by the clock, February.
    await use(one, '900', '2026-03-05 00:00:00.000')
    expect((await evaluate()).ENTITLEMENT).toBe(0)
    await use(one, '900', '2026-02-05 00:00:00.000')
    expect((await evaluate()).ENTITLEMENT).toBe(1)
    expect((await alertsOf(by)).map(alert => alert['data_trigger_reference'])).toEqual([
      `${one.subscriptionId} 2026-02-01T00:00:00Z`,
    ])
  })

  test('counts from the start of the schedule where the state is carried on, also where it is not billed', async () => {
    const own = await rig.granted({ calculation: { persist: true }, config: { pricing_type: 'NONE', bands: null } })
    const by = await rig.watching(own, { number: '10' })
    await rig.use(own, '6', '2026-02-05 00:00:00.000')
    expect((await rig.evaluate()).ENTITLEMENT).toBe(0)
    await rig.use(own, '4', '2026-03-05 00:00:00.000')
    expect((await rig.evaluate()).ENTITLEMENT).toBe(1)
    expect((await rig.alertsOf(by))[0]?.['alert_data'].entitlement.used_value).toEqual({ number: '10' })
  })

  test('is added to the persisted usage of its price', async () => {
    const own = await rig.granted({ calculation: { persist: true } })
    const by = await rig.watching(own, { number: '10' })
    await rig.use(own, '5', '2026-02-05 00:00:00.000')
    await rig.use(own, '2', '2026-03-05 00:00:00.000')
    expect((await rig.evaluate()).ENTITLEMENT).toBe(0)
    const [pricing] = await rig.api.sql(
      `select id, items from pricings where pricing_plan_version_id in (
         select pricing_plan_version_id from pricing_plan_schedules where pricing_plan_subscription_id = $1)`,
      [own.subscriptionId],
    )
    await succeed(rig.tenant, 'POST', '/v1/ingest/persist-data', {
      customer_id: own.customerId,
      pricing_plan_subscription_id: own.subscriptionId,
      pricing_id: pricing?.['id'],
      pricing_item_id: pricing?.['items'][0].id,
      pricing_item_config_id: pricing?.['items'][0].configs[0].id,
      persist_usage: '8',
      timestamp: '2026-03-01T00:00:00Z',
    })
    expect((await rig.evaluate()).ENTITLEMENT).toBe(1)
    expect((await rig.alertsOf(by))[0]?.['alert_data'].entitlement.used_value).toEqual({ number: '10' })
  })

  test('is that of the customers whose events come to the subscription, as it is on the invoice', async () => {
    const own = await rig.granted()
    const by = await rig.watching(own, { number: '10' })
    const reference = rig.tenant.seed.unique('child')
    await succeed(rig.tenant, 'POST', '/v1/customers', {
      reference,
      type: 'ORGANIZATION',
      status: 'ACTIVE',
      roles: ['PROCESSING_ONLY'],
      parent_customer_ids: [own.customerId],
    })
    await rig.use(own, '4', '2026-03-05 00:00:00.000')
    await rig.evaluate()
    await rig.use({ ...own, customerReference: reference }, '6', '2026-03-21 00:00:00.000')
    expect((await rig.evaluate()).ENTITLEMENT).toBe(1)
    expect((await rig.alertsOf(by))[0]?.['customer_id']).toBe(own.customerId)
  })
})
