// Until when usage is counted, and what waits to be billed again or for the first time.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { succeed } from '../testing/billed-subscription.ts'
import { NOW, ofCustomer, openReprocessRig } from './testing/reprocess-rig.ts'

let rig: Awaited<ReturnType<typeof openReprocessRig>>
beforeAll(async () => {
  rig = await openReprocessRig()
})
afterAll(() => rig?.api.close())
beforeEach(() => rig.reset())

describe('GET /v1/platforms/{id}/up-to-date', () => {
  const url = () => `/v1/platforms/${rig.tenant.tenant.platformId}/up-to-date`

  test('says until when usage is counted, and how many invoices of how many customers wait', async () => {
    rig.said.upToDate = async () => Date.parse('2026-03-19T23:59:58Z')
    expect(await succeed(rig.tenant, 'GET', url())).toEqual({
      timestamp: NOW,
      event_processing_up_to_date_until: '2026-03-19T23:59:58Z',
      invoices_to_be_reprocessed: 0,
      customers_to_be_reprocessed: 0,
      reprocess: { in_progress: false, in_error: false, items_scheduled: 0 },
      billing: expect.objectContaining({ in_progress: false, in_error: false, subscriptions_in_error: 0 }),
    })
    for (const each of [await rig.billed(), await rig.billed()]) await rig.create(ofCustomer(each))
    expect(await succeed(rig.tenant, 'GET', url())).toMatchObject({
      invoices_to_be_reprocessed: 2,
      customers_to_be_reprocessed: 2,
    })
    expect((await succeed(rig.api.tenants.aTest, 'GET', url()))['invoices_to_be_reprocessed']).toBe(0)
  })

  test('says how many subscriptions are due to be billed, and which of them a run left', async () => {
    const facts = async (by = rig.tenant) =>
      (await succeed(by, 'GET', `/v1/platforms/${by.tenant.platformId}/up-to-date`))['billing']
    const set = (id: string, due: string | null, claim: string | null) =>
      rig.api.sql(
        'update pricing_plan_subscriptions set next_billing_at = $2, billing_claimed_until = $3 where id = $1',
        [id, due, claim],
      )
    const before = await facts()
    const [waiting, held, left, later] = [
      await rig.billed(),
      await rig.billed(),
      await rig.billed(),
      await rig.billed(),
    ]
    const [past, future] = ['2026-03-01T00:00:00Z', '2026-03-20T12:01:00Z']
    await set(waiting.subscriptionId, past, null)
    await set(held.subscriptionId, '2026-02-28T00:00:00Z', future)
    await set(left.subscriptionId, past, past)
    await set(later.subscriptionId, '2027-01-01T00:00:00Z', null)
    expect(await facts()).toMatchObject({
      in_progress: true,
      in_error: true,
      subscriptions_due: before.subscriptions_due + 3,
      subscriptions_in_error: 1,
      oldest_due_at: '2026-02-28T00:00:00Z',
    })
    expect(await facts(rig.api.tenants.aTest)).toMatchObject({ subscriptions_in_error: 0, in_error: false })
    for (const each of [waiting, held, left]) await set(each.subscriptionId, null, null)
    expect(await facts()).toEqual(before)
  })

  test('of another platform is 404; while usage cannot be read it is 503', async () => {
    expect((await rig.api.tenants.bLive.call('GET', url())).body).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    rig.said.upToDate = () => Promise.reject(new Error('away'))
    const answer = await rig.tenant.call('GET', url())
    expect([answer.status, answer.body['code']]).toEqual([503, 'SERVICE_UNAVAILABLE'])
  })
})
