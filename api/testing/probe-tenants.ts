// The systematic cross-tenant probe (security 7.7): every route, called by everybody who should not, with one tenant's ids
// in every position an id can stand in. Returns what it found wrong; the tests say what that must be.
import { isDeepStrictEqual } from 'node:util'
import { looksLikeId } from '../../shared/ids.ts'
import { seedAccounts } from '../modules/accounts/users/testing/seed-accounts.ts'
import { seedRequest } from '../modules/approvals/testing/seed-request.ts'
import { seedInvoice } from '../modules/billing/testing/seed-invoice.ts'
import { RESOURCES } from '../modules/modules.ts'
import { type Answer, type ApiHarness, callerWith, type TestTenant } from './harness.ts'
import { routeFixtureOf, type Seeded } from './route-fixtures.ts'
import type { Row } from './wire.ts'

type Route = { method: string; url: string }
type Probe = {
  what: string
  method: string
  url: string
  body: unknown
  headers: Record<string, string>
  expect: readonly number[]
}

const REFUSED = [401, 403, 404]
/** A bound on going through every route, on a machine that does other things besides. */
export const PROBE_MS = 300_000

/** Somebody else who comes to every route, with a credential of their own. */
export type Stranger = {
  readonly name: string
  readonly call: TestTenant['call']
  /** The tenant they reach; their calls carry its ids beside the victim's. */
  readonly tenant?: TestTenant
  /** Without a tenant: what every single call of theirs must answer. */
  readonly expect?: readonly number[]
}

export type TenantProbe = {
  /**
   * Every violation found, as one line each: a leak, a success, or a change of the victim's rows, which are those of A LIVE.
   * Every route is called with the keys of the other three tenants, without a key, and by these strangers.
   */
  find(strangers?: readonly Stranger[]): Promise<string[]>
  /** The answers of every route about the victim's resources, by caller. */
  visit(
    call: TestTenant['call'],
  ): Promise<{ readonly what: string; readonly permission: string; readonly answer: Answer }[]>
}

/** Makes things of every kind in each tenant, once: what the probe calls the routes with. */
export async function openProbe(api: ApiHarness): Promise<TenantProbe> {
  const { routes } = api
  const { aLive, aTest, bLive, bTest } = api.tenants
  const victim = await seedTenant(api, aLive)
  const intruders: { name: string; tenant: TestTenant; own: Seeded }[] = []
  for (const [name, tenant] of [
    ['A TEST', aTest],
    ['B LIVE', bLive],
    ['B TEST', bTest],
  ] as const)
    intruders.push({ name, tenant, own: await seedTenant(api, tenant) })
  return {
    find: async (strangers = []) => {
      const before = await checksum(api, aLive)
      const canaries = canariesOf(victim)
      const probesOfAll = (own: Seeded): RouteProbes[] =>
        routes.map(route => ({ route, probes: probesOf(route, victim, own) }))
      const visits: Visit[] = []
      for (const { name, tenant, own } of intruders) {
        const probes = probesOfAll(own)
        const callers = [{ name, call: tenant.call }, ...strangers.filter(stranger => stranger.tenant === tenant)]
        for (const caller of callers) visits.push({ probes, canaries, ...caller })
      }
      const probes = probesOfAll(victim)
      const withoutKey: Stranger = { name: 'no key', call: callerWith(api.app, {}) }
      const outsiders = [withoutKey, ...strangers.filter(({ tenant }) => tenant === undefined)]
      for (const { name, call, expect = [401] } of outsiders) visits.push({ probes, canaries, name, call, expect })
      // All at once: each of them waits most of the time for the answers of the database.
      const violations = (await Promise.all(visits.map(visit))).flat()
      if ((await checksum(api, aLive)) !== before) violations.push('rows of the victim changed')
      return violations
    },
    visit: call => visitWith(routes, victim, call),
  }
}

/** The answers of every route about a tenant's resources, by caller. */
export async function visitRoutes(api: ApiHarness, tenant: TestTenant): ReturnType<TenantProbe['visit']> {
  return await visitWith(api.routes, await seedTenant(api, tenant), tenant.call)
}

async function visitWith(
  routes: ApiHarness['routes'],
  own: Seeded,
  call: TestTenant['call'],
): ReturnType<TenantProbe['visit']> {
  const answers = []
  for (const route of routes) {
    const fixture = routeFixtureOf(route.method, route.url, RESOURCES)
    const url = urlOf(route, fixture?.params?.(own) ?? {}, fixture?.query?.(own))
    const answer = await call(route.method, url, fixture?.body?.(own), fixture?.headers ?? {})
    answers.push({ what: `${route.method} ${route.url}`, permission: route.permission, answer })
  }
  return answers
}

/** One call of each route on things of `tenant`'s own, which are made here. */
export async function callsOf(
  api: ApiHarness,
  routes: readonly Route[],
  tenant: TestTenant,
): Promise<{ what: string; method: string; url: string; body: unknown; headers: Record<string, string> }[]> {
  const own = await seedTenant(api, tenant)
  return routes.map(route => {
    const fixture = routeFixtureOf(route.method, route.url, RESOURCES)
    const url = urlOf(route, fixture?.params?.(own) ?? {}, fixture?.query?.(own))
    const { method } = route
    return { what: `${method} ${route.url}`, method, url, body: fixture?.body?.(own), headers: fixture?.headers ?? {} }
  })
}

/** A route and the calls that are tried on it. */
type RouteProbes = { readonly route: Route; readonly probes: readonly Probe[] }

type Visit = {
  readonly probes: readonly RouteProbes[]
  readonly canaries: readonly string[]
  readonly name: string
  readonly call: TestTenant['call']
  /** In place of what each probe expects. */
  readonly expect?: readonly number[]
}

async function visit({ probes: ofRoutes, canaries, name, call, expect }: Visit): Promise<string[]> {
  const tryRoute = async ({ route, probes }: RouteProbes): Promise<string[]> => {
    const violations: string[] = []
    for (const probe of probes) {
      const answer = await answered(() => call(probe.method, probe.url, probe.body, probe.headers))
      const what = `${name} ${route.method} ${route.url} ${probe.what}`
      violations.push(...judge(what, answer, expect ?? probe.expect, canaries))
    }
    return violations
  }
  const violations: string[] = []
  const left = [...ofRoutes]
  const tryNext = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) violations.push(...(await tryRoute(next)))
  }
  // A caller who is refused everywhere tries many routes at once: an unknown key is looked up only every tenth of a second. It does not
  // try all at once: thousands of calls keep this process so busy that other calls wait too long for a connection, and are answered 503.
  await Promise.all(Array.from({ length: expect ? AT_ONCE : 1 }, tryNext))
  return violations
}
const AT_ONCE = 32

const TRIES = 20
const PAUSE_MS = 500

/**
 * The answer of the call. One that is put off on a busy machine (503), or broken off there, says nothing about who may do what, so it
 * is made again.
 */
async function answered(call: () => Promise<Answer>): Promise<Answer> {
  for (let left = TRIES; ; left -= 1) {
    const answer = await call().catch((error: unknown) => {
      if (left === 1 || !String(error).includes('response destroyed')) throw error
      return null
    })
    if (answer !== null && (answer.status !== 503 || left === 1)) return answer
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
  }
}

/** Makes one thing of every kind in a tenant. */
export async function seedTenant(api: ApiHarness, tenant: TestTenant): Promise<Seeded> {
  const { routes } = api
  const seeded = new Map<string, Row>()
  for (const resource of RESOURCES) {
    // Asked of the routes and not of the resource, since a module may declare its own creation.
    if (!routes.some(({ method, url }) => method === 'POST' && url === `/v1/${resource.path}`)) {
      const found = await tenant.call('GET', `/v1/${resource.path}/${tenant.tenant.platformId}`)
      if (found.status === 200) seeded.set(resource.objectType, found.body)
      continue
    }
    seeded.set(`${resource.objectType} body`, await resource.fixture.create(tenant.seed))
    seeded.set(resource.objectType, await tenant.seed.make(resource))
  }
  seeded.set('INVOICE', await seedInvoice(api, tenant))
  seeded.set('APPROVAL_REQUEST', await seedRequest(tenant))
  for (const [objectType, view] of await seedAccounts(tenant, seeded.get('ROLE')?.['id'])) seeded.set(objectType, view)
  return seeded
}

function probesOf(route: Route, victim: Seeded, own: Seeded): Probe[] {
  const fixture = routeFixtureOf(route.method, route.url, RESOURCES)
  if (!fixture) throw new Error(`${route.method} ${route.url} has no fixture in its module.ts`)
  const probes: Probe[] = []
  const add = (what: string, params: Record<string, string>, body: unknown, expect: readonly number[]) =>
    probes.push({ what, method: route.method, url: urlOf(route, params), body, headers: fixture.headers ?? {}, expect })
  const ownBody = fixture.body?.(own)
  if (fixture.params) {
    const params = fixture.params(victim)
    // A platform has one id in TEST and LIVE: between those it names the intruder's own settings, and must show only them.
    const ownToo = isDeepStrictEqual(params, fixture.params(own))
    add('with a foreign id', params, ownBody, ownToo ? [200] : REFUSED)
    const reference = referenceFor(route, victim)
    if (reference) add('with a foreign reference', { id: reference }, ownBody, REFUSED)
  } else if (fixture.query) {
    const asked = (of: Seeded): string => urlOf(route, {}, fixture.query?.(of))
    const call = { method: route.method, body: undefined, headers: {} }
    probes.push({ ...call, what: 'with its own ids', url: asked(own), expect: [200] })
    probes.push({ ...call, what: 'with foreign ids', url: asked(victim), expect: REFUSED })
  } else if (ownBody === undefined || route.url.endsWith('/search')) {
    add('as a list', {}, ownBody, [200])
  }
  for (const { what, body } of bodiesWithForeignIds(ownBody, victim)) {
    add(what, fixture.params?.(own) ?? {}, body, [400, ...REFUSED])
  }
  return probes
}

/** The address with these parameters in its path and its query. */
export function urlOf(
  { url }: Pick<Route, 'url'>,
  params: Record<string, string>,
  query: Record<string, string> = {},
): string {
  const path = url.replace(/:([a-z_]+)/gi, (_match, name: string) => encodeURIComponent(params[name] ?? 'missing'))
  const search = new URLSearchParams(query).toString()
  return search === '' ? path : `${path}?${search}`
}

function referenceFor(route: Route, victim: Seeded): string | null {
  const resource = RESOURCES.find(({ path, byReference }) => byReference && route.url.startsWith(`/v1/${path}/`))
  return (resource && victim.get(resource.objectType)?.['reference']) ?? null
}

/** Copies of `body`, each with one of the intruder's own ids exchanged for the victim's of the same kind. */
function bodiesWithForeignIds(body: unknown, victim: Seeded): { what: string; body: unknown }[] {
  const text = JSON.stringify(body) ?? ''
  const ids = [...new Set([...text.matchAll(/"([a-z]{4}_[0-9A-Za-z]{22})"/g)].map(match => match[1] ?? ''))]
  return ids.filter(looksLikeId).flatMap(id => {
    const prefix = id.slice(0, 5)
    const foreign = [...victim.values()].map(view => view['id']).find(other => String(other).startsWith(prefix))
    if (foreign === undefined || foreign === id) return []
    return [{ what: `with a foreign ${prefix} in the body`, body: JSON.parse(text.replaceAll(id, foreign)) }]
  })
}

function judge(what: string, answer: Answer, expected: readonly number[], canaries: readonly string[]): string[] {
  const faults = expected.includes(answer.status) ? [] : [`${what}: answered ${answer.status}`]
  // The intruder's own words, sent in the path, come back in the message of a 404; in data they may not.
  if (answer.status >= 400) return faults
  const shown = JSON.stringify([answer.body, answer.headers])
  const leaks = canaries.filter(canary => shown.includes(`"${canary}"`))
  return [...faults, ...leaks.map(leak => `${what}: shows ${leak}`)]
}

/** The references and names of seeded objects are unique strings: any of them in an answer is a leak. */
function canariesOf(victim: Seeded): string[] {
  const texts = [...victim.values()].flatMap((view): unknown[] => [
    view['reference'],
    view['name'],
    view['organization']?.legal_name,
    view['customer_reference'],
    view['username'],
  ])
  return texts.filter(text => typeof text === 'string').filter(text => /-\d+-\d+(@|$)/.test(text))
}

/** One hash over every row the tenant has in every table. */
async function checksum(api: ApiHarness, { tenant }: TestTenant): Promise<string> {
  const tables = await api.sql(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'platform_id'
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`,
  )
  const sums: string[] = []
  for (const { name } of tables as { name: string }[]) {
    const rows = await api.sql(
      `select md5(coalesce(string_agg(t::text, '' order by t::text), '')) as sum from "${name}" t where platform_id = $1 and environment = $2`,
      [tenant.platformId, tenant.environment],
    )
    sums.push(`${name}=${rows[0]?.['sum']}`)
  }
  return sums.join('\n')
}
