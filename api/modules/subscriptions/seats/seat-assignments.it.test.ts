// Seat assignments through the api: who may occupy a seat, what ends it, and what a live one keeps from changing (contract: Seat
// assignment, Archive customer).
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { lockExisting, lockOne } from '../../../resource/store.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptionResource } from '../subscription.ts'
import { deleteSubscription } from '../subscription-commands.ts'
import { makeSubscription, succeed } from '../testing/seed-subscription.ts'
import { untilItWaits } from '../testing/until-it-waits.ts'
import { seatAssignmentResource } from './seat-assignment.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
})
afterAll(() => api.close())

const SEATS = '/v1/seat-assignments'
const create = (body: object) => tenant.call('POST', SEATS, body)
const patch = (seat: Row, end_at: string | null) => tenant.call('PATCH', `${SEATS}/${seat['id']}`, { end_at })
const customer = async (more: object = {}): Promise<string> =>
  (
    await succeed(tenant, 'POST', '/v1/customers', {
      ...(await customerResource.fixture.create(tenant.seed)),
      ...more,
    })
  )['id']
/** An assignment since January, and what it is of. */
async function seated(): Promise<{ seat: Row; of: Row }> {
  const seat = await tenant.seed.make(seatAssignmentResource)
  const { pricing_plan_subscription_id, product_item_id } = seat
  return { seat, of: { pricing_plan_subscription_id, product_item_id } }
}

describe('an assignment', () => {
  test('is SCHEDULED, ACTIVE and ENDED by its times; it starts now unless it says when', async () => {
    const { seat, of } = await seated()
    expect(seat).toMatchObject({ object_type: 'SEAT_ASSIGNMENT', status: 'ACTIVE', end_at: null })
    const now = await create({ ...of, customer_id: await customer() })
    expect(now).toMatchObject({ status: 201, body: { start_at: '2026-03-11T10:00:00Z', status: 'ACTIVE' } })
    const later = await create({ ...of, customer_id: await customer(), start_at: '2026-04-01T00:00:00+02:00' })
    expect(later.body).toMatchObject({ status: 'SCHEDULED', start_at: '2026-03-31T22:00:00Z' })
    expect((await patch(seat, '2026-03-12T00:00:00Z')).body).toMatchObject({ status: 'ACTIVE' })
    expect((await patch(seat, null)).body).toMatchObject({ status: 'ACTIVE', end_at: null })
    expect((await patch(seat, '2026-03-11T10:00:00Z')).body).toMatchObject({ status: 'ENDED' })
    expect(refusal(await patch(seat, null))).toEqual([400, 'INVALID_OPERATION', 'end_at'])
    const url = `${SEATS}?pricing_plan_subscription_id=${of['pricing_plan_subscription_id']}`
    const listed: Row[] = (await succeed(tenant, 'GET', url))['data']
    expect(listed.map(({ status }) => status).toSorted()).toEqual(['ACTIVE', 'ENDED', 'SCHEDULED'])
    const mine: Row[] = (await succeed(tenant, 'GET', `${SEATS}?customer_id=${seat['customer_id']}`))['data']
    expect(mine.map(({ id }) => id)).toEqual([seat['id']])
  })

  test('of a customer that has a seat of the item is refused, also of two at once, until that one ends', async () => {
    const { seat, of } = await seated()
    const again = { ...of, customer_id: seat['customer_id'] }
    const isInTheWay = (other: Row, field: string, status: string) => ({
      status: 409,
      body: {
        code: 'COULD_NOT_UPDATE_RESOURCE',
        field,
        resource_id: other['id'],
        resource_type: 'SEAT_ASSIGNMENT',
        message: expect.stringContaining(`${other['id']} is ${status};`),
      },
    })
    expect(await create(again)).toMatchObject(isInTheWay(seat, 'start_at', 'ACTIVE'))
    await patch(seat, '2026-03-11T11:00:00Z')
    const after = await create({ ...again, start_at: '2026-03-11T11:00:00Z' })
    expect(after.status).toBe(201)
    expect(await patch(seat, null)).toMatchObject(isInTheWay(after.body, 'end_at', 'SCHEDULED'))
    const before = { ...again, start_at: '2025-12-01T00:00:00Z', end_at: '2026-01-02T00:00:00Z' }
    expect(await create(before)).toMatchObject(isInTheWay(seat, 'end_at', 'ACTIVE'))
    const body = { ...of, customer_id: await customer() }
    const answers = await Promise.all([1, 2, 3].map(() => create(body)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
  })

  test('of what has no seats, or is gone, is refused by its field', async () => {
    const { of } = await seated()
    const customer_id = await customer()
    const metered = (await tenant.seed.make(productItemResource))['id']
    const other = await makeSubscription(tenant)
    const gone = await customer()
    await succeed(tenant, 'POST', `/v1/customers/${gone}/archive`)
    const cases: [object, unknown[]][] = [
      [{ product_item_id: metered }, [400, 'INVALID_FIELD', 'product_item_id']],
      [{ pricing_plan_subscription_id: other }, [400, 'INVALID_FIELD', 'product_item_id']],
      [{ customer_id: gone }, [400, 'INVALID_FIELD', 'customer_id']],
      [{ customer_id: 'cust_0000000000000000000000' }, [404, 'RESOURCE_NOT_FOUND', 'customer_id']],
      [{ customer_id: undefined }, [400, 'MISSING_FIELD', 'customer_id']],
      [{ end_at: '2026-03-11T10:00:00Z' }, [400, 'INVALID_FIELD', 'end_at']],
      [{ number: '3' }, [400, 'INVALID_FIELD', 'number']],
    ]
    for (const [body, expected] of cases)
      expect(refusal(await create({ ...of, customer_id, ...body }))).toEqual(expected)
  })
})

describe('an assignment that ends as it starts', () => {
  const APRIL = '2026-04-01T00:00:00Z'

  test('is taken back: it has ENDED, keeps nothing as it is and leaves its seat to others', async () => {
    const { of } = await seated()
    const id = await customer()
    const later = (await create({ ...of, customer_id: id, start_at: APRIL })).body
    const archive = () => tenant.call('POST', `/v1/customers/${id}/archive`)
    expect((await archive()).body['message']).toContain(`send ${APRIL} as its end_at`)
    expect((await patch(later, APRIL)).body).toMatchObject({ status: 'ENDED', start_at: APRIL, end_at: APRIL })
    expect(refusal(await patch(later, null))).toEqual([400, 'INVALID_OPERATION', 'end_at'])
    const again = await create({ ...of, customer_id: id, start_at: '2026-03-20T00:00:00Z' })
    expect(again).toMatchObject({ status: 201, body: { status: 'SCHEDULED', end_at: null } })
    await patch(again.body, '2026-03-20T00:00:00Z')
    expect((await archive()).status).toBe(200)
    expect((await tenant.call('POST', `/v1/product-items/${of['product_item_id']}/deprecate`)).status).toBe(400)
  })

  test('is not created so, and does not end before it starts', async () => {
    const { of } = await seated()
    const body = { ...of, customer_id: await customer(), start_at: APRIL }
    expect(refusal(await create({ ...body, end_at: APRIL }))).toEqual([400, 'INVALID_FIELD', 'end_at'])
    const later = (await create(body)).body
    const early = await patch(later, '2026-03-12T00:00:00Z')
    expect(refusal(early)).toEqual([400, 'INVALID_FIELD', 'end_at'])
    expect(early.body['message']).toContain(APRIL)
  })
})

describe('an assignment of a subscription that is over', () => {
  const activated = async () => {
    const { seat, of } = await seated()
    const id = of['pricing_plan_subscription_id']
    const [schedule] = (await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${id}`))[
      'data'
    ]
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-versions/${schedule['pricing_plan_version_id']}`, {
      status: 'ACTIVE',
    })
    const url = `/v1/pricing-plan-subscriptions/${id}`
    await succeed(tenant, 'PATCH', url, { status: 'ACTIVE' })
    return { seat, of, url }
  }

  test.each([
    ['voided', (url: string) => succeed(tenant, 'POST', `${url}/void`)],
    ['cancelled', (url: string) => succeed(tenant, 'POST', `${url}/cancel`, { type: 'NOW' })],
  ])('that was %s has ENDED with it, and keeps nothing as it is', async (_how, end) => {
    const { seat, of, url } = await activated()
    const archive = () => tenant.call('POST', `/v1/customers/${seat['customer_id']}/archive`)
    await succeed(tenant, 'POST', `${url}/cancel`, { type: 'DATE', cancel_at: '2026-04-01T00:00:00Z' })
    expect(refusal(await archive())).toEqual([400, 'INVALID_OPERATION', 'status'])
    await end(url)
    expect(await succeed(tenant, 'GET', `${SEATS}/${seat['id']}`)).toMatchObject({ status: 'ENDED', end_at: null })
    expect((await archive()).status).toBe(200)
    expect((await tenant.call('POST', `/v1/product-items/${of['product_item_id']}/deprecate`)).status).toBe(200)
  })

  test('whose cancellation has come, and is not settled yet, has ENDED too', async () => {
    const { seat, url } = await activated()
    await succeed(tenant, 'POST', `${url}/cancel`, { type: 'DATE', cancel_at: '2026-03-12T00:00:00Z' })
    const statusAt = async (time: string) => {
      api.clock.set(Date.parse(time))
      return (await succeed(tenant, 'GET', `${SEATS}/${seat['id']}`))['status']
    }
    expect([await statusAt('2026-03-11T23:59:59Z'), await statusAt('2026-03-12T00:00:00Z')]).toEqual([
      'ACTIVE',
      'ENDED',
    ])
    expect((await tenant.call('POST', `/v1/customers/${seat['customer_id']}/archive`)).status).toBe(200)
    api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  })
})

describe('a live assignment', () => {
  const blocked = (seat: Row, status: string) => ({
    status: 400,
    body: {
      code: 'INVALID_OPERATION',
      resource_id: seat['id'],
      message: expect.stringMatching(new RegExp(`${seat['id']} .* is ${status};`)),
    },
  })

  test('keeps its customer from being archived; the refusal names it and its status', async () => {
    const { seat, of } = await seated()
    const archive = (id: string) => tenant.call('POST', `/v1/customers/${id}/archive`)
    expect(await archive(seat['customer_id'])).toMatchObject(blocked(seat, 'ACTIVE'))
    // Who pays has the ACTIVE subscription too, and the seat is what is named.
    const url = `/v1/pricing-plan-subscriptions/${of['pricing_plan_subscription_id']}`
    const schedules = `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${of['pricing_plan_subscription_id']}`
    const [schedule] = (await succeed(tenant, 'GET', schedules))['data']
    const version = `/v1/pricing-plan-versions/${schedule['pricing_plan_version_id']}`
    await succeed(tenant, 'PATCH', version, { status: 'ACTIVE' })
    const payer = await succeed(tenant, 'PATCH', url, { status: 'ACTIVE' })
    expect(await archive(payer['customer_id'])).toMatchObject(blocked(seat, 'ACTIVE'))
    const id = await customer()
    const later = (await create({ ...of, customer_id: id, start_at: '2026-04-01T00:00:00Z' })).body
    expect(await archive(id)).toMatchObject(blocked(later, 'SCHEDULED'))
    // A customer may still stop taking new subscriptions.
    expect((await tenant.call('POST', `/v1/customers/${id}/deprecate`)).status).toBe(200)
    for (const each of [seat, later]) await patch(each, each === seat ? '2026-03-11T10:00:00Z' : '2026-04-01T00:00:01Z')
    expect((await archive(seat['customer_id'])).status).toBe(200)
    expect((await archive(id)).status).toBe(400)
  })

  test.each([
    ['the seat first', false],
    ['the archiving first', true],
  ])('and the archiving of its customer at once, %s: one of the two is refused', async (_title, isReversed) => {
    const { of } = await seated()
    const customer_id = await customer()
    const calls = [
      () => create({ ...of, customer_id }),
      () => tenant.call('POST', `/v1/customers/${customer_id}/archive`),
    ]
    const answers = await Promise.all((isReversed ? calls.toReversed() : calls).map(call => call()))
    const refused = answers.filter(({ status }) => status === 400)
    expect(refused).toHaveLength(1)
    expect(['INVALID_FIELD', 'INVALID_OPERATION']).toContain(refused[0]?.body['code'])
  })

  test('keeps a parent customer, and its product item, ACTIVE', async () => {
    const { of } = await seated()
    const parent = await customer()
    const child = await customer({ parent_customer_id: parent })
    const seat = (await create({ ...of, customer_id: child })).body
    const verb = (path: string, name: string) => tenant.call('POST', `/v1/${path}/${name}`)
    for (const name of ['deprecate', 'archive'])
      expect(await verb(`customers/${parent}`, name)).toMatchObject(blocked(seat, 'ACTIVE'))
    const item = `product-items/${of['product_item_id']}`
    expect(await verb(item, 'deprecate')).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION' } })
    const url = `${SEATS}?product_item_id=${of['product_item_id']}`
    for (const each of (await succeed(tenant, 'GET', url))['data']) await patch(each, '2026-03-11T10:00:01Z')
    api.clock.set(Date.parse('2026-03-11T10:00:01Z'))
    expect((await verb(item, 'deprecate')).status).toBe(200)
    expect((await verb(`customers/${parent}`, 'deprecate')).status).toBe(200)
    api.clock.set(Date.parse('2026-03-11T10:00:00Z'))
  })

  test('of a DRAFT subscription changes after an activation that is under way, or before it, and never beside it', async () => {
    const { seat, of } = await seated()
    let isAnswered = false
    const { answer } = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
      await lockOne(uow, subscriptionResource, of['pricing_plan_subscription_id'])
      const waiting = await untilItWaits(api, () =>
        patch(seat, '2026-04-01T00:00:00Z').finally(() => {
          isAnswered = true
        }),
      )
      expect(isAnswered).toBe(false)
      return waiting
    })
    expect(await answer).toMatchObject({ status: 200, body: { end_at: '2026-04-01T00:00:00Z' } })
  })

  test('goes with a DRAFT subscription that is deleted', async () => {
    const { seat, of } = await seated()
    const url = `/v1/pricing-plan-subscriptions/${of['pricing_plan_subscription_id']}`
    expect((await tenant.call('DELETE', url)).status).toBe(200)
    expect((await tenant.call('GET', `${SEATS}/${seat['id']}`)).status).toBe(404)
  })

  test('whose change waits for the subscription holds nothing yet that its deletion needs, and is gone after it', async () => {
    const { seat, of } = await seated()
    const { answer } = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
      const subscription = await lockExisting(uow, subscriptionResource, of['pricing_plan_subscription_id'])
      const waiting = await untilItWaits(api, () => patch(seat, '2026-04-01T00:00:00Z'))
      const { rows } = await uow.tx.execute(
        sql`select from seat_assignments where id = ${seat['id']} for update skip locked`,
      )
      expect(rows).toHaveLength(1)
      await deleteSubscription(uow, subscription.id)
      return waiting
    })
    expect(await answer).toMatchObject({ status: 404, body: { resource_type: 'SEAT_ASSIGNMENT' } })
  })
})
