// Schedules against a real database: the timeline they keep, and activation in turn.
import { setTimeout as sleep } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { lockOne } from '../../../resource/store.ts'
import type { ApiHarness, TestTenant } from '../../../testing/harness.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { subscriptionResource } from '../subscription.ts'
import { refusal } from '../testing/refusal.ts'
import { SCHEDULES, type SchedulesOf, schedulesOf } from '../testing/schedules-of.ts'
import { makeActiveSubscription, makeSchedule, makeVersion, succeed } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let api: ApiHarness
let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ api, tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

let subscription: string
let version: string
let post: SchedulesOf['post']
beforeEach(async () => {
  ;({ subscription, version, post } = await schedulesOf(tenant))
})
const timeline = async () =>
  (
    await succeed(
      tenant,
      'GET',
      `${SCHEDULES}?pricing_plan_subscription_id=${subscription}&order_by=start_at&order_direction=asc`,
    )
  )['data'].map((row: { start_at: string; end_at: string | null; status: string }) => [
    row.start_at.slice(0, 10),
    row.end_at?.slice(0, 10) ?? null,
    row.status,
  ])

describe('timeline', () => {
  test('overlaps and gaps are refused; set_previous_end_at ends the one before', async () => {
    await makeSchedule(tenant, subscription, '2026-01-01T00:00:00Z', { end_at: '2026-07-01T00:00:00Z' })
    expect((await post({ start_at: '2026-06-01T00:00:00Z' })).body).toEqual(refusal('start_at'))
    const { status } = await post(
      { start_at: '2026-06-01T00:00:00Z', end_at: '2026-09-01T00:00:00Z' },
      '?set_previous_end_at=true',
    )
    expect(status).toBe(201)
    expect((await post({ start_at: '2026-10-01T00:00:00Z' })).body).toEqual(refusal('start_at'))
    expect((await post({ start_at: '2025-01-01T00:00:00Z' })).body).toEqual(refusal('end_at'))
    await makeSchedule(tenant, subscription, '2026-09-01T00:00:00Z')
    expect(await timeline()).toEqual([
      ['2026-01-01', '2026-06-01', 'DRAFT'],
      ['2026-06-01', '2026-09-01', 'DRAFT'],
      ['2026-09-01', null, 'DRAFT'],
    ])
  })

  test('of two overlapping creations at once, one is refused', async () => {
    const end_at = '2026-06-01T00:00:00Z'
    const answers = await Promise.all([1, 2, 3, 4].map(day => post({ start_at: `2026-01-0${day}T00:00:00Z`, end_at })))
    expect(answers.map(answer => answer.status).sort()).toEqual([201, 400, 400, 400])
    expect(await timeline()).toHaveLength(1)
  })

  test('the database itself refuses an overlap', async () => {
    const id = await makeSchedule(tenant, subscription, '2026-01-01T00:00:00Z')
    const copy = `insert into pricing_plan_schedules select platform_id, environment, id || 'x', created_at, updated_at,
      pricing_plan_subscription_id, type, status, pricing_plan_id, pricing_plan_version_id, start_at + interval '1 day', end_at,
      pricing_currency, billing_period from pricing_plan_schedules where id = $1`
    await expect(api.sql(copy, [id])).rejects.toMatchObject({ code: '23P01' })
  })

  describe('the database itself refuses a gap', () => {
    const three = async () => {
      const from = (start: string, end: string) => makeSchedule(tenant, subscription, start, { end_at: end })
      return [
        await from('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
        await from('2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'),
        await from('2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z'),
      ]
    }
    const END = 'update pricing_plan_schedules set end_at = $2 where id = $1'
    const contiguous = { code: '23514', constraint: 'pricing_plan_schedules_contiguous' }

    test('that a shorter, a later, or a missing schedule leaves; the ends of the timeline are free', async () => {
      const [first, second, third] = await three()
      await expect(api.sql(END, [first, '2026-01-20'])).rejects.toMatchObject(contiguous)
      const start = 'update pricing_plan_schedules set start_at = $2 where id = $1'
      await expect(api.sql(start, [second, '2026-02-10'])).rejects.toMatchObject(contiguous)
      await expect(api.sql('delete from pricing_plan_schedules where id = $1', [second])).rejects.toMatchObject(
        contiguous,
      )
      await api.sql(END, [third, '2026-03-20'])
      await api.sql(start, [first, '2026-01-10'])
      expect(await timeline()).toEqual([
        ['2026-01-10', '2026-02-01', 'DRAFT'],
        ['2026-02-01', '2026-03-01', 'DRAFT'],
        ['2026-03-01', '2026-03-20', 'DRAFT'],
      ])
    })

    test('a boundary may move in two statements of one transaction', async () => {
      const [first, second] = await three()
      await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
        await uow.tx.execute(sql`update pricing_plan_schedules set end_at = '2026-01-20' where id = ${first}`)
        await uow.tx.execute(sql`update pricing_plan_schedules set start_at = '2026-01-20' where id = ${second}`)
      })
      expect((await timeline()).slice(0, 2)).toEqual([
        ['2026-01-01', '2026-01-20', 'DRAFT'],
        ['2026-01-20', '2026-03-01', 'DRAFT'],
      ])
    })

    // Neither sees what the other has done, nor would it lock the subscription: only the database can judge them.
    test('also when two changes at once leave it together', async () => {
      const [, second, third] = await three()
      let bothChanged = (): void => {}
      const both = new Promise<void>(resolve => {
        bothChanged = resolve
      })
      let changed = 0
      const change = (statement: SQL) =>
        inTenant(api.database, tenant.tenant, SERVICE, async uow => {
          await uow.tx.execute(statement)
          changed += 1
          if (changed === 2) bothChanged()
          await both
        })
      const results = await Promise.allSettled([
        change(sql`delete from pricing_plan_schedules where id = ${third}`),
        change(sql`insert into pricing_plan_schedules
          select platform_id, environment, id || 'x', created_at, updated_at, pricing_plan_subscription_id, type, status,
            pricing_plan_id, pricing_plan_version_id, '2026-04-01', null, pricing_currency, billing_period
          from pricing_plan_schedules where id = ${second}`),
      ])
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'COULD_NOT_UPDATE_RESOURCE', details: { field: 'end_at' } },
      })
    })
  })

  test('a boundary moves with the start of the later one, in both directions', async () => {
    await makeSchedule(tenant, subscription, '2026-01-01T00:00:00Z', { end_at: '2026-06-01T00:00:00Z' })
    const later = await makeSchedule(tenant, subscription, '2026-06-01T00:00:00Z')
    const move = (start_at: string, query = '?set_previous_end_at=true') =>
      tenant.call('PATCH', `${SCHEDULES}/${later}${query}`, { start_at })
    expect((await move('2026-07-01T00:00:00Z', '')).body).toEqual(refusal('start_at'))
    for (const start of ['2026-07-01', '2026-05-01']) {
      expect((await move(`${start}T00:00:00Z`)).status).toBe(200)
      expect(await timeline()).toEqual([
        ['2026-01-01', start, 'DRAFT'],
        [start, null, 'DRAFT'],
      ])
    }
  })

  test('the start of a draft moves into the past, and is activated there', async () => {
    const id = await makeSchedule(tenant, subscription, '2026-06-01T00:00:00Z')
    const move = (start_at: string) => tenant.call('PATCH', `${SCHEDULES}/${id}`, { start_at })
    expect((await move('2025-11-20T00:00:00Z')).body).toMatchObject({
      start_at: '2025-11-20T00:00:00Z',
      status: 'DRAFT',
    })
    expect(await succeed(tenant, 'POST', `${SCHEDULES}/${id}/activate`)).toMatchObject({ status: 'ACTIVE' })
  })

  test('or with the end of the earlier one, by set_next_start_at', async () => {
    const earlier = await makeSchedule(tenant, subscription, '2026-01-01T00:00:00Z', { end_at: '2026-06-01T00:00:00Z' })
    const later = await makeSchedule(tenant, subscription, '2026-06-01T00:00:00Z', { end_at: '2026-12-01T00:00:00Z' })
    const end = (end_at: string | null, query = '?set_next_start_at=true') =>
      tenant.call('PATCH', `${SCHEDULES}/${earlier}${query}`, { end_at })
    expect((await end('2026-07-01T00:00:00Z', '')).body).toEqual(refusal('end_at'))
    for (const day of ['2026-07-01', '2026-05-01']) {
      expect((await end(`${day}T00:00:00Z`)).status).toBe(200)
      expect(await timeline()).toEqual([
        ['2026-01-01', day, 'DRAFT'],
        [day, '2026-12-01', 'DRAFT'],
      ])
    }
    expect((await end(null)).body).toEqual(refusal('end_at'))
    expect((await end('2026-12-01T00:00:00Z')).body).toEqual(refusal('end_at'))
    const both = '?set_next_start_at=true&set_previous_end_at=true'
    expect((await end('2026-08-01T00:00:00Z', both)).body).toEqual(refusal('set_next_start_at'))
    const before = { start_at: '2025-06-01T00:00:00Z', end_at: '2026-02-01T00:00:00Z' }
    expect((await post(before, '?set_next_start_at=true')).status).toBe(201)
    expect((await timeline()).slice(0, 2)).toEqual([
      ['2025-06-01', '2026-02-01', 'DRAFT'],
      ['2026-02-01', '2026-05-01', 'DRAFT'],
    ])
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription}`, { status: 'ACTIVE' })
    expect((await end('2026-04-01T00:00:00Z')).status).toBe(200)
    expect((await tenant.call('GET', `${SCHEDULES}/${later}`)).body).toMatchObject({ start_at: '2026-04-01T00:00:00Z' })
  })

  test('what a change answers can be expanded', async () => {
    const version = await makeVersion(tenant)
    const query = '?expand[]=pricing_plan_version'
    const made = await post({ start_at: '2026-01-01T00:00:00Z', pricing_plan_version_id: version }, query)
    expect(made.body['pricing_plan_version']).toMatchObject({ id: version })
    const changed = await tenant.call('PATCH', `${SCHEDULES}/${made.body['id']}${query}`, {
      end_at: '2026-03-01T00:00:00Z',
    })
    expect(changed.body['pricing_plan_version']).toMatchObject({ id: version })
    expect((await post({ start_at: '2026-03-01T00:00:00Z' }, '?expand[]=invoice')).status).toBe(400)
  })

  test('a deletion leaves no gap', async () => {
    const ends = { end_at: '2026-02-01T00:00:00Z' }
    const first = await makeSchedule(tenant, subscription, '2026-01-01T00:00:00Z', ends)
    const second = await makeSchedule(tenant, subscription, '2026-02-01T00:00:00Z', { end_at: '2026-03-01T00:00:00Z' })
    await makeSchedule(tenant, subscription, '2026-03-01T00:00:00Z')
    expect(await tenant.call('DELETE', `${SCHEDULES}/${second}`)).toMatchObject({
      status: 409,
      body: { code: 'COULD_NOT_DELETE_RESOURCE' },
    })
    await succeed(tenant, 'DELETE', `${SCHEDULES}/${first}`)
    await succeed(tenant, 'DELETE', `${SCHEDULES}/${second}`)
    expect(await timeline()).toEqual([['2026-03-01', null, 'DRAFT']])
  })
})

describe('activation', () => {
  test('follows the order of time (scenario O)', async () => {
    const first = await makeSchedule(tenant, subscription, '2026-01-01T00:00:00Z', { end_at: '2026-06-01T00:00:00Z' })
    const second = await makeSchedule(tenant, subscription, '2026-06-01T00:00:00Z')
    const { status, body } = await tenant.call('POST', `${SCHEDULES}/${second}/activate`)
    expect({ status, body }).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION', resource_id: first } })
    expect(await succeed(tenant, 'POST', `${SCHEDULES}/${first}/activate`)).toMatchObject({ status: 'ACTIVE' })
    expect(await succeed(tenant, 'POST', `${SCHEDULES}/${second}/activate`)).toMatchObject({ status: 'ACTIVE' })
  })

  test('twice is one change, and of two at once one is refused', async () => {
    const id = await makeSchedule(tenant, subscription, '2026-01-01T00:00:00Z')
    const activate = () => tenant.call('POST', `${SCHEDULES}/${id}/activate`)
    const answers = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
      await lockOne(uow, subscriptionResource, subscription)
      const sent = [activate(), activate()]
      const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
      while ((await api.sql(waiting, [])).length < 2) await sleep(20)
      return { sent }
    })
    const both = await Promise.all(answers.sent)
    expect(both.map(answer => answer.status).toSorted()).toEqual([200, 400])
    expect(both.find(answer => answer.status === 400)?.body).toEqual(refusal('status', 'INVALID_OPERATION'))
    expect((await activate()).body['status']).toBe('ACTIVE')
    const rows = await api.sql("select 1 from outbox where object_id = $1 and type = 'PRICING_PLAN_SCHEDULE.UPDATED'", [
      id,
    ])
    expect(rows).toHaveLength(1)
  })

  test('needs an ACTIVE version', async () => {
    const draft = await tenant.seed.make(pricingPlanVersionResource)
    const id = await makeSchedule(tenant, subscription, '2026-01-01T00:00:00Z', {
      pricing_plan_version_id: draft['id'],
    })
    expect((await tenant.call('POST', `${SCHEDULES}/${id}/activate`)).body).toEqual(refusal('pricing_plan_version_id'))
  })

  test('on an ACTIVE subscription wakes billing, and freezes all but an end that lies ahead', async () => {
    const active = await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z')
    await api.sql("update pricing_plan_subscriptions set next_billing_at = '2026-04-01' where id = $1", [active])
    const id = await makeSchedule(tenant, active, '2026-06-01T00:00:00Z', {
      query: '?set_previous_end_at=true',
      end_at: '2026-09-01T00:00:00Z',
    })
    await succeed(tenant, 'POST', `${SCHEDULES}/${id}/activate`)
    const due = await api.sql('select next_billing_at::text as due from pricing_plan_subscriptions where id = $1', [
      active,
    ])
    expect(due[0]?.['due']).toContain('2026-03-11 10:00:00')
    const patch = (body: object) => tenant.call('PATCH', `${SCHEDULES}/${id}`, body)
    expect((await patch({ start_at: '2026-07-01T00:00:00Z' })).body).toEqual(refusal('start_at'))
    expect((await patch({ pricing_plan_version_id: version })).body).toEqual(refusal('pricing_plan_version_id'))
    expect((await patch({ end_at: '2026-03-01T00:00:00Z' })).body).toEqual(refusal('end_at'))
    expect(await patch({ end_at: null })).toMatchObject({ status: 200 })
  })

  test('what an ACTIVE schedule has billed is not ended by a later one in the past', async () => {
    const active = await makeActiveSubscription(tenant, '2026-01-01T00:00:00Z')
    const body = { start_at: '2026-02-01T00:00:00Z', pricing_plan_subscription_id: active }
    expect((await post(body, '?set_previous_end_at=true')).body).toEqual(refusal('start_at'))
    expect((await post(body)).body).toEqual(refusal('start_at'))
  })
})
