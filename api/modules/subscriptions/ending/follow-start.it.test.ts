// The start of a subscription that has not begun may move, and what was counted from it moves along.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { makeActiveSubscription, makeSchedule, makeSubscription, succeed } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let api: ApiHarness
let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

const PATH = '/v1/pricing-plan-subscriptions'
const SCHEDULES = '/v1/pricing-plan-schedules'
const MAY = '2026-05-01T00:00:00Z'
const APRIL = '2026-04-01T00:00:00Z'
const JUNE = '2026-06-01T00:00:00Z'
const endsOf = async (id: string): Promise<unknown> =>
  (await succeed(tenant, 'GET', `${PATH}/${id}`))['inactive_periods']
const move = (scheduleId: string, start_at: string) => tenant.call('PATCH', `${SCHEDULES}/${scheduleId}`, { start_at })

describe('of a subscription that is not renewed, the end of the term', () => {
  async function agreed(): Promise<{ id: string; schedule: string }> {
    const id = await makeSubscription(tenant)
    const { customer_id } = await succeed(tenant, 'GET', `${PATH}/${id}`)
    await succeed(tenant, 'PATCH', `/v1/customers/${customer_id}`, { timezone: 'UTC' })
    const schedule = await makeSchedule(tenant, id, APRIL)
    const terms = { initial_term: { type: 'MONTH', value: 1 }, auto_renewal: false, status: 'ACTIVE' }
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, terms)
    return { id, schedule }
  }

  test('moves along, so that it lasts as long as it was agreed for', async () => {
    const { id, schedule } = await agreed()
    const byTerm = (start_at: string) => [{ type: 'CANCEL', start_at, ends_with_term: true }]
    expect(await endsOf(id)).toEqual(byTerm(MAY))
    expect((await move(schedule, '2026-05-15T00:00:00Z')).status).toBe(200)
    expect(await endsOf(id)).toEqual(byTerm('2026-06-15T00:00:00Z'))
  })

  test('moves along also where a version before wrote it down', async () => {
    const { id, schedule } = await agreed()
    await api.sql(
      "update pricing_plan_subscriptions set inactive_periods = inactive_periods #- '{0,ends_with_term}' where id = $1",
      [id],
    )
    await move(schedule, MAY)
    expect(await endsOf(id)).toMatchObject([{ start_at: JUNE }])
  })

  test('stays where it was cancelled for another time', async () => {
    const { id, schedule } = await agreed()
    const cancel_at = '2026-04-20T00:00:00Z'
    await succeed(tenant, 'POST', `${PATH}/${id}/cancel`, { type: 'DATE', cancel_at })
    await move(schedule, '2026-04-10T00:00:00Z')
    expect(await endsOf(id)).toEqual([{ type: 'CANCEL', start_at: cancel_at }])
  })
})

describe('the subscription whose place it takes', () => {
  async function upgraded(more: object = {}): Promise<{ old: string; schedule: string }> {
    const old = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const { customer_id, billing_entity_id, billing_currency } = await succeed(tenant, 'GET', `${PATH}/${old}`)
    const { id } = await succeed(tenant, 'POST', PATH, {
      customer_id,
      billing_entity_id,
      billing_currency,
      upgraded_from_pricing_plan_subscription_id: old,
      ...more,
    })
    const schedule = await makeSchedule(tenant, id, MAY)
    await succeed(tenant, 'PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
    return { old, schedule }
  }

  test('ends where it starts now, so that no day is charged by both or by neither', async () => {
    const { old, schedule } = await upgraded()
    for (const start_at of [APRIL, JUNE]) {
      expect((await move(schedule, start_at)).status).toBe(200)
      expect(await endsOf(old)).toEqual([{ type: 'UPGRADE', start_at, refund_advance_charges: true }])
      const [row] = await api.sql(
        'select cancelled_at, next_billing_at from pricing_plan_subscriptions where id = $1',
        [old],
      )
      const times = [row?.['cancelled_at'], row?.['next_billing_at']]
      expect(times.map((time: Row) => new Date(String(time)).toISOString())).toEqual([
        start_at.replace('Z', '.000Z'),
        '2026-03-11T10:00:00.000Z',
      ])
    }
  })

  test('does not give way before it takes a place itself, since the one before it runs on until then', async () => {
    const { old, schedule } = await upgraded()
    const { pricing_plan_subscription_id: waiting } = await succeed(tenant, 'GET', `${SCHEDULES}/${schedule}`)
    const { customer_id, billing_entity_id, billing_currency } = await succeed(tenant, 'GET', `${PATH}/${old}`)
    const { id } = await succeed(tenant, 'POST', PATH, {
      customer_id,
      billing_entity_id,
      billing_currency,
      upgraded_from_pricing_plan_subscription_id: waiting,
    })
    const third = await makeSchedule(tenant, id, APRIL)
    const activate = () => tenant.call('PATCH', `${PATH}/${id}`, { status: 'ACTIVE' })
    expect(await activate()).toMatchObject({
      status: 400,
      body: { code: 'INVALID_OPERATION', field: 'upgraded_from_pricing_plan_subscription_id', resource_id: waiting },
    })
    expect((await move(third, JUNE)).status).toBe(200)
    expect((await activate()).status).toBe(200)
    expect(await move(third, APRIL)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_FIELD', field: 'start_at', resource_id: waiting },
    })
    expect((await move(third, '2026-05-15T00:00:00Z')).status).toBe(200)
    // Nor does it begin where it has given way.
    expect(await move(schedule, JUNE)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_FIELD', field: 'start_at', resource_id: id },
    })
    expect((await move(schedule, APRIL)).status).toBe(200)
    expect(await endsOf(old)).toMatchObject([{ type: 'UPGRADE', start_at: APRIL }])
  })

  test('is not left behind by a start after the end of its own term', async () => {
    const { old, schedule } = await upgraded()
    await api.sql(
      `update pricing_plan_subscriptions set auto_renewal = false, initial_term = '{"type": "MONTH", "value": 2}' where id = $1`,
      [old],
    )
    const refused = await move(schedule, JUNE)
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'INVALID_FIELD', field: 'start_at', resource_id: old },
    })
    expect(refused.body['message']).toContain('is not renewed')
    expect(await endsOf(old)).toMatchObject([{ start_at: MAY }])
  })
})
