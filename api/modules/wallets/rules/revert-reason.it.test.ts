// Why a grant was reverted: the charge that it came from is gone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { grantingPlans, SEATS, type Subscribed } from '../testing/granting-plans.ts'
import type { Selling } from '../testing/sold-plans.ts'

let api: ApiHarness
let tenant: TestTenant
let plans: Awaited<ReturnType<typeof grantingPlans>>
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  plans = await grantingPlans(api, tenant)
})
afterAll(() => api?.close())

describe('a grant whose charge is gone says why, once', () => {
  const seats = (): Selling[] => [
    { model: 'PER_SEAT', config: { ...SEATS, wallet_grants: [plans.fixed('100', { source: 'PER_SEAT' })] } },
  ]
  const assigned = async (subscription: Subscribed, start_at: string): Promise<void> => {
    await plans.post('seat-assignments', {
      pricing_plan_subscription_id: subscription.id,
      product_item_id: subscription.items[0]?.['id'],
      customer_id: await plans.customer(),
      start_at,
    })
    await plans.run(subscription)
  }
  /** `act` in April, with a seat from then on; then billing and a call that reverts come again. */
  async function gone(act: (subscription: Subscribed) => Promise<unknown>): Promise<string[]> {
    const subscription = await plans.subscribed(seats())
    plans.setTime('2026-04-01T00:10:00Z')
    await act(subscription)
    await plans.run(subscription)
    const entries = async () => {
      const wallet = (await plans.grantsOf(subscription))[0]?.['wallet_id']
      const { data } = await succeed(tenant, 'GET', `/v1/wallets/${wallet}/transactions?limit=100`)
      return data.map((entry: Row) => [entry['id'], entry['type'], entry['value'].credits.quantity])
    }
    const [once, before] = [await plans.shown(subscription), await entries()]
    await plans.run(subscription)
    for (const grant of await plans.grantsOf(subscription))
      if (grant['revert_reason']) await plans.post(`wallet-grants/${grant['id']}/revert`, undefined)
    expect([await plans.shown(subscription), await entries()]).toEqual([once, before])
    return once
  }
  const scheduleUrl = ({ scheduleId }: Subscribed) => `/v1/pricing-plan-schedules/${scheduleId}`
  const cancel = ({ id }: Subscribed, body: object) => plans.post(`pricing-plan-subscriptions/${id}/cancel`, body)
  const LATER = '2026-04-21T00:00:00Z'
  /** A third of April. */
  const reverted = (reason: string) => [expect.stringMatching(new RegExp(`^33\\.3\\d+ 2026-04-21 - ${reason}$`))]

  test('SCHEDULE_DATES_CHANGED: its schedule ends before it', async () => {
    const ended = async (subscription: Subscribed) => {
      await assigned(subscription, LATER)
      await succeed(tenant, 'PATCH', scheduleUrl(subscription), { end_at: '2026-04-11T00:00:00Z' })
    }
    expect(await gone(ended)).toEqual(reverted('SCHEDULE_DATES_CHANGED'))
  })

  test('SCHEDULE_DELETED: there is no schedule of it any more', async () => {
    const deleted = async (subscription: Subscribed) => {
      const { pricing_plan_version_id } = await succeed(tenant, 'GET', scheduleUrl(subscription))
      await succeed(tenant, 'PATCH', scheduleUrl(subscription), { end_at: '2026-04-11T00:00:00Z' })
      const body = { pricing_plan_subscription_id: subscription.id, pricing_plan_version_id }
      const second = await plans.post('pricing-plan-schedules', { ...body, start_at: '2026-04-11T00:00:00Z' })
      if (second['status'] === 'DRAFT') await plans.post(`pricing-plan-schedules/${second['id']}/activate`, undefined)
      await assigned(subscription, LATER)
      // The api deletes a DRAFT alone, and that grants nothing.
      await api.sql('delete from pricing_plan_schedules where id = $1', [second['id']])
    }
    expect(await gone(deleted)).toEqual(reverted('SCHEDULE_DELETED'))
  })

  test('SUBSCRIPTION_UPGRADED: the plan gave way to another one before it', async () => {
    const upgraded = async (subscription: Subscribed) => {
      await assigned(subscription, LATER)
      const own = await succeed(tenant, 'GET', scheduleUrl(subscription))
      const { version, pricing } = await plans.sold(seats())
      await pricing()
      await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
      await plans.post('pricing-plan-groups', {
        reference: tenant.seed.unique('tiers'),
        status: 'ACTIVE',
        pricing_plan_ids: [own['pricing_plan_id'], version['pricing_plan_id']],
        upgrade_type: 'IMMEDIATE',
        downgrade_type: 'NOT_ALLOWED',
      })
      const change = { pricing_plan_id: version['pricing_plan_id'] }
      await plans.post(`pricing-plan-subscriptions/${subscription.id}/change-plan`, change)
    }
    expect(await gone(upgraded)).toEqual(reverted('SUBSCRIPTION_UPGRADED'))
  })

  test('SUBSCRIPTION_CANCELLED: the subscription ends before it', async () => {
    const cancelled = async (subscription: Subscribed) => {
      await assigned(subscription, LATER)
      await cancel(subscription, { type: 'DATE', cancel_at: '2026-04-11T00:00:00Z' })
    }
    expect(await gone(cancelled)).toEqual(reverted('SUBSCRIPTION_CANCELLED'))
  })

  test('SUBSCRIPTION_CANCEL_UNDONE: it was for the time until the cancellation, and is granted for the whole anew', async () => {
    const FIRST = '2026-04-01T00:00:00Z'
    const undone = async (subscription: Subscribed) => {
      await assigned(subscription, FIRST)
      await cancel(subscription, { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z' })
      await plans.run(subscription)
      expect(await plans.shown(subscription)).toEqual(['50 2026-04-01 - live'])
      await cancel(subscription, { type: 'UNDO' })
    }
    expect((await gone(undone)).toSorted()).toEqual([
      '100 2026-04-01 - live',
      '50 2026-04-01 - SUBSCRIPTION_CANCEL_UNDONE',
    ])
  })
})
