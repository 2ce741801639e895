// Reading a whole list by its cursors while others create: every entry that was there when the reading began comes once, none twice.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seedInvoice } from '../modules/billing/testing/seed-invoice.ts'
import { productItemResource } from '../modules/catalog/products/product.ts'
import { customerResource } from '../modules/parties/customers/resource.ts'
import { startApiWithUsers, type UserHarness } from '../testing/user-harness.ts'
import type { Row } from '../testing/wire.ts'

let api: UserHarness
beforeAll(async () => {
  api = await startApiWithUsers()
})
afterAll(() => api.close())

const get = async (url: string): Promise<Row> => {
  const { status, body } = await api.tenants.aLive.call('GET', url)
  expect([url, status]).toEqual([url, 200])
  return body
}
const create = (more: Row = {}) =>
  api.tenants.aLive.call('POST', '/v1/customers', {
    reference: api.tenants.aLive.seed.unique('c'),
    type: 'ORGANIZATION',
    ...more,
  })
const idsOf = (body: Row): string[] => body['data'].map((entry: Row) => entry['id'])

/** Reads a list to its end by the links, and does something between any two reads. */
async function readAll(
  url: string,
  direction: 'next' | 'previous',
  between: () => Promise<unknown>,
): Promise<string[]> {
  const ids: string[] = []
  for (let at: string | null = url; at !== null; ) {
    const body = await get(at)
    if (direction === 'next') ids.push(...idsOf(body))
    else ids.unshift(...idsOf(body))
    at = body['links'][direction]
    await between()
  }
  return ids
}

describe('cursors', () => {
  test('repeat nothing and leave nothing out while entries are created, in every order', async () => {
    await Promise.all(
      Array.from({ length: 23 }, (_, index) => create(index % 3 === 0 ? {} : { email: `${index % 4}@x.example` })),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('created_at', 'updated_at', 'reference', 'email'),
        fc.constantFrom('asc', 'desc'),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 4 }),
        async (by, direction, limit, creations) => {
          const order = `order_by=${by}&order_direction=${direction}`
          const before = idsOf(await get(`/v1/customers?limit=100&${order}`))
          const [first, ...rest] = before
          const plan = [...creations]
          const between = () => Promise.all(Array.from({ length: plan.pop() ?? 0 }, () => create()))
          const read = [
            first,
            ...(await readAll(`/v1/customers?limit=${limit}&${order}&starting_after=${first}`, 'next', between)),
          ]
          expect(new Set(read).size).toBe(read.length)
          expect(read.filter(id => before.includes(id ?? ''))).toEqual(before)
          expect(rest.length).toBeGreaterThan(20)
        },
      ),
      { numRuns: 12 },
    )
  })

  test('read backwards what they read forwards', async () => {
    const all = idsOf(await get('/v1/customers?limit=100&order_by=email&order_direction=asc'))
    const last = all.at(-1)
    const url = `/v1/customers?limit=4&order_by=email&order_direction=asc&ending_before=${last}`
    const read = await readAll(url, 'previous', async () => undefined)
    expect([...read, last]).toEqual(all)
  })

  test.each(['/v1/customers', '/v1/invoices'])('%s: pages by number follow each other in every order', async path => {
    if (path === '/v1/invoices') for (const _each of [1, 2]) await seedInvoice(api, api.tenants.aLive)
    for (const direction of ['asc', 'desc']) {
      const order = `order_by=updated_at&order_direction=${direction}`
      const all = await get(`${path}?limit=100&${order}`)
      const read: Row[] = []
      for (let at: string | null = `${path}?limit=3&${order}`; at !== null; ) {
        const body = await get(at)
        read.push(...body['data'])
        at = body['links'].next
      }
      expect(read.length).toBeGreaterThan(3)
      expect(read).toEqual(all['data'])
    }
  })

  test('a page by its number does move meanwhile, which is why there are cursors', async () => {
    const first = idsOf(await get('/v1/customers?limit=3'))
    await create()
    const second = idsOf(await get('/v1/customers?limit=3&page=2'))
    expect(second).toContain(first.at(-1))
    const following = await get(`/v1/customers?limit=3&starting_after=${first.at(-1)}`)
    expect(idsOf(following)).not.toContain(first.at(-1))
    expect(following).not.toHaveProperty('page')
    expect(following['has_more']).toBe(true)
  })

  test.each([
    ['starting_after=cust_0000000000000000000000', 'starting_after'],
    ['ending_before=nothing', 'ending_before'],
    ['starting_after=a&ending_before=b', 'ending_before'],
    ['starting_after=a&page=2', 'page'],
    ['starting_after=', 'starting_after'],
    ['limit=1000', 'limit'],
    ['limit=0', 'limit'],
    ['page=9999999', 'page'],
    ['page=0', 'page'],
  ])('%s is refused by name', async (query, field) => {
    const { status, body } = await api.tenants.aLive.call('GET', `/v1/customers?${query}`)
    expect([status, body['code'], body['field']]).toEqual([400, 'INVALID_FIELD', field])
    if (query === 'limit=1000') expect(body['message']).toContain('100')
    if (query === 'page=9999999') expect(body['message']).toContain('1000000')
  })

  test('are not those of another tenant', async () => {
    const foreign = await api.tenants.bLive.seed.make(customerResource)
    const { status } = await api.tenants.aLive.call('GET', `/v1/customers?starting_after=${foreign['id']}`)
    expect(status).toBe(400)
  })

  test('are there on every list that has pages', async () => {
    const { body: description } = await api.tenants.aLive.call('GET', '/v1/openapi.json')
    const without = Object.entries<Row>(description['paths']).flatMap(([url, path]) =>
      Object.values<Row>(path)
        .map(({ parameters }) => (parameters ?? []).map(({ name }: Row) => name))
        .filter(names => names.includes('page') && !names.includes('starting_after'))
        .map(() => url),
    )
    // The types of events are a closed list.
    expect(without).toEqual(['/v1/webhooks/actions'])
  })

  test.each(['/v1/roles', '/v1/users', '/v1/invoices', '/v1/product-items'])(
    '%s reads on, and back, from any of its entries',
    async path => {
      const { aLive } = api.tenants
      for (const round of [1, 2, 3]) {
        if (path === '/v1/roles') await aLive.call('POST', '/v1/roles', { name: `Role ${round}`, permissions: [] })
        if (path === '/v1/users') await api.administrator(aLive.tenant)
        if (path === '/v1/invoices') await seedInvoice(api, aLive)
        if (path === '/v1/product-items') await aLive.seed.make(productItemResource)
      }
      const all = idsOf(await get(`${path}?limit=100`))
      expect(all.length).toBeGreaterThanOrEqual(3)
      for (const [place, id] of all.entries()) {
        expect(idsOf(await get(`${path}?limit=100&starting_after=${id}`))).toEqual(all.slice(place + 1))
        expect(idsOf(await get(`${path}?limit=2&ending_before=${id}`))).toEqual(
          all.slice(Math.max(0, place - 2), place),
        )
      }
    },
  )
})
