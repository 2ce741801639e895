// What a PUT leaves out: it stays, as in a PATCH, and the API description says so.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RESOURCES } from '../../modules/modules.ts'
import { succeed } from '../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const WITH_PUT = RESOURCES.filter(({ byReference, path }) => byReference && hasPut(path))
function hasPut(path: string): boolean {
  const resource = RESOURCES.find(each => each.path === path)
  return resource?.operations.includes('upsert') || path === 'pricing-plan-subscriptions'
}

test('these resources have a PUT by reference', () => {
  const routes = api.routes.filter(({ method, url }) => method === 'PUT' && !url.includes(':'))
  const paths = [...WITH_PUT.map(({ path }) => path), 'pricing-plan-versions'].map(path => `/v1/${path}`)
  expect(routes.map(({ url }) => url).toSorted()).toEqual(paths.toSorted())
})

test.each(WITH_PUT.map(each => [each.path, each] as const))(
  'a PUT of %s with what a create needs alone leaves all else as it is',
  async (path, resource) => {
    const body: Row = { reference: tenant.seed.unique('put'), ...(await resource.fixture.create(tenant.seed)) }
    const created = await succeed(tenant, 'PUT', `/v1/${path}`, body)
    const whole = await succeed(tenant, 'PATCH', `/v1/${path}/${created['id']}`, resource.fixture.update)
    expect(whole).not.toEqual(created)
    const { required } = resource.createBody as { readonly required?: readonly string[] }
    const needed = new Set(['reference', ...(required ?? [])])
    const least = Object.fromEntries(Object.entries(body).filter(([name]) => needed.has(name)))
    const answer = await tenant.call('PUT', `/v1/${path}`, { ...least, ...ofFixture(resource.fixture.update, needed) })
    expect([answer.status, answer.body]).toEqual([200, whole])
  },
)
/** What the PATCH changed of the fields that a PUT must repeat. */
const ofFixture = (update: Row | null, needed: ReadonlySet<string>): Row =>
  Object.fromEntries(Object.entries(update ?? {}).filter(([name]) => needed.has(name)))

test('members of objects stay too, and null clears', async () => {
  const reference = tenant.seed.unique('put')
  const organization = { legal_name: 'Acme', registered_address: { country: 'NL', city: 'Utrecht' } }
  const put = async (body: object) =>
    await succeed(tenant, 'PUT', '/v1/customers', { reference, type: 'ORGANIZATION', ...body })
  const { id } = await put({ organization, email: 'ada@example.com' })
  expect(await put({ organization: { legal_name: 'Acme BV' } })).toMatchObject({
    id,
    email: 'ada@example.com',
    organization: { legal_name: 'Acme BV', registered_address: { country: 'NL', city: 'Utrecht' } },
  })
  expect(await put({ email: null })).toMatchObject({ id, email: null })
})

test('the description of every PUT by reference says that what is left out stays', async () => {
  const { paths } = await succeed(tenant, 'GET', '/v1/openapi.json')
  for (const { path } of WITH_PUT) {
    const text: string = paths[`/v1/${path}`].put.description
    expect(text, path).toContain('what you leave out stays')
    expect(text, path).not.toContain('the whole')
  }
})
