// What errors.md promises of RESOURCE_ALREADY_EXISTS, for every resource that a call makes: the refusal says which one is there.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RESOURCES } from '../modules/modules.ts'
import { contactResource } from '../modules/parties/contacts/contact.ts'
import { succeed } from '../testing/calls.ts'
import { type Answer, type ApiHarness, startApi, type TestTenant } from '../testing/harness.ts'
import { PROBE_MS } from '../testing/probe-tenants.ts'
import type { Row } from '../testing/wire.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const hasRoute = (method: string, url: string) => api.routes.some(route => route.method === method && route.url === url)
const made = () => RESOURCES.filter(({ path }) => hasRoute('POST', `/v1/${path}`))

const about = ({ status, body }: Answer) => [status, body['code'], body['resource_id'], body['resource_type']]
const isThere = ({ body }: Answer): boolean => body['code'] === 'RESOURCE_ALREADY_EXISTS'

test(
  'whatever is refused because there is one already names that one',
  async () => {
    const refused: string[] = []
    for (const resource of made()) {
      const { path, objectType, fixture } = resource
      const body: Row = await fixture.create(tenant.seed)
      const first = await succeed(tenant, 'POST', `/v1/${path}`, body)
      const second = await tenant.call('POST', `/v1/${path}`, body)
      if (!isThere(second)) continue
      refused.push(path)
      expect(about(second), path).toEqual([409, 'RESOURCE_ALREADY_EXISTS', first['id'], objectType])
    }
    // Of the others a tenant may have several alike, or something else is refused first.
    expect(refused.length).toBeGreaterThan(25)
  },
  PROBE_MS,
)

test(
  'a change to what another one has names that one',
  async () => {
    const refused: string[] = []
    for (const resource of made()) {
      const { path, objectType, fixture, fields, statuses } = resource
      if (!hasRoute('PATCH', `/v1/${path}/:id`)) continue
      const field = ['reference', 'name'].find(name => fields[name] && fields[name].change !== 'never')
      if (!field) continue
      const make = async () => {
        const body = { ...(await fixture.create(tenant.seed)), ...(statuses ? { status: 'DRAFT' } : {}) }
        return await succeed(tenant, 'POST', `/v1/${path}`, body)
      }
      const [one, other] = [await make(), await make()]
      const answer = await tenant.call('PATCH', `/v1/${path}/${other['id']}`, { [field]: one[field] })
      if (!isThere(answer)) continue
      refused.push(path)
      expect(about(answer), path).toEqual([409, 'RESOURCE_ALREADY_EXISTS', one['id'], objectType])
    }
    expect(refused.length).toBeGreaterThan(15)
  },
  PROBE_MS,
)

test('of two changes to one reference at once, the second names the first', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [one, other] = [await tenant.seed.make(contactResource), await tenant.seed.make(contactResource)]
    const reference = tenant.seed.unique('at-once')
    const answers = await Promise.all(
      [one, other].map(({ id }) => tenant.call('PATCH', `/v1/contacts/${id}`, { reference })),
    )
    const [done, refused] = answers.toSorted((a, b) => a.status - b.status)
    expect(done?.status).toBe(200)
    expect(refused && about(refused)).toEqual([409, 'RESOURCE_ALREADY_EXISTS', done?.body['id'], 'CONTACT'])
  }
})
