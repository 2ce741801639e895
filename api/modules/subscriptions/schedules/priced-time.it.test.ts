// An ACTIVE schedule of a rate card gets no time for which the rate card has no prices of its own currency (semantics 3.1).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { makeSchedule, makeSubscription, makeVersion, succeed } from '../testing/seed-subscription.ts'

let api: ApiHarness
let tenant: TestTenant
/** Its prices are in EUR from 1 April on, and in USD alone from 1 June on. */
let card: string
let plain: string

const SCHEDULES = '/v1/pricing-plan-schedules'
const day = (text: string): string => `2026-${text}T00:00:00Z`

beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  plain = await makeVersion(tenant)
  const sold = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${plain}`)
  const [pricing] = sold['pricing_categories'][0].pricings
  const { product_ids } = pricing
  const { product_item_ids, configs } = pricing.items[0]
  card = (await succeed(tenant, 'POST', '/v1/pricing-plans', { reference: 'card', variant: 'RATE_CARD' }))['id']
  for (const [start_at, currency] of [
    [day('04-01'), 'EUR'],
    [day('06-01'), 'USD'],
  ]) {
    const version = await succeed(tenant, 'POST', '/v1/pricing-plan-versions', {
      pricing_plan_id: card,
      rate_card: { start_at },
    })
    const bands = [{ amount: { quantity: '0.10', currency } }]
    await succeed(tenant, 'POST', '/v1/pricings', {
      pricing_plan_version_id: version['id'],
      name: 'Usage',
      product_ids,
      items: [
        { product_item_ids, configs: [{ pricing_type: 'FLAT', billing_period: configs[0].billing_period, bands }] },
      ],
    })
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  }
})
afterAll(() => api.close())

type Given = { readonly of: 'CARD' | 'PLAN'; readonly start: string; readonly end?: string }

/** The ids of the schedules of an ACTIVE subscription. */
async function subscribed(...given: readonly Given[]): Promise<string[]> {
  const id = await makeSubscription(tenant)
  const ids: string[] = []
  for (const { of, start, end } of given) {
    const sold =
      of === 'PLAN'
        ? { pricing_plan_version_id: plain }
        : { pricing_plan_version_selector: { pricing_plan_id: card }, pricing_plan_version_id: undefined }
    const ends = end === undefined ? {} : { end_at: day(end) }
    ids.push(await makeSchedule(tenant, id, day(start), { ...sold, ...ends }))
  }
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
  return ids
}
const patch = (id: string | undefined, body: object, query = ''): Promise<Answer> =>
  tenant.call('PATCH', `${SCHEDULES}/${id}${query}`, body)
const timeOf = async (id: string | undefined): Promise<unknown[]> => {
  const { start_at, end_at } = await succeed(tenant, 'GET', `${SCHEDULES}/${id}`)
  return [start_at, end_at]
}
const refusal = (id: string | undefined, field: string, message: RegExp) => ({
  status: 400,
  body: { code: 'INVALID_FIELD', field, resource_id: id, message: expect.stringMatching(message) },
})

test('a later end is refused where a version in force by then has no price in its currency, and no end alike', async () => {
  const [id] = await subscribed({ of: 'CARD', start: '04-01', end: '05-01' })
  for (const end_at of [null, day('06-02')])
    expect(await patch(id, { end_at })).toMatchObject(refusal(id, 'end_at', /is in USD, not in EUR/))
  expect(await timeOf(id)).toEqual([day('04-01'), day('05-01')])
  expect((await patch(id, { end_at: day('06-01') })).status).toBe(200)
  // Less time needs no other price.
  expect((await patch(id, { end_at: day('04-15') })).status).toBe(200)
})

test('an earlier start is refused where no version is in force yet', async () => {
  const [id] = await subscribed({ of: 'CARD', start: '04-10', end: '05-01' })
  expect(await patch(id, { start_at: day('03-20') })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_FIELD', field: 'start_at', message: expect.stringContaining('no ACTIVE version in force') },
  })
  expect(await timeOf(id)).toEqual([day('04-10'), day('05-01')])
  expect((await patch(id, { start_at: day('04-01') })).status).toBe(200)
})

test('a neighbour that moves along is judged as well', async () => {
  const [before, after] = await subscribed({ of: 'CARD', start: '04-01', end: '05-01' }, { of: 'PLAN', start: '05-01' })
  const later = await patch(after, { start_at: day('06-15') }, '?set_previous_end_at=true')
  expect(later).toMatchObject(refusal(before, 'start_at', /is in USD, not in EUR/))
  const [first, next] = await subscribed(
    { of: 'PLAN', start: '03-11', end: '04-10' },
    { of: 'CARD', start: '04-10', end: '05-01' },
  )
  const earlier = await patch(first, { end_at: day('03-20') }, '?set_next_start_at=true')
  expect(earlier).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD', field: 'end_at' } })
  expect(await timeOf(next)).toEqual([day('04-10'), day('05-01')])
})

/** A schedule of the card until 1 June, and after it one of a plan, a DRAFT. */
async function followed(): Promise<{ before: string | undefined; last: string }> {
  const [before] = await subscribed({ of: 'CARD', start: '04-01', end: '06-01' })
  const { pricing_plan_subscription_id: subscription } = await succeed(tenant, 'GET', `${SCHEDULES}/${before}`)
  const last = await makeSchedule(tenant, subscription, day('06-01'), { pricing_plan_version_id: plain })
  return { before, last }
}

test('an ACTIVE schedule is not deleted where the one before it could not run on', async () => {
  const { before, last } = await followed()
  await succeed(tenant, 'POST', `${SCHEDULES}/${last}/activate`)
  const refused = await tenant.call('DELETE', `${SCHEDULES}/${last}`)
  expect(refused.body).toMatchObject({
    code: 'COULD_NOT_DELETE_RESOURCE',
    resource_id: last,
    message: expect.stringContaining('is in USD, not in EUR'),
  })
  expect(await timeOf(last)).toEqual([day('06-01'), null])
  expect(await timeOf(before)).toEqual([day('04-01'), day('06-01')])
})

test('a DRAFT is deleted, and the schedule before it keeps an end of its own', async () => {
  const { before, last } = await followed()
  expect((await tenant.call('DELETE', `${SCHEDULES}/${last}`)).status).toBe(200)
  expect(await timeOf(before)).toEqual([day('04-01'), day('06-01')])
})

test('the time that the card can price is given back when the last schedule goes', async () => {
  const [before, last] = await subscribed(
    { of: 'CARD', start: '04-01', end: '05-01' },
    { of: 'PLAN', start: '05-01', end: '06-01' },
  )
  expect((await tenant.call('DELETE', `${SCHEDULES}/${last}`)).status).toBe(200)
  expect(await timeOf(before)).toEqual([day('04-01'), day('06-01')])
})

test('a plan that is DEPRECATED prices on', async () => {
  const [id] = await subscribed({ of: 'PLAN', start: '04-01', end: '05-01' })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${plain}`, { status: 'DEPRECATED' })
  expect((await patch(id, { end_at: null })).status).toBe(200)
})
