// `change-plan` against a real database: what it makes, what it refuses, and two at once (contract: Change-plan rules).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, refusal } from '../../../testing/catalog.ts'
import { type Answer, type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../testing/seed-subscription.ts'

let api: ApiHarness
let tenant: TestTenant
const plans: string[] = []
const versions: string[] = []
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  for (let tier = 0; tier < 4; tier += 1) {
    const version = await makeVersion(tenant)
    versions.push(version)
    plans.push((await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${version}`))['pricing_plan_id'])
  }
  await succeed(tenant, 'POST', '/v1/pricing-plan-groups', {
    reference: 'tiers',
    status: 'ACTIVE',
    pricing_plan_ids: plans.slice(0, 3),
    upgrade_type: 'IMMEDIATE_PRO_RATA',
    downgrade_type: 'NEXT_BILLING_PERIOD',
  })
})
afterAll(() => api.close())

const SCHEDULES = '/v1/pricing-plan-schedules'
const SUBSCRIPTIONS = '/v1/pricing-plan-subscriptions'
/** An ACTIVE subscription to the plan in the middle, since 1 March. */
async function subscribed(more: Record<string, unknown> = {}): Promise<string> {
  const id = await makeSubscription(tenant)
  await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', { pricing_plan_version_id: versions[1], ...more })
  await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
  return id
}
/** Another price for what the plan in the middle sells. */
async function overrides(): Promise<object[]> {
  const [pricing] = await api.sql('select id, items from pricings where pricing_plan_version_id = $1', [versions[1]])
  const { id, items } = pricing as { id: string; items: { id: string; configs: { id: string }[] }[] }
  return [
    {
      original_pricing_id: id,
      items: items.map(item => ({
        original_pricing_item_id: item.id,
        configs: item.configs.map(config => ({
          original_pricing_item_config_id: config.id,
          bands: [{ amount: { quantity: '2', currency: 'EUR' } }],
        })),
      })),
    },
  ]
}
const change = (id: string, body: object): Promise<Answer> =>
  tenant.call('POST', `${SUBSCRIPTIONS}/${id}/change-plan`, body)
const timeline = async (id: string) =>
  (
    await succeed(
      tenant,
      'GET',
      `${SCHEDULES}?pricing_plan_subscription_id=${id}&order_by=start_at&order_direction=asc`,
    )
  )['data'].map((row: Row) => [plans.indexOf(row['pricing_plan_id']), row['start_at'], row['end_at'], row['status']])

describe('change-plan', () => {
  test('IMMEDIATE_PRO_RATA: the new plan runs from now on, with nothing optional of the old one', async () => {
    const id = await subscribed({
      end_at: '2026-12-01T00:00:00Z',
      discount: { totals: [{ percentage: '10' }] },
      billing_period: { type: 'MONTH', value: 3 },
      override_pricings: await overrides(),
    })
    const [before] = (await succeed(tenant, 'GET', `${SCHEDULES}?pricing_plan_subscription_id=${id}`))['data']
    expect(before['override_pricings']).toHaveLength(1)
    expect(await change(id, { pricing_plan_id: plans[2] })).toMatchObject({
      status: 201,
      body: {
        status: 'ACTIVE',
        pricing_plan_id: plans[2],
        pricing_plan_version_id: versions[2],
        pricing_currency: 'EUR',
        billing_period: { type: 'MONTH', value: 3 },
        discount: null,
        override_pricings: [],
        entitlements: [],
      },
    })
    expect(await timeline(id)).toEqual([
      [1, '2026-03-01T00:00:00Z', '2026-03-11T10:00:00Z', 'ACTIVE'],
      [2, '2026-03-11T10:00:00Z', '2026-12-01T00:00:00Z', 'ACTIVE'],
    ])
    const flags = await api.sql(
      'select refund_advance_charges as refund from pricing_plan_schedules where pricing_plan_subscription_id = $1 order by start_at',
      [id],
    )
    expect(flags).toEqual([{ refund: true }, { refund: false }])
  })

  test('or from the time that is given', async () => {
    const id = await subscribed()
    expect((await change(id, { pricing_plan_id: plans[2], start_at: '2026-03-20T02:00:00+02:00' })).status).toBe(201)
    expect((await timeline(id))[1]).toEqual([2, '2026-03-20T00:00:00Z', null, 'ACTIVE'])
  })

  test('before a schedule that is ACTIVE already, which stays', async () => {
    const id = await subscribed({ end_at: '2026-12-01T00:00:00Z' })
    const later = await makeSchedule(tenant, id, '2026-12-01T00:00:00Z', { pricing_plan_version_id: versions[0] })
    await succeed(tenant, 'POST', `${SCHEDULES}/${later}/activate`)
    // The later one cannot be changed at the moment it starts itself: nothing of it would be left.
    const ofLater = await change(id, { pricing_plan_id: plans[2], start_at: '2026-12-01T00:00:00Z' })
    expect(refusal(ofLater)).toEqual([400, 'INVALID_FIELD', 'start_at'])
    expect(await change(id, { pricing_plan_id: plans[2] })).toMatchObject({ status: 201, body: { status: 'ACTIVE' } })
    expect(await timeline(id)).toEqual([
      [1, '2026-03-01T00:00:00Z', '2026-03-11T10:00:00Z', 'ACTIVE'],
      [2, '2026-03-11T10:00:00Z', '2026-12-01T00:00:00Z', 'ACTIVE'],
      [0, '2026-12-01T00:00:00Z', null, 'ACTIVE'],
    ])
  })

  describe('in a trial', () => {
    const END = '2026-03-15T00:00:00Z'
    /** A trial of the plan in the middle since 1 March, and the plan after it. */
    async function tried(more: Record<string, unknown> = {}): Promise<string> {
      const id = await makeSubscription(tenant)
      const pricing_plan_version_id = versions[1]
      await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', { type: 'TRIAL', end_at: END, pricing_plan_version_id })
      await makeSchedule(tenant, id, END, { pricing_plan_version_id, ...more })
      await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
      return id
    }

    test('it ends the trial, and takes the place of what follows it on the same plan', async () => {
      const id = await tried({ end_at: '2026-12-01T00:00:00Z' })
      const later = await makeSchedule(tenant, id, '2026-12-01T00:00:00Z', { pricing_plan_version_id: versions[0] })
      await succeed(tenant, 'POST', `${SCHEDULES}/${later}/activate`)
      expect((await change(id, { pricing_plan_id: plans[2] })).status).toBe(201)
      expect(await timeline(id)).toEqual([
        [1, '2026-03-01T00:00:00Z', '2026-03-11T10:00:00Z', 'ACTIVE'],
        [2, '2026-03-11T10:00:00Z', '2026-12-01T00:00:00Z', 'ACTIVE'],
        [0, '2026-12-01T00:00:00Z', null, 'ACTIVE'],
      ])
    })

    test.each([
      ['at its end, when that is given', 2, { start_at: END }],
      ['at its end, for NEXT_BILLING_PERIOD', 0, {}],
    ])('%s: the trial runs on', async (_when, tier, body) => {
      const id = await tried()
      const made = await change(id, { pricing_plan_id: plans[tier], ...body })
      expect([made.status, made.body['start_at']]).toEqual([201, END])
      expect(await timeline(id)).toEqual([
        [1, '2026-03-01T00:00:00Z', END, 'ACTIVE'],
        [tier, END, null, 'ACTIVE'],
      ])
    })

    test('to another billing period, as that of what follows says', async () => {
      const id = await tried({ billing_period: { type: 'MONTH', value: 3 } })
      const billing_period = { type: 'YEAR', value: 1 }
      const made = await change(id, { pricing_plan_id: plans[1], billing_period, start_at: END })
      expect(made).toMatchObject({ status: 201, body: { billing_period, start_at: END } })
    })

    test('a move that waits for its end is changed again, also back to the plan of the trial', async () => {
      const id = await tried({ end_at: '2026-12-01T00:00:00Z' })
      await change(id, { pricing_plan_id: plans[0] })
      const planned = (tier: number) => [
        [1, '2026-03-01T00:00:00Z', END, 'ACTIVE'],
        [tier, END, '2026-12-01T00:00:00Z', 'ACTIVE'],
      ]
      for (const tier of [2, 0, 1]) {
        const at = tier === 0 ? {} : { start_at: END }
        expect((await change(id, { pricing_plan_id: plans[tier], ...at })).status).toBe(201)
        expect(await timeline(id)).toEqual(planned(tier))
      }
    })

    test('of a larger plan than what follows, that plan is kept at once or from its end on', async () => {
      const larger = async (): Promise<string> => {
        const id = await makeSubscription(tenant)
        const trial = { type: 'TRIAL', end_at: END, pricing_plan_version_id: versions[2] }
        await makeSchedule(tenant, id, '2026-03-01T00:00:00Z', trial)
        await makeSchedule(tenant, id, END, { pricing_plan_version_id: versions[0] })
        await succeed(tenant, 'PATCH', `${SUBSCRIPTIONS}/${id}`, { status: 'ACTIVE' })
        return id
      }
      const [now, kept] = [await larger(), await larger()]
      expect((await change(now, { pricing_plan_id: plans[2] })).status).toBe(201)
      expect((await timeline(now)).slice(1)).toEqual([[2, '2026-03-11T10:00:00Z', null, 'ACTIVE']])
      expect((await change(kept, { pricing_plan_id: plans[2], start_at: END })).status).toBe(201)
      expect((await timeline(kept)).slice(1)).toEqual([[2, END, null, 'ACTIVE']])
    })

    test('one that nothing follows only ends', async () => {
      const id = await subscribed({ type: 'TRIAL' })
      expect((await change(id, { pricing_plan_id: plans[2] })).status).toBe(201)
      expect((await timeline(id)).map((row: unknown[]) => row[0])).toEqual([1, 2])
    })
  })

  test('NEXT_BILLING_PERIOD: from the next invoice date, which is that of the plan', async () => {
    const id = await subscribed()
    const body = { pricing_plan_id: plans[0] }
    expect(refusal(await change(id, { ...body, start_at: '2026-03-20T00:00:00Z' }))).toEqual([
      400,
      'INVALID_FIELD',
      'start_at',
    ])
    expect((await change(id, body)).status).toBe(201)
    expect((await timeline(id))[1]).toEqual([0, '2026-03-31T22:00:00Z', null, 'ACTIVE'])
    const yearly = await subscribed({ billing_period: { type: 'YEAR', value: 1 } })
    await change(yearly, body)
    expect((await timeline(yearly))[1]).toEqual([0, '2026-12-31T23:00:00Z', null, 'ACTIVE'])
    // It waits already: another change would be of a schedule that others follow.
    expect(refusal(await change(id, body)).slice(0, 2)).toEqual([400, 'INVALID_OPERATION'])
  })

  test('billing_period with the same plan follows the length of the period', async () => {
    const id = await subscribed()
    const longer = await change(id, { pricing_plan_id: plans[1], billing_period: { type: 'YEAR', value: 1 } })
    expect(longer).toMatchObject({
      status: 201,
      body: { start_at: '2026-03-11T10:00:00Z', billing_period: { type: 'YEAR' } },
    })
    api.clock.set(Date.parse('2026-03-12T10:00:00Z'))
    const shorter = await change(id, { pricing_plan_id: plans[1], billing_period: { type: 'MONTH', value: 1 } })
    api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
    expect(shorter).toMatchObject({ status: 201, body: { start_at: '2026-12-31T23:00:00Z' } })
  })

  test('a plan is chosen by its LATEST version, which must be in the currency', async () => {
    const usd = { pricing_type: 'FLAT', bands: [{ amount: { quantity: '1', currency: 'USD' } }] }
    const { version } = await catalogOf(tenant).draft(usd)
    await succeed(tenant, 'POST', '/v1/pricing-plan-groups', {
      reference: 'currencies',
      status: 'ACTIVE',
      pricing_plan_ids: [plans[3], version['pricing_plan_id']],
      upgrade_type: 'IMMEDIATE',
    })
    const id = await subscribed({ pricing_plan_version_id: versions[3] })
    const body = { pricing_plan_id: version['pricing_plan_id'] }
    expect(refusal(await change(id, body))).toEqual([404, 'RESOURCE_NOT_FOUND', 'pricing_plan_id'])
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
    expect(refusal(await change(id, body))).toEqual([400, 'INVALID_FIELD', 'pricing_plan_id'])
    expect(await timeline(id)).toHaveLength(1)
  })

  test('what the rules do not allow is refused, and changes nothing', async () => {
    const id = await subscribed()
    const cases: [object, unknown[]][] = [
      [{}, [400, 'MISSING_FIELD', 'pricing_plan_id']],
      [{ pricing_plan_id: 'ppla_0000000000000000000000' }, [404, 'RESOURCE_NOT_FOUND', 'pricing_plan_id']],
      [{ pricing_plan_id: plans[3] }, [400, 'INVALID_FIELD', 'pricing_plan_id']],
      [{ pricing_plan_id: plans[1] }, [400, 'INVALID_OPERATION', 'pricing_plan_id']],
      [
        { pricing_plan_id: plans[2], billing_period: { type: 'YEAR', value: 1 } },
        [400, 'INVALID_FIELD', 'billing_period'],
      ],
      [{ pricing_plan_id: plans[2], start_at: '2026-03-05T00:00:00Z' }, [400, 'INVALID_FIELD', 'start_at']],
      [{ pricing_plan_id: plans[2], start_at: '2026-03-01T00:00:00Z' }, [400, 'INVALID_FIELD', 'start_at']],
      [{ pricing_plan_id: plans[2], start_at: '2026-02-01T00:00:00Z' }, [400, 'INVALID_OPERATION', 'start_at']],
      [{ pricing_plan_id: plans[2], seats_values: [] }, [400, 'INVALID_FIELD', 'seats_values']],
    ]
    for (const [body, expected] of cases) expect(refusal(await change(id, body))).toEqual(expected)
    expect(await timeline(id)).toHaveLength(1)
    const draft = await makeSubscription(tenant)
    expect(refusal(await change(draft, { pricing_plan_id: plans[2] })).slice(0, 2)).toEqual([400, 'INVALID_OPERATION'])
    await succeed(tenant, 'POST', `${SUBSCRIPTIONS}/${id}/cancel`, { type: 'NEXT_BILLING_PERIOD' })
    expect(refusal(await change(id, { pricing_plan_id: plans[0] })).slice(0, 2)).toEqual([400, 'INVALID_OPERATION'])
  })
})

describe('at once', () => {
  test('of two changes to the same plan, one is made', async () => {
    const id = await subscribed()
    const answers = await Promise.all([1, 2, 3].map(() => change(id, { pricing_plan_id: plans[2] })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400])
    expect(await timeline(id)).toHaveLength(2)
  })

  test('of a change and a cancellation, the later one sees the earlier', async () => {
    const id = await subscribed()
    const [changed, cancelled] = await Promise.all([
      change(id, { pricing_plan_id: plans[2], start_at: '2026-03-20T00:00:00Z' }),
      tenant.call('POST', `${SUBSCRIPTIONS}/${id}/cancel`, { type: 'NOW' }),
    ])
    expect(cancelled.status).toBe(200)
    const changedFirst = changed.status === 201
    expect(changed.body['code']).toBe(changedFirst ? undefined : 'INVALID_OPERATION')
    expect(await timeline(id)).toHaveLength(changedFirst ? 2 : 1)
  })
})
