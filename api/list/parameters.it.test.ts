// What every list does with the parameters that its description declares: none is ignored.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RESOURCES } from '../modules/modules.ts'
import { succeed } from '../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../testing/harness.ts'
import { PROBE_MS, seedTenant, urlOf } from '../testing/probe-tenants.ts'
import { routeFixtureOf, type Seeded } from '../testing/route-fixtures.ts'
import type { Row } from '../testing/wire.ts'

let api: ApiHarness
let tenant: TestTenant
let seeded: Seeded
let lists: List[]
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  await seedTenant(api, tenant)
  seeded = await seedTenant(api, tenant)
  lists = await describedLists()
}, PROBE_MS)
afterAll(() => api?.close())

type List = { readonly url: string; readonly parameters: ReadonlySet<string> }
type Parameter = { readonly name: string; readonly in: string }

/** Every GET that answers a list, with the parameters of its query. */
async function describedLists(): Promise<List[]> {
  const { paths } = await succeed(tenant, 'GET', '/v1/openapi.json')
  return Object.entries<Row>(paths).flatMap(([path, { get }]) => {
    const parameters: Parameter[] = get?.parameters ?? []
    const names = new Set(parameters.filter(each => each.in === 'query').map(({ name }) => name))
    return get ? [{ url: path.replace(/\{(\w+)\}/g, ':$1'), parameters: names }] : []
  })
}

function addressOf({ url }: List, query: Record<string, string>): string {
  const fixture = routeFixtureOf('GET', url, RESOURCES)
  return urlOf({ url }, fixture?.params?.(seeded) ?? {}, { ...fixture?.query?.(seeded), ...query })
}

/** The rows of a list as texts; null for what is no list, or is not there. */
async function read(list: List, query: Record<string, string> = {}): Promise<string[] | null> {
  const { status, body } = await tenant.call('GET', addressOf(list, query))
  const rows = Array.isArray(body) ? body : body['data']
  return status === 200 && Array.isArray(rows) ? rows.map(row => row['id'] ?? row['object_type'] ?? row['name']) : null
}

test(
  'limit, page and order_direction say what is answered, wherever they are declared',
  async () => {
    const wrong: string[] = []
    let tried = 0
    for (const list of lists.filter(({ parameters }) => parameters.has('limit') || parameters.has('order_direction'))) {
      const all = await read(list)
      if (all === null || new Set(all).size < 2) continue
      tried += 1
      const is = async (query: Record<string, string>, expected: readonly (string | undefined)[]) => {
        if (Object.keys(query).some(name => !list.parameters.has(name))) return
        const found = await read(list, query)
        if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push(`${list.url}?${new URLSearchParams(query)}`)
      }
      await is({ limit: '1' }, all.slice(0, 1))
      await is({ limit: '1', page: '2' }, all.slice(1, 2))
      const [up, down] = [await read(list, { order_direction: 'asc' }), await read(list, { order_direction: 'desc' })]
      if (list.parameters.has('order_direction') && up?.[0] === down?.[0]) wrong.push(`${list.url} order_direction`)
    }
    expect(wrong).toEqual([])
    expect(tried).toBeGreaterThan(30)
  },
  PROBE_MS,
)

test(
  'a parameter that is not declared is refused by its name',
  async () => {
    const wrong: string[] = []
    for (const list of lists) {
      if ((await read(list)) === null) continue
      const { status, body } = await tenant.call('GET', addressOf(list, { nothing: '1' }))
      if (status !== 400 || body['field'] !== 'nothing') wrong.push(`${list.url}: ${status} ${body['field']}`)
    }
    expect(wrong).toEqual([])
  },
  PROBE_MS,
)
