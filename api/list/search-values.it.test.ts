// A search says what is wrong with the values that it is given; none is left out in silence.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal, succeed } from '../testing/calls.ts'
import { type ApiHarness, startApi } from '../testing/harness.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api?.close())

const [MARCH, APRIL] = ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z']

test.each([
  ['no value', { name: 'status' }, 'MISSING_FIELD', 'value'],
  ['a list without values', { name: 'status', values: [] }, 'INVALID_FIELD', 'values'],
  ['a value in both ways', { name: 'status', value: 'ACTIVE', values: ['DRAFT'] }, 'INVALID_FIELD', 'values'],
  ['two ranges', { name: 'created_at', values: [`[${MARCH},]`, `[,${APRIL}]`] }, 'INVALID_FIELD', 'values.1'],
  ['what is no range', { name: 'created_at', value: 'March' }, 'INVALID_FIELD', 'value'],
  ['a range that ends before', { name: 'created_at', values: [`[${APRIL},${MARCH}]`] }, 'INVALID_FIELD', 'values.0'],
])('a filter with %s is refused by the name of what is wrong', async (_what, filter, code, field) => {
  const body = { filter_fields: [filter] }
  const refused = await refusal(api.tenants.aLive, 'POST', '/v1/customers/search', body)
  expect(refused).toEqual([400, code, `filter_fields.0.${field}`])
})

test('one value can be given in either way', async () => {
  const tenant = api.tenants.aLive
  const { id } = await succeed(tenant, 'POST', '/v1/customers', { reference: 'one-value', type: 'INDIVIDUAL' })
  for (const given of [{ value: 'one-value' }, { values: ['one-value'] }]) {
    const body = { filter_fields: [{ name: 'reference', ...given }] }
    const { data } = await succeed(tenant, 'POST', '/v1/customers/search', body)
    expect(data.map((row: { id: string }) => row.id)).toEqual([id])
  }
})
