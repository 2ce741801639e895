// What holds of every filter of every list, as the API description declares them: a new one is tried here by itself.
import { getTableName } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { looksLikeId } from '../../shared/ids.ts'
import { RESOURCES } from '../modules/modules.ts'
import { type DeliveryRig, openDeliveryRig } from '../modules/webhooks/testing/delivery-rig.ts'
import { succeed } from '../testing/calls.ts'
import type { ApiHarness, TestTenant } from '../testing/harness.ts'
import { PROBE_MS, seedTenant, urlOf } from '../testing/probe-tenants.ts'
import { routeFixtureOf, type Seeded } from '../testing/route-fixtures.ts'
import type { Row } from '../testing/wire.ts'
import { makeByJobs } from './testing/made-by-jobs.ts'

let rig: DeliveryRig
let api: ApiHarness
let own: Map<TestTenant, Seeded>
/** The ids in the paths of lists of what a call or a job makes, by the beginning of the path. */
let made: Map<TestTenant, ReadonlyMap<string, string>>
beforeAll(async () => {
  rig = await openDeliveryRig()
  api = rig.api
  const { aLive, aTest, bLive, bTest } = api.tenants
  const tenants = [aLive, aTest, bLive, bTest]
  own = new Map()
  for (const tenant of tenants) own.set(tenant, await seedEverything(tenant))
  made = await makeByJobs(rig, tenants)
}, PROBE_MS)
afterAll(() => rig?.close())

/** One thing of every kind, and what belongs to one customer or is sold by one billing entity. */
async function seedEverything(tenant: TestTenant): Promise<Seeded> {
  const seeded = await seedTenant(api, tenant)
  const customer_id = seeded.get('CUSTOMER')?.['id']
  const billing_entity_id = seeded.get('BILLING_ENTITY')?.['id']
  for (const [path, given] of [
    ['products', { customer_id, billing_entity_id }],
    ['products', { parent_product_id: seeded.get('PRODUCT')?.['id'] }],
    ['files', { customer_id }],
    ['product-categories', { customer_id }],
    ['product-items', { customer_id }],
    ['pricing-plans', { customer_id, type: 'CUSTOM' }],
  ] as const) {
    const resource = RESOURCES.find(each => each.path === path)
    if (!resource) throw new Error(`no resource ${path}`)
    await succeed(tenant, 'POST', `/v1/${path}`, { ...(await resource.fixture.create(tenant.seed)), ...given })
  }
  const subscription = seeded.get('PRICING_PLAN_SUBSCRIPTION')
  const group = { reference: tenant.seed.unique('group'), owner_customer_id: subscription?.['customer_id'] }
  const member = { pricing_plan_subscription_ids: [subscription?.['id']] }
  await succeed(tenant, 'POST', '/v1/pricing-plan-subscription-groups', { ...group, ...member })
  return seeded
}

type Filter = { readonly url: string; readonly name: string }
type Described = { name: string; in: string; schema: { type?: string; enum?: unknown; anyOf?: Described['schema'][] } }

const NO_FILTERS = ['page', 'limit', 'starting_after', 'ending_before', 'order_by', 'order_direction', 'expand[]']
const isText = ({ type, enum: known, anyOf }: Described['schema']): boolean =>
  anyOf ? anyOf.some(isText) : type === 'string' && known === undefined

/** Every parameter of a list that takes a text. */
async function textFilters(): Promise<Filter[]> {
  const { paths } = await succeed(api.tenants.aLive, 'GET', '/v1/openapi.json')
  return Object.entries<Row>(paths).flatMap(([path, { get }]) =>
    get === undefined || !isList(get)
      ? []
      : (get.parameters ?? [])
          .filter((each: Described) => each.in === 'query' && !NO_FILTERS.includes(each.name) && isText(each.schema))
          .map(({ name }: Described) => ({ url: path.replace(/\{(\w+)\}/g, ':$1'), name })),
  )
}
const isList = (operation: Row): boolean =>
  (operation['parameters'] ?? []).some(({ name }: Described) => name === 'order_by' || name === 'limit')

/** The resource that a filter by an id names: the longest that its name ends with. */
const namedBy = (name: string) =>
  RESOURCES.filter(({ objectType }) => name.endsWith(`${objectType.toLowerCase()}_id`)).sort(
    (one, other) => other.objectType.length - one.objectType.length,
  )[0]

const addressOf = (tenant: TestTenant, { url }: Filter, query: Record<string, string> = {}): string => {
  const seeded = own.get(tenant)
  const fixture = routeFixtureOf('GET', url, RESOURCES)
  if (!seeded || !fixture) throw new Error(`GET ${url} has no fixture in its module.ts`)
  const [, id] = [...(made.get(tenant) ?? [])].find(([path]) => url.startsWith(`/v1/${path}/:id/`)) ?? []
  return urlOf({ url }, { ...fixture.params?.(seeded), ...(id === undefined ? {} : { id }) }, query)
}

const rowsOf = (body: Row): Row[] => (Array.isArray(body) ? body : (body['data'] ?? []))
/** Nothing, for a list of a thing that its fixture does not make. */
async function find(tenant: TestTenant, filter: Filter, query: Record<string, string> = {}): Promise<Row[]> {
  const { status, body } = await tenant.call('GET', addressOf(tenant, filter, query))
  if (status === 200) return rowsOf(body)
  if (status === 404 && filter.url.includes(':')) return []
  throw new Error(`GET ${addressOf(tenant, filter, query)}: ${status} ${JSON.stringify(body)}`)
}

/** What a search finds by the same name; null where searches do not filter by it. */
async function search(tenant: TestTenant, filter: Filter, value: string): Promise<Row[] | null> {
  const body = { filter_fields: [{ name: columnOf(filter), value }] }
  const { status, body: found } = await tenant.call('POST', `${filter.url}/search?limit=100`, body)
  return status === 200 ? rowsOf(found) : null
}

/** What lists of rows of other columns than the parameter's name show the id by. */
const columnOf = ({ url, name }: Filter): string => {
  const filter = RESOURCES.find(({ path }) => url === `/v1/${path}`)?.filters?.[name]
  return filter && filter.kind !== 'related' ? filter.column : name
}

/** Lists that read the events, and not the database: their own tests find them by references. */
const OF_EVENTS = ['/v1/events', '/v1/ingest/meter-data', '/v1/usage']

/** What the rows of a list name by this filter; for rows that show no such member, the one of the tenant. */
async function idOf(tenant: TestTenant, filter: Filter, objectType: string): Promise<unknown> {
  const rows = await find(tenant, filter)
  const [id] = rows.flatMap(row => row[columnOf(filter)] ?? [])
  return rows.length === 0 ? undefined : (id ?? own.get(tenant)?.get(objectType)?.['id'])
}

test(
  'a filter that names a resource finds the same by its id as by its reference, which other tenants have too',
  async () => {
    const wrong: string[] = []
    const tried: string[] = []
    const untried: string[] = []
    let searches = 0
    for (const filter of await textFilters()) {
      const { url, name } = filter
      const target = namedBy(name)
      if (!target?.byReference || OF_EVENTS.includes(url)) continue
      const reference = `shared-${tried.length}`
      const ids = new Map<TestTenant, string>()
      for (const tenant of own.keys()) {
        const id = await idOf(tenant, filter, target.objectType)
        if (typeof id !== 'string') continue
        ids.set(tenant, id)
        await api.sql(`update ${getTableName(target.table)} set reference = $2 where id = $1`, [id, reference])
      }
      ;(ids.size === own.size ? tried : untried).push(`${url} ${name}`)
      for (const [tenant, id] of ids) {
        const found = async (named: string) => (await find(tenant, filter, { [name]: named })).map(row => row['id'])
        const [byId, byReference] = [await found(id), await found(reference)]
        if (byId.length === 0 || JSON.stringify(byId) !== JSON.stringify(byReference))
          wrong.push(`${url} ${name}: ${byReference.length} by reference, ${byId.length} by id`)
        const searched = await search(tenant, filter, reference)
        if (searched && searched.length !== byId.length)
          wrong.push(`search of ${url} by ${name}: ${searched.length} of ${byId.length}`)
        searches += searched ? 1 : 0
      }
    }
    expect({ wrong, untried }).toEqual({ wrong: [], untried: [] })
    expect(tried.length).toBeGreaterThan(25)
    expect(searches).toBeGreaterThanOrEqual(own.size * 2) // a search of invoices filters by two of them
  },
  PROBE_MS,
)

/** The texts by which a filter could find what is theirs: ids and references, and what the rows of the list say under its name. */
function textsFor(filter: Filter, theirs: Seeded, rows: readonly Row[]): string[] {
  const { url, name } = filter
  const target = namedBy(name) ?? RESOURCES.find(({ path }) => url === `/v1/${path}`)
  const seeded = theirs.get(target?.objectType ?? '')
  const shown = rows.flatMap(row => [row[columnOf(filter)], row['reference'], row['id']].flat())
  return [...new Set([...shown, seeded?.['id'], seeded?.['reference']])].filter(text => typeof text === 'string')
}

test(
  'no filter finds or shows anything of another tenant, or of the other environment, by whatever text of theirs',
  async () => {
    const [[victim, seeded] = [], ...others] = own
    if (!victim || !seeded) throw new Error('there are tenants')
    const theirs = new Set([...seeded.values()].flatMap(({ id, reference }) => [id, reference]))
    const wrong: string[] = []
    let answered = 0
    for (const filter of await textFilters()) {
      const { url, name } = filter
      const rows = OF_EVENTS.includes(url) ? [] : await find(victim, filter)
      // The roles that are built in have ids of another form, which all tenants share.
      for (const { id } of rows) if (looksLikeId(String(id))) theirs.add(id)
      const texts = textsFor(filter, seeded, rows)
      for (const [tenant, text] of others.flatMap(([other]) => texts.map(each => [other, each] as const))) {
        const { status, body } = await tenant.call('GET', addressOf(tenant, filter, { [name]: text }))
        if (status === 400 || status === 404) continue
        answered += 1
        const found = status === 200 ? rowsOf(body) : []
        const leaks = found.some(({ id }) => theirs.has(id)) || (theirs.has(text) && found.length > 0)
        if (status !== 200 || leaks) wrong.push(`${url}?${name}=${text}: ${status}, ${found.length} found`)
      }
    }
    expect(wrong).toEqual([])
    expect(answered).toBeGreaterThan(200)
  },
  PROBE_MS,
)
