// PUTs of one reference at once: what is sent is there afterwards, whichever came first.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal } from '../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const ADDRESS = { country: 'NL', city: 'Utrecht' }

test.each<[string, object]>([
  ['customers', { type: 'ORGANIZATION', organization: { legal_name: 'Acme' } }],
  ['products', { name: 'Inference' }],
  ['pricing-plans', { name: 'Standard' }],
  ['product-categories', { name: 'Models' }],
  ['features', { type: 'SWITCH' }],
  ['billing-entities', { legal_name: 'Acme', registered_address: ADDRESS }],
])('of two PUT %s at once with one reference, one creates it and the other updates it', async (path, body) => {
  for (let round = 0; round < 3; round += 1) {
    const reference = tenant.seed.unique('put')
    const answers = await Promise.all([1, 2].map(() => tenant.call('PUT', `/v1/${path}`, { ...body, reference })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 201])
    expect(answers[0]?.body['id']).toBe(answers[1]?.body['id'])
  }
})

test('PUT and POST of one reference at once: a POST is refused where the PUT was first, and a PUT never', async () => {
  for (let round = 0; round < 3; round += 1) {
    const body = { name: 'Inference', reference: tenant.seed.unique('both') }
    const [put, post] = await Promise.all([
      tenant.call('PUT', '/v1/products', body),
      tenant.call('POST', '/v1/products', body),
    ])
    expect([
      [201, 409],
      [200, 201],
    ]).toContainEqual([put.status, post.status])
  }
  const taken = { name: 'Inference', reference: tenant.seed.unique('taken') }
  await tenant.call('POST', '/v1/products', taken)
  expect(await refusal(tenant, 'POST', '/v1/products', taken)).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'reference'])
})
