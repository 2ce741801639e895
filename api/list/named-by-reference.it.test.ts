// A list that is filtered by the id of another resource takes that one's reference too, as paths do: an empty answer to a reference
// would look as if there was nothing.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seedInvoice } from '../modules/billing/testing/seed-invoice.ts'
import { RESOURCES } from '../modules/modules.ts'
import type { Row } from '../resource/define-resource.ts'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import { callsOf, PROBE_MS } from '../testing/probe-tenants.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api?.close())

const LISTS = [
  ...RESOURCES.filter(({ operations }) => operations.includes('list')).flatMap(({ path, filters, table }) =>
    Object.entries(filters ?? {}).flatMap(([name, filter]) =>
      filter.kind === 'equals' && name.endsWith('_id') && Object.hasOwn(table, filter.column)
        ? [{ path, name, column: filter.column }]
        : [],
    ),
  ),
]
/** What the catalog keeps of modules above it is found by id alone. */
const BY_ID_ALONE = [
  'pricing-plans customer_id',
  'product-categories customer_id',
  'product-items customer_id',
  'products billing_entity_id',
  'products customer_id',
]

test(
  'a filter by the id of a resource finds the same by its reference, in lists and in searches',
  async () => {
    const tenant = api.tenants.aLive
    await callsOf(api, api.routes, tenant) // makes one of each
    const draft = await seedInvoice(api, tenant)
    const { customer_id: payer } = draft
    await api.sql('update customers set reference = $2 where id = $1', [payer, 'the-payer'])
    const get = async (url: string): Promise<Row> => (await tenant.call('GET', url)).body
    const list = async (url: string): Promise<Row[]> => (await tenant.call('GET', url)).body['data']
    const tried: string[] = []
    const wrong: string[] = []
    for (const { path, name, column } of LISTS) {
      const data = await list(`/v1/${path}`)
      const id = data.map(row => row[column]).find(value => typeof value === 'string')
      const target = RESOURCES.find(({ idPrefix, byReference }) => byReference && id?.startsWith(`${idPrefix}_`))
      if (id === undefined || !target || BY_ID_ALONE.includes(`${path} ${name}`)) continue
      const { reference } = await get(`/v1/${target.path}/${id}`)
      if (typeof reference !== 'string') continue
      tried.push(`${path} ${name}`)
      const found = async (value: string) =>
        (await list(`/v1/${path}?${name}=${encodeURIComponent(value)}`)).map(row => row['id'])
      const [byId, byReference] = [await found(id), await found(reference)]
      if (byId.length === 0 || JSON.stringify(byId) !== JSON.stringify(byReference))
        wrong.push(`${path} ${name}: ${byReference.length} of ${byId.length}`)
    }
    expect(wrong).toEqual([])
    expect(tried.length).toBeGreaterThan(12)
    expect((await list('/v1/invoices?customer_id=the-payer')).map(({ id }) => id)).toContain(draft['id'])
    const search = { filter_fields: [{ name: 'customer_id', values: ['the-payer', 'unknown'] }] }
    const searched: Row[] = (await tenant.call('POST', '/v1/invoices/search', search)).body['data']
    expect(new Set(searched.map(({ customer_id }) => customer_id))).toEqual(new Set([payer]))
    expect(await list('/v1/invoices?customer_id=unknown')).toEqual([])
  },
  PROBE_MS,
)
