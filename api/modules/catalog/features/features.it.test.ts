// The rules of features (semantics 2), through the api.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogOf, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticeTypesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../subscriptions/testing/seed-subscription.ts'
import { meterPropertyResource } from '../meters/meter-property.ts'
import { meterValueCalculationResource } from '../meters/meter-value-calculation.ts'

const PATH = '/v1/features'
let api: ApiHarness
let a: TestTenant
/** Ids of calculations by what they yield. */
let calculations: Readonly<Record<'number' | 'distinct' | 'money', string>>
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  const property = await a.seed.make(meterPropertyResource)
  const meter = await succeed(a, 'POST', '/v1/meters', {
    reference: a.seed.unique('calls'),
    meter_properties: [{ id: property['id'] }],
  })
  const distinct = await succeed(a, 'POST', '/v1/meter-value-calculations', {
    reference: a.seed.unique('models'),
    calculation_type: 'UNIQUE',
    meter_id: meter['id'],
    meter_property_id: property['id'],
  })
  calculations = {
    number: (await a.seed.make(meterValueCalculationResource))['id'],
    distinct: distinct['id'],
    money: (await catalogOf(a).moneyItem())['usage_based'].meter_value_calculation_id,
  }
})
afterAll(() => api?.close())

const post = (body: object) => a.call('POST', PATH, { reference: a.seed.unique('f'), ...body })
const measured = (id: string) => ({ meter_value_calculation_id: id })

test('are created, found by id and reference, listed, changed, put and deleted, each with its notice', async () => {
  const body = { reference: a.seed.unique('seats'), name: 'Seats', type: 'NUMBER', ...measured(calculations.number) }
  const created = await a.call('POST', PATH, body)
  expect([created.status, created.body]).toMatchObject([
    201,
    { object_type: 'FEATURE', ...body, description: null, enum_values: null },
  ])
  const { id } = created.body
  expect(id).toMatch(/^feat_/)
  const shown = await succeed(a, 'GET', `${PATH}/${body.reference}?expand[]=meter_value_calculation`)
  expect(shown).toMatchObject({ id, meter_value_calculation: { object_type: 'METER_VALUE_CALCULATION' } })
  const listed = (await succeed(a, 'GET', `${PATH}?limit=100&order_by=reference`))['data']
  expect(listed.map((each: Row) => each['id'])).toContain(id)
  const described = await succeed(a, 'PATCH', `${PATH}/${id}`, { description: 'People who sign in.', name: null })
  expect(described).toMatchObject({ description: 'People who sign in.', name: null })
  const put = await a.call('PUT', PATH, { ...body, name: 'Places' })
  expect([put.status, put.body]).toMatchObject([200, { id, name: 'Places', description: 'People who sign in.' }])
  const other = await a.call('PUT', PATH, { ...body, reference: a.seed.unique('rooms') })
  expect([other.status, other.body['id'] === id]).toEqual([201, false])
  expect(refusal(await a.call('POST', PATH, body))).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'reference'])
  await succeed(a, 'DELETE', `${PATH}/${id}`)
  expect((await a.call('GET', `${PATH}/${id}`)).status).toBe(404)
  expect(await noticeTypesOf(api, id)).toEqual(
    ['CREATED', 'UPDATED', 'UPDATED', 'DELETED'].map(action => `FEATURE.${action}`),
  )
})

test.each([
  ['no type', { type: undefined }, 'MISSING_FIELD', 'type'],
  ['no reference', { reference: undefined, type: 'SWITCH' }, 'MISSING_FIELD', 'reference'],
  ['white space in the reference', { reference: 'a b', type: 'SWITCH' }, 'INVALID_FIELD', 'reference'],
  ['a type that is none', { type: 'BOOLEAN' }, 'INVALID_FIELD', 'type'],
  ['an ENUM without values', { type: 'ENUM' }, 'INVALID_FIELD', 'enum_values'],
  ['an ENUM of no values', { type: 'ENUM', enum_values: [] }, 'INVALID_FIELD', 'enum_values'],
  ['values of what is no ENUM', { type: 'STRING', enum_values: ['a'] }, 'INVALID_FIELD', 'enum_values'],
])('refuses %s', async (_case, body, code, field) => {
  expect(refusal(await post(body))).toEqual([400, code, field])
})

test('measure numbers by numbers and money by money, and nothing else at all', async () => {
  const field = 'meter_value_calculation_id'
  const outcome = async (type: string, calculation: string) => {
    const answer = await post({ type, ...(type === 'ENUM' ? { enum_values: ['a'] } : {}), ...measured(calculation) })
    return answer.status === 201 ? 'taken' : refusal(answer)
  }
  const refused = [400, 'INVALID_FIELD', field]
  const { number, distinct, money } = calculations
  expect([await outcome('NUMBER', number), await outcome('NUMBER', distinct), await outcome('AMOUNT', money)]).toEqual(
    Array(3).fill('taken'),
  )
  expect([await outcome('NUMBER', money), await outcome('AMOUNT', number)]).toEqual([refused, refused])
  for (const type of ['SWITCH', 'ENUM', 'STRING']) expect(await outcome(type, number)).toEqual(refused)
  expect(await outcome('NUMBER', 'bmet_nothing')).toEqual([404, 'RESOURCE_NOT_FOUND', field])
})

test('keep their type and reference, and the calculation they measure by', async () => {
  const feature = (await post({ type: 'NUMBER' })).body
  const url = `${PATH}/${feature['id']}`
  expect(refusal(await a.call('PATCH', url, { type: 'STRING' }))).toEqual([400, 'INVALID_FIELD', 'type'])
  expect(refusal(await a.call('PATCH', url, { reference: 'x' }))).toEqual([400, 'INVALID_FIELD', 'reference'])
  const put = { reference: feature['reference'], type: 'AMOUNT' }
  expect(refusal(await a.call('PUT', PATH, put))).toEqual([400, 'INVALID_FIELD', 'type'])
  const calculation = await a.seed.make(meterValueCalculationResource)
  expect((await succeed(a, 'PATCH', url, measured(calculation['id'])))['meter_value_calculation_id']).toBe(
    calculation['id'],
  )
  const remove = () => a.call('DELETE', `/v1/meter-value-calculations/${calculation['id']}`)
  expect((await remove()).body['code']).toBe('COULD_NOT_DELETE_RESOURCE')
  await succeed(a, 'PATCH', url, { meter_value_calculation_id: null })
  expect((await remove()).status).toBe(200)
})
