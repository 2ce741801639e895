// New schedules against a real database: what they are made of, what is refused, and which version they sell.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestTenant } from '../../../testing/harness.ts'
import { refusal } from '../testing/refusal.ts'
import { SCHEDULES, type SchedulesOf, schedulesOf } from '../testing/schedules-of.ts'
import { succeed } from '../testing/seed-subscription.ts'
import { startAt } from '../testing/start-at.ts'

let tenant: TestTenant
let stop: () => Promise<void>
beforeAll(async () => {
  ;({ tenant, stop } = await startAt('2026-03-11T10:00:00Z'))
})
afterAll(() => stop())

let subscription: string
let version: string
let post: SchedulesOf['post']
beforeEach(async () => {
  ;({ subscription, version, post } = await schedulesOf(tenant))
})

describe('create', () => {
  test('answers a draft in UTC, priced in the currency of the subscription', async () => {
    const { status, body } = await post({
      start_at: '2026-03-01T00:00:00+01:00',
      end_at: '2026-04-01T00:00:00.123+02:00',
    })
    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        object_type: 'PRICING_PLAN_SCHEDULE',
        status: 'DRAFT',
        type: 'DEFAULT',
        pricing_plan_version_id: version,
        start_at: '2026-02-28T23:00:00Z',
        end_at: '2026-03-31T22:00:00Z',
        pricing_currency: 'EUR',
      },
    })
    expect(body['id']).toMatch(/^ppsc_/)
    expect(
      (await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${subscription}`))['pricing_plan_schedule_infos'],
    ).toEqual([])
  })

  test.each([
    [{ start_at: undefined }, 'start_at', 'MISSING_FIELD'],
    [{ pricing_plan_version_id: undefined }, 'pricing_plan_version_id', 'MISSING_FIELD'],
    [{ pricing_plan_version_id: 'ppve_0000000000000000000000' }, 'pricing_plan_version_id', 'RESOURCE_NOT_FOUND'],
    [
      { pricing_plan_subscription_id: 'ppsu_0000000000000000000000' },
      'pricing_plan_subscription_id',
      'RESOURCE_NOT_FOUND',
    ],
    [{ start_at: '2026-01-01' }, 'start_at', 'INVALID_FIELD'],
    [{ end_at: '2026-01-01T00:00:00Z' }, 'end_at', 'INVALID_FIELD'],
    [{ status: 'ACTIVE' }, 'status', 'INVALID_FIELD'],
    [{ pricing_currency: 'USD' }, 'pricing_currency', 'INVALID_FIELD'],
  ])('refuses %j by name', async (fault, field, code) => {
    const { status, body } = await post({ start_at: '2026-01-01T00:00:00Z', ...fault })
    expect(status).toBe(code === 'RESOURCE_NOT_FOUND' ? 404 : 400)
    expect(body).toEqual(refusal(field, code))
  })

  test('refuses a version that is priced in another currency', async () => {
    const { customer_id, billing_entity_id } = await succeed(
      tenant,
      'GET',
      `/v1/pricing-plan-subscriptions/${subscription}`,
    )
    const other = await succeed(tenant, 'POST', '/v1/pricing-plan-subscriptions', {
      customer_id,
      billing_entity_id,
      billing_currency: 'USD',
    })
    const { body } = await post({ start_at: '2026-01-01T00:00:00Z', pricing_plan_subscription_id: other['id'] })
    expect(body).toEqual(refusal('pricing_currency'))
    expect(body['message']).toContain('EUR')
  })
})

describe('version selector', () => {
  test('LATEST is the highest ACTIVE version, VERSION the one with that number', async () => {
    const { pricing_plan_id } = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${version}`)
    const { reference } = await succeed(tenant, 'GET', `/v1/pricing-plans/${pricing_plan_id}`)
    const copy = { pricing_plan_id, copied_from_pricing_plan_version_id: version }
    const second = await succeed(tenant, 'POST', '/v1/pricing-plan-versions', copy)
    const select = async (selector: object) => {
      const body = {
        start_at: '2026-01-01T00:00:00Z',
        pricing_plan_version_id: undefined,
        pricing_plan_version_selector: selector,
      }
      const answer = await post(body)
      if (answer.status === 201) await succeed(tenant, 'DELETE', `${SCHEDULES}/${answer.body['id']}`)
      return answer.body
    }
    expect(await select({ pricing_plan_reference: reference })).toMatchObject({
      pricing_plan_version_id: version,
      pricing_plan_id,
    })
    expect(await select({ pricing_plan_id, type: 'VERSION', version: 2 })).toMatchObject({
      pricing_plan_version_id: second['id'],
    })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${second['id']}`, { status: 'ACTIVE' })
    expect(await select({ pricing_plan_id, type: 'LATEST' })).toMatchObject({ pricing_plan_version_id: second['id'] })
    expect(await select({ pricing_plan_id, type: 'VERSION' })).toEqual(
      refusal('pricing_plan_version_selector.version', 'MISSING_FIELD'),
    )
    expect(await select({ pricing_plan_id, version: 1 })).toEqual(refusal('pricing_plan_version_selector.version'))
    expect(await select({ pricing_plan_id, type: 'VERSION', version: 9 })).toEqual(
      refusal('pricing_plan_version_selector', 'RESOURCE_NOT_FOUND'),
    )
    expect(await select({})).toEqual(refusal('pricing_plan_version_selector.pricing_plan_id', 'MISSING_FIELD'))
    const both = { start_at: '2026-01-01T00:00:00Z', pricing_plan_version_selector: { pricing_plan_id } }
    expect((await post(both)).body).toEqual(refusal('pricing_plan_version_selector'))
  })

  test('a deprecated version takes no new schedule', async () => {
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version}`, { status: 'DEPRECATED' })
    expect((await post({ start_at: '2026-01-01T00:00:00Z' })).body).toEqual(refusal('pricing_plan_version_id'))
  })
})

describe('a later start', () => {
  const timeline = async () => {
    const query = `pricing_plan_subscription_id=${subscription}&order_by=start_at&order_direction=asc`
    const { data } = await succeed(tenant, 'GET', `${SCHEDULES}?${query}`)
    return data.map((row: { start_at: string; end_at: string | null }) => [row.start_at, row.end_at])
  }
  const [january, june, september] = ['2026-01-01T00:00:00Z', '2026-06-01T00:00:00Z', '2026-09-01T00:00:00Z']

  test('leaves what the schedule before states for later, which holds up no other change and counts again without the later one', async () => {
    const later = { percentage: '5', start_at: september }
    const { body: first } = await post({ start_at: january, discount: { totals: [later] } })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${subscription}`, { status: 'ACTIVE' })
    const { body: second } = await post({ start_at: june })
    const patch = (body: object) => tenant.call('PATCH', `${SCHEDULES}/${first['id']}`, body)
    const commitment = { totals: [{ amount: { quantity: '5', currency: 'EUR' } }] }
    expect(await patch({ commitment })).toMatchObject({
      status: 200,
      body: { discount: { totals: [later] }, commitment },
    })
    const another = { ...later, percentage: '7' }
    expect((await patch({ discount: { totals: [another] } })).body).toEqual(refusal('discount.totals.0.start_at'))
    await succeed(tenant, 'DELETE', `${SCHEDULES}/${second['id']}`)
    expect(await timeline()).toEqual([[january, null]])
    expect((await patch({ discount: { totals: [another] } })).status).toBe(200)
  })

  test('ends a schedule that runs on without an end, and no schedule that has one', async () => {
    expect((await post({ start_at: january })).status).toBe(201)
    expect((await post({ start_at: january })).body).toEqual(refusal('start_at'))
    expect((await post({ start_at: june, end_at: '2026-05-01T00:00:00Z' })).body).toEqual(refusal('end_at'))
    expect(await timeline()).toEqual([[january, null]])
    const { status, body } = await post({ start_at: june })
    expect(status).toBe(201)
    expect((await post({ start_at: '2026-05-01T00:00:00Z', end_at: june })).body).toEqual(refusal('start_at'))
    const copy = await tenant.call('POST', `${SCHEDULES}/${body['id']}/copy`, { start_at: september })
    expect(copy.status).toBe(201)
    expect(await timeline()).toEqual([
      [january, june],
      [june, september],
      [september, null],
    ])
  })
})
