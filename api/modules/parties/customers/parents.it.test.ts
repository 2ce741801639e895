// Parents, roles and selectors of customers, through the api (semantics 1.3).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GENERATIONS_MAX } from '../../../../shared/attribution/replicate.ts'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { makeActiveSubscription } from '../../subscriptions/testing/seed-subscription.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

const create = (more: object) => tenant.call('POST', '/v1/customers', { type: 'INDIVIDUAL', ...more })
const patch = (id: string, body: object) => tenant.call('PATCH', `/v1/customers/${id}`, body)
const idOf = async (more: object = {}): Promise<string> => (await create(more)).body['id']
const termsOf = async (id: string): Promise<Row[] | null> =>
  (await api.sql('select attribution_terms from customers where id = $1', [id]))[0]?.['attribution_terms']

describe('the parents of a customer', () => {
  test('are given one or several, and shown both ways', async () => {
    const [one, two] = [await idOf(), await idOf()]
    const single = await create({ parent_customer_id: one })
    expect(single.body).toMatchObject({ parent_customer_id: one, parent_customer_ids: [one] })
    const several = await create({ parent_customer_ids: [one, two] })
    expect(several.body).toMatchObject({ parent_customer_id: null, parent_customer_ids: [one, two] })
    expect((await patch(several.body['id'], { parent_customer_ids: null })).body['parent_customer_ids']).toEqual([])
    const both = await create({ parent_customer_id: one, parent_customer_ids: [two] })
    expect(refusal(both)).toEqual([400, 'INVALID_FIELD', 'parent_customer_id'])
    for (const parent_customer_id of ['cust_0000000000000000000000', 'no-such-customer'])
      expect(refusal(await create({ parent_customer_id }))).toEqual([404, 'RESOURCE_NOT_FOUND', 'parent_customer_id'])
    expect(refusal(await patch(one, { parent_customer_id: single.body['id'] }))).toEqual([
      400,
      'INVALID_FIELD',
      'parent_customer_id',
    ])
    const nobody = await create({ parent_customer_ids: [one, 'cust_0000000000000000000000'] })
    expect(refusal(nobody)).toEqual([404, 'RESOURCE_NOT_FOUND', 'parent_customer_ids.1'])
  })

  test('are none that is gone, unless they were before', async () => {
    const [closed, archived, forgotten, kept] = [await idOf(), await idOf(), await idOf(), await idOf()]
    const child = (await create({ parent_customer_ids: [kept] })).body['id']
    for (const id of [closed, archived, kept]) await patch(id, { status: 'ACTIVE' })
    for (const id of [closed, kept]) expect((await patch(id, { status: 'CLOSED' })).status).toBe(200)
    expect((await patch(archived, { status: 'ARCHIVED' })).status).toBe(200)
    expect((await tenant.call('POST', `/v1/customers/${forgotten}/forget`)).status).toBe(200)
    for (const id of [closed, archived, forgotten]) {
      expect(refusal(await create({ parent_customer_id: id }))).toEqual([400, 'INVALID_FIELD', 'parent_customer_id'])
      const among = await patch(child, { parent_customer_ids: [kept, id] })
      expect(refusal(among)).toEqual([400, 'INVALID_FIELD', 'parent_customer_ids.1'])
      const group = { reference: tenant.seed.unique('group'), name: 'Departments', owner_customer_id: id }
      const made = await tenant.call('POST', '/v1/pricing-plan-subscription-groups', group)
      expect(refusal(made)).toEqual([400, 'INVALID_FIELD', 'owner_customer_id'])
    }
    const other = await idOf()
    expect((await patch(child, { parent_customer_ids: [kept, other] })).body['parent_customer_ids']).toEqual([
      kept,
      other,
    ])
  })

  test('change by either form, also where an answer is sent back with one of the two changed', async () => {
    const [one, two, three] = [await idOf(), await idOf(), await idOf()]
    const made = (await create({ reference: tenant.seed.unique('child'), parent_customer_id: one })).body
    const parentsBy = async (body: object) => (await patch(made['id'], body)).body['parent_customer_ids']
    expect(await parentsBy({ parent_customer_id: two })).toEqual([two])
    expect(await parentsBy({ parent_customer_id: two, parent_customer_ids: [one, three] })).toEqual([one, three])
    expect(await parentsBy({ parent_customer_id: null })).toEqual([one, three])
    expect(await parentsBy({ parent_customer_id: three, parent_customer_ids: [one, three] })).toEqual([three])
    const both = await patch(made['id'], { parent_customer_id: one, parent_customer_ids: [two] })
    expect(refusal(both)).toEqual([400, 'INVALID_FIELD', 'parent_customer_id'])
    expect(refusal(await patch(made['id'], { parent_customer_id: made['id'] }))[1]).toBe('INVALID_FIELD')
    expect(await parentsBy({ parent_customer_id: null })).toEqual([])
    const put = { reference: made['reference'], type: made['type'], parent_customer_id: one }
    const again = await tenant.call('PUT', '/v1/customers', put)
    expect(again).toMatchObject({ status: 200, body: { parent_customer_ids: [one] } })
    const moved = await tenant.call('PUT', '/v1/customers', { ...put, parent_customer_id: two })
    expect(moved).toMatchObject({ status: 200, body: { parent_customer_id: two } })
  })

  test('never close a circle, however long', async () => {
    const top = await idOf()
    const middle = await idOf({ parent_customer_id: top })
    const bottom = await idOf({ parent_customer_id: middle })
    for (const parent of [bottom, middle, top]) {
      expect(refusal(await patch(top, { parent_customer_ids: [parent] }))).toEqual([
        400,
        'INVALID_FIELD',
        'parent_customer_ids',
      ])
    }
    expect((await patch(bottom, { parent_customer_ids: [top, middle] })).status).toBe(200)
  })

  test('never close a circle from both sides at once', async () => {
    const [a, b] = [await idOf(), await idOf()]
    const answers = await Promise.all([patch(a, { parent_customer_ids: [b] }), patch(b, { parent_customer_ids: [a] })])
    expect(answers.map(answer => answer.status).toSorted()).toEqual([200, 400])
  })

  test('are not deleted while a customer names them', async () => {
    const parent = await idOf()
    const child = await idOf({ parent_customer_ids: [parent] })
    const refused = await tenant.call('DELETE', `/v1/customers/${parent}`)
    expect(refusal(refused)).toEqual([409, 'COULD_NOT_DELETE_RESOURCE', undefined])
    expect(refused.body['message']).toContain(child)
    await patch(child, { parent_customer_ids: [] })
    expect((await tenant.call('DELETE', `/v1/customers/${parent}`)).status).toBe(200)
  })

  test('reach over a bounded number of generations, counted from both ends', async () => {
    const chain = async (length: number): Promise<string[]> => {
      const ids = [await idOf()]
      while (ids.length < length) ids.push(await idOf({ parent_customer_id: ids.at(-1) }))
      return ids
    }
    const upper = await chain(6)
    const lower = await chain(GENERATIONS_MAX + 1 - 6)
    expect((await patch(lower[0] ?? '', { parent_customer_ids: [upper.at(-1)] })).status).toBe(200)
    const further = await create({ parent_customer_id: lower.at(-1) })
    expect(refusal(further)).toEqual([400, 'INVALID_FIELD', 'parent_customer_id'])
  })
})

describe('what decides about the events of a customer', () => {
  const selector = (value: string) => ({
    pricing_plan_subscription_selector: { filters: [{ field: 'PRICING_PLAN_REFERENCE', type: 'EQUALS', value }] },
  })
  const shown = (value: string) => ({ ...selector(value).pricing_plan_subscription_selector, fallback: 'LATEST' })

  test('is kept with the time it holds from, and holds from the beginning while it is DRAFT', async () => {
    const start = Date.parse('2026-03-01T00:00:00Z')
    api.clock.set(start)
    const id = await idOf(selector('a'))
    await patch(id, selector('b'))
    await patch(id, { status: 'ACTIVE' })
    api.clock.set(start + 60_000)
    await patch(id, selector('c'))
    await patch(id, { ...selector('d'), timezone: 'UTC' })
    api.clock.set(start + 120_000)
    await patch(id, { timezone: 'Europe/Amsterdam' })
    const parent = await idOf()
    await patch(id, { parent_customer_ids: [parent], pricing_plan_subscription_selector: null })
    expect(await termsOf(id)).toEqual([
      { from: '1970-01-01T00:00:00Z', selector: shown('b'), parent_customer_ids: [] },
      { from: '2026-03-01T00:01:00Z', selector: shown('d'), parent_customer_ids: [] },
      { from: '2026-03-01T00:02:00Z', selector: null, parent_customer_ids: [parent] },
    ])
    expect(await termsOf(parent)).toBeNull()
    const { body } = await tenant.call('GET', `/v1/customers/${id}`)
    expect(body).not.toHaveProperty('attribution_terms')
  })

  test('has a form, and a role that is fixed once there can be usage', async () => {
    const filters = (filter: object) => ({ pricing_plan_subscription_selector: { filters: [filter] } })
    const field = 'PRICING_PLAN_REFERENCE'
    expect(refusal(await create(filters({ field, type: 'EQUALS' })))).toEqual([
      400,
      'MISSING_FIELD',
      'pricing_plan_subscription_selector.filters.0.value',
    ])
    expect(refusal(await create(filters({ field, type: 'EMPTY', value: 'x' })))).toEqual([
      400,
      'INVALID_FIELD',
      'pricing_plan_subscription_selector.filters.0.value',
    ])
    expect((await create(filters({ field, type: 'GREATER_THAN', value: '1' }))).status).toBe(400)
    const country = 'BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY'
    const unknown = [400, 'INVALID_FIELD', 'pricing_plan_subscription_selector.filters.0.value']
    expect(refusal(await create(filters({ field: country, type: 'EQUALS', value: 'XX' })))).toEqual(unknown)
    expect((await create(filters({ field: country, type: 'CONTAINS', value: 'N' }))).status).toBe(201)
    // Facts about one field are alternatives: a rule holds for any of them.
    const data = (...values: string[]) => ({
      pricing_plan_subscription_selector: {
        data: values.map(value => ({ field: country, value })),
        rules: [{ field: country, type: 'IN' }],
      },
    })
    expect((await create(data('NL', 'BE'))).status).toBe(201)
    expect(refusal(await create(data('NL', 'XX')))).toEqual([
      400,
      'INVALID_FIELD',
      'pricing_plan_subscription_selector.data.1.value',
    ])
    expect((await create({ roles: ['SELF_BILLING', 'SELLER'] })).status).toBe(400)
    expect((await create({ roles: ['OTHER'] })).status).toBe(400)
    const id = await idOf({ roles: ['PROCESSING_ONLY'] })
    expect((await patch(id, { roles: ['DEFAULT'] })).status).toBe(200)
    await patch(id, { status: 'ACTIVE' })
    expect(refusal(await patch(id, { roles: ['PROCESSING_ONLY'] }))).toEqual([400, 'INVALID_FIELD', 'roles'])
    for (const role of ['NON_PROCESSING', 'SELF_BILLING', 'SELLER'])
      expect((await create({ roles: [role] })).body).toMatchObject({ roles: [role], processing_only: false })
  })

  test('is processing_only by that name or by its role, and not by both in different ways', async () => {
    const made = await create({ processing_only: true })
    expect(made.body).toMatchObject({ processing_only: true, roles: ['PROCESSING_ONLY'] })
    expect((await create({ processing_only: false })).body).toMatchObject({ roles: ['DEFAULT'] })
    expect((await create({ processing_only: true, roles: ['PROCESSING_ONLY'] })).status).toBe(201)
    for (const body of [
      { processing_only: true, roles: ['SELLER'] },
      { processing_only: true, roles: ['DEFAULT'] },
      { processing_only: false, roles: ['PROCESSING_ONLY'] },
    ])
      expect(refusal(await create(body))).toEqual([400, 'INVALID_FIELD', 'processing_only'])
    const { id } = made.body
    expect((await patch(id, { processing_only: false })).body).toMatchObject({ roles: ['DEFAULT'] })
    expect((await patch(id, { processing_only: false, roles: ['SELLER'] })).body).toMatchObject({ roles: ['SELLER'] })
    const both = { processing_only: true, roles: ['DEFAULT'] }
    expect(refusal(await patch(id, both))).toEqual([400, 'INVALID_FIELD', 'processing_only'])
    await patch(id, { status: 'ACTIVE' })
    expect((await patch(id, { processing_only: false })).status).toBe(200)
    expect(refusal(await patch(id, { processing_only: true }))).toEqual([400, 'INVALID_FIELD', 'processing_only'])
  })
})

describe('the email of a customer', () => {
  test('is cleared by null, by an empty text and by one of spaces, also when it is created', async () => {
    const id = await idOf({ email: 'ada@example.com' })
    for (const email of [null, '', ' \t ']) {
      expect((await patch(id, { email: 'ada@example.com' })).body['email']).toBe('ada@example.com')
      expect(await patch(id, { email })).toMatchObject({ status: 200, body: { email: null } })
      expect(await create({ email })).toMatchObject({ status: 201, body: { email: null } })
    }
    expect(refusal(await patch(id, { email: 'ada' }))).toEqual([400, 'INVALID_FIELD', 'email'])
  })
})

describe('a customer that is CLOSED', () => {
  test('takes nothing new, comes back, and is closed only when nothing of it runs', async () => {
    const live = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
    const subscription = (await tenant.call('GET', `/v1/pricing-plan-subscriptions/${live}`)).body
    const id: string = subscription['customer_id']
    expect(refusal(await patch(id, { status: 'CLOSED' }))).toEqual([400, 'INVALID_OPERATION', 'status'])
    await tenant.call('POST', `/v1/pricing-plan-subscriptions/${live}/cancel`, { type: 'NOW' })
    expect((await patch(id, { status: 'CLOSED' })).body).toMatchObject({ status: 'CLOSED' })
    const body = { customer_id: id, billing_entity_id: subscription['billing_entity_id'], billing_currency: 'EUR' }
    expect(refusal(await tenant.call('POST', '/v1/pricing-plan-subscriptions', body))).toEqual([
      400,
      'INVALID_FIELD',
      'customer_id',
    ])
    expect(refusal(await patch(id, { status: 'DEPRECATED' }))).toEqual([400, 'INVALID_OPERATION', 'status'])
    expect((await tenant.call('POST', `/v1/customers/${id}/activate`)).body).toMatchObject({ status: 'ACTIVE' })
    expect((await tenant.call('POST', '/v1/pricing-plan-subscriptions', body)).status).toBe(201)
    await patch(id, { status: 'CLOSED' })
    expect((await tenant.call('POST', `/v1/customers/${id}/archive`)).body).toMatchObject({ status: 'ARCHIVED' })
    expect(refusal(await create({ status: 'CLOSED' }))).toEqual([400, 'INVALID_FIELD', 'status'])
  })
})
