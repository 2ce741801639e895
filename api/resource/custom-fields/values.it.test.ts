// The values of custom fields that resources have, through the api: in bodies and answers, held by the database, tenants apart.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RESOURCES } from '../../modules/modules.ts'
import { refusal } from '../../testing/catalog.ts'
import { type Answer, type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import { noticesOf } from '../../testing/notices.ts'
import type { Row } from '../../testing/wire.ts'
import { VALUES_MAX } from './schema.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

async function field(over: object = {}, tenant = a): Promise<Row> {
  const reference = tenant.seed.unique('field')
  const { status, body } = await tenant.call('POST', '/v1/custom-fields', {
    reference,
    resource_type: 'CUSTOMER',
    ...over,
  })
  expect([status, body]).toEqual([201, body])
  return body
}
const create = (custom_fields: unknown, tenant = a) =>
  tenant.call('POST', '/v1/customers', { type: 'INDIVIDUAL', custom_fields })
async function made(...custom_fields: object[]): Promise<Row> {
  const answer = await create(custom_fields)
  expect([answer.status, answer.body]).toEqual([201, answer.body])
  return answer.body
}
const patch = (customer: Row, body: object, query = '') =>
  a.call('PATCH', `/v1/customers/${customer['id']}${query}`, body)
const fieldsOf = async (customer: Row): Promise<Row[]> =>
  (await a.call('GET', `/v1/customers/${customer['id']}`)).body['custom_fields']
const one = ({ reference }: Row, value: string | null) => ({ reference, value })
const several = ({ reference }: Row, ...values: string[]) => ({ reference, values })

describe('every resource with custom fields', () => {
  const resources = RESOURCES.filter(({ customFields }) => customFields)

  test.each(resources.map(resource => [resource.path, resource] as const))(
    '%s has them in POST, PATCH, lists and events',
    async (path, resource) => {
      const text = await field({ resource_type: resource.objectType })
      const list = await field({ resource_type: resource.objectType, multiple_values: true, type: 'NUMBER' })
      const body = await resource.fixture.create(a.seed)
      const created = await a.call('POST', `/v1/${path}`, { ...body, custom_fields: [one(text, 'x')] })
      expect([created.status, created.body]).toEqual([201, created.body])
      const shown = [{ id: text['id'], reference: text['reference'], value: 'x' }]
      expect(created.body['custom_fields']).toEqual(shown)
      const { id } = created.body
      const changed = await a.call('PATCH', `/v1/${path}/${id}`, {
        custom_fields: [one(text, 'y'), several(list, '1.0', '2')],
      })
      const after = [
        { id: text['id'], reference: text['reference'], value: 'y' },
        { id: list['id'], reference: list['reference'], values: ['1', '2'] },
      ].toSorted((one, other) => (one.reference < other.reference ? -1 : 1))
      expect(changed.body['custom_fields']).toEqual(after)
      const found = await a.call('GET', `/v1/${path}?custom_field=${text['reference']}:y`)
      expect(found.body['data'].map((each: Row) => [each['id'], each['custom_fields']])).toEqual([[id, after]])
      const events = await noticesOf(api, id)
      expect(events.map(event => event['type'])).toEqual([
        `${resource.objectType}.CREATED`,
        `${resource.objectType}.UPDATED`,
      ])
      expect(events.map(event => event['data'].custom_fields)).toEqual([shown, after])
      expect(events[1]?.['previous_data'].custom_fields).toEqual(shown)
    },
  )

  test('shows an empty list while it has none', async () => {
    expect((await made())['custom_fields']).toEqual([])
  })
})

describe('values', () => {
  test('are named by id or reference, and answered as they may be sent back', async () => {
    const [text, list] = [await field(), await field({ multiple_values: true })]
    const customer = await made({ id: text['id'], value: 'x' }, { ...several(list, 'a', 'b'), id: list['id'] })
    const before = await api.sql('select count(*) from outbox where object_id = $1', [customer['id']])
    const repeated = await patch(customer, { custom_fields: customer['custom_fields'] })
    expect(repeated.body['custom_fields']).toEqual(customer['custom_fields'])
    // What changes nothing tells nothing.
    expect(await api.sql('select count(*) from outbox where object_id = $1', [customer['id']])).toEqual(before)
  })

  test('that are not sent stay, a list that is sent replaces, null and the empty list clear', async () => {
    const [text, other] = [await field(), await field()]
    const customer = await made(one(text, 'x'), one(other, 'y'))
    expect((await patch(customer, { locale: 'nl' })).body['custom_fields']).toHaveLength(2)
    expect((await patch(customer, { custom_fields: [one(other, 'z')] })).body['custom_fields']).toEqual([
      { id: other['id'], reference: other['reference'], value: 'z' },
    ])
    for (const none of [null, [], [one(other, null)], [several(other)]]) {
      await patch(customer, { custom_fields: [one(other, 'z')] })
      expect((await patch(customer, { custom_fields: none })).body['custom_fields']).toEqual([])
    }
  })

  test('keep the order in which they were sent', async () => {
    const list = await field({ multiple_values: true })
    const customer = await made(several(list, 'b', 'a', 'c'))
    expect((await fieldsOf(customer))[0]?.['values']).toEqual(['b', 'a', 'c'])
    expect((await patch(customer, { custom_fields: [several(list, 'c', 'b')] })).status).toBe(200)
    expect((await fieldsOf(customer))[0]?.['values']).toEqual(['c', 'b'])
  })

  test('have a form and a place in every refusal', async () => {
    const text = await field()
    const number = await field({ type: 'NUMBER', multiple_values: true })
    const flag = await field({ type: 'BOOLEAN' })
    const choice = await field({ type: 'ENUM', enum_values: ['a', 'b'] })
    const foreign = await field({ resource_type: 'PRODUCT' })
    const refused = async (...custom_fields: object[]) => refusal(await create(custom_fields))
    expect(await refused(one(text, ''))).toEqual([400, 'INVALID_FIELD', 'custom_fields.0.value'])
    expect(await refused(one(text, 'x'), several(number, '1', 'two'))).toEqual([
      400,
      'INVALID_FIELD',
      'custom_fields.1.values.1',
    ])
    expect(await refused(several(number, '1', '1.0'))).toEqual([400, 'INVALID_FIELD', 'custom_fields.0.values.1'])
    expect(await refused(one(flag, 'yes'))).toEqual([400, 'INVALID_FIELD', 'custom_fields.0.value'])
    expect(await refused(one(choice, 'c'))).toEqual([400, 'INVALID_FIELD', 'custom_fields.0.value'])
    expect(await refused(several(text, 'a', 'b'))).toEqual([400, 'INVALID_FIELD', 'custom_fields.0.values'])
    expect(await refused({ ...one(text, 'a'), values: ['a'] })).toEqual([
      400,
      'INVALID_FIELD',
      'custom_fields.0.values',
    ])
    expect(await refused(one(text, 'a'), one(text, 'b'))).toEqual([400, 'INVALID_FIELD', 'custom_fields.1'])
    expect(await refused({ value: 'x' })).toEqual([400, 'MISSING_FIELD', 'custom_fields.0.reference'])
    expect(await refused(one(foreign, 'x'))).toEqual([404, 'RESOURCE_NOT_FOUND', 'custom_fields.0.reference'])
    expect(await refused({ id: foreign['id'], value: 'x' })).toEqual([404, 'RESOURCE_NOT_FOUND', 'custom_fields.0.id'])
    expect(await refused({ ...one(text, 'x'), id: flag['id'] })).toEqual([
      400,
      'INVALID_FIELD',
      'custom_fields.0.reference',
    ])
    expect(await refused({ ...one(text, 'x'), integration_id: 'i' })).toEqual([
      400,
      'INVALID_FIELD',
      'custom_fields.0.integration_id',
    ])
    expect(await refused(one(text, 'x'.repeat(501)))).toEqual([400, 'INVALID_FIELD', 'custom_fields.0.value'])
    expect((await create([one(text, '🧾'.repeat(250))])).status).toBe(201)
  })

  test('are gone with their resource', async () => {
    const [text, unique] = [await field(), await field({ unique_value: true })]
    const customer = await made(one(text, 'x'), one(unique, 'mine'))
    await a.call('DELETE', `/v1/customers/${customer['id']}`)
    expect(await api.sql('select * from custom_field_values where resource_id = $1', [customer['id']])).toEqual([])
    await made(one(unique, 'mine'))
  })

  test('change beside a change of another field of the same resource, and none is lost', async () => {
    const fields = await Promise.all(Array.from({ length: 6 }, () => field()))
    const customer = await made()
    await Promise.all(
      fields.map(each => patch(customer, { custom_fields: [one(each, 'x')] }, '?field_actions[custom_fields]=ADD')),
    )
    expect(await fieldsOf(customer)).toHaveLength(6)
  })
})

describe('a value that is there once', () => {
  test('belongs to one of two that want it at the same time', async () => {
    const unique = await field({ unique_value: true })
    const answers = await Promise.all(Array.from({ length: 8 }, () => create([one(unique, 'first')])))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)])
    const refused = answers.filter(({ status }) => status === 409)
    const owner = answers.find(({ status }) => status === 201)?.body['id']
    for (const answer of refused) {
      expect(refusal(answer)).toEqual([409, 'CUSTOM_FIELD_VALUE_ALREADY_EXISTS', 'custom_fields.0.value'])
      expect([answer.body['resource_type'], answer.body['resource_id']]).toEqual(['CUSTOMER', owner])
    }
  })

  test('is found beside values of other fields, in whatever order two transactions save them', async () => {
    const [p, q] = [await field({ unique_value: true }), await field({ unique_value: true, multiple_values: true })]
    for (const round of [1, 2, 3, 4]) {
      const entries = [one(p, `p${round}`), several(q, `b${round}`, `a${round}`)]
      const answers = await Promise.all([create(entries), create(entries.toReversed()), create(entries)])
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
    }
    const taken = await create([one(p, 'p9'), several(q, 'c', 'a1')])
    expect(refusal(taken)).toEqual([409, 'CUSTOM_FIELD_VALUE_ALREADY_EXISTS', 'custom_fields.1.values.1'])
  })

  test('may be given again once its owner has another one, and stays with its owner', async () => {
    const unique = await field({ unique_value: true, type: 'NUMBER' })
    const owner = await made(one(unique, '1'))
    expect((await patch(owner, { custom_fields: [one(unique, '1.0')] })).status).toBe(200)
    expect((await create([one(unique, '1.00')])).status).toBe(409)
    await patch(owner, { custom_fields: [one(unique, '2')] })
    expect((await create([one(unique, '1')])).status).toBe(201)
  })

  test('is there once in each tenant and each environment', async () => {
    const { aLive, aTest, bLive } = api.tenants
    const statuses = await Promise.all(
      [aLive, aTest, bLive].map(async tenant => {
        const body = { reference: 'crm-id', resource_type: 'CUSTOMER', unique_value: true }
        await tenant.call('POST', '/v1/custom-fields', body)
        return (await create([{ reference: 'crm-id', value: '1' }], tenant)).status
      }),
    )
    expect(statuses).toEqual([201, 201, 201])
  })
})

describe('another tenant', () => {
  test('neither names nor finds a field, nor sees a value', async () => {
    const text = await field()
    await made(one(text, 'secret'))
    for (const stranger of [api.tenants.aTest, api.tenants.bLive]) {
      const byReference = await create([one(text, 'x')], stranger)
      expect(refusal(byReference)).toEqual([404, 'RESOURCE_NOT_FOUND', 'custom_fields.0.reference'])
      const byId = await create([{ id: text['id'], value: 'x' }], stranger)
      expect(refusal(byId)).toEqual([404, 'RESOURCE_NOT_FOUND', 'custom_fields.0.id'])
      const filtered = await stranger.call('GET', `/v1/customers?custom_field=${text['reference']}:secret`)
      expect(refusal(filtered)).toEqual([400, 'INVALID_FIELD', 'custom_field'])
      // A field of the same name has other values.
      await field({ reference: text['reference'] }, stranger)
      const found = await stranger.call('GET', `/v1/customers?custom_field=${text['reference']}:secret`)
      expect(found.body['data']).toEqual([])
    }
  })
})

describe('field_actions', () => {
  const act = (action: string) => `?field_actions[custom_fields]=${action}`

  test('ADD sets values beside those there are, and adds to several', async () => {
    const text = await field({ reference: a.seed.unique('a') })
    const list = await field({ reference: a.seed.unique('b'), multiple_values: true })
    const customer = await made(one(text, 'x'), several(list, 'a'))
    const added = await patch(customer, { custom_fields: [several(list, 'b', 'a')] }, act('ADD'))
    const valuesOf = ({ body }: Answer) => body['custom_fields'].map((each: Row) => each['value'] ?? each['values'])
    expect(valuesOf(added)).toEqual(['x', ['a', 'b']])
    expect(valuesOf(await patch(customer, { custom_fields: [one(text, 'y')] }, act('ADD')))).toEqual(['y', ['a', 'b']])
    const removed = await patch(customer, { custom_fields: [several(list, 'a', 'z')] }, act('REMOVE'))
    expect(valuesOf(removed)).toEqual(['y', ['b']])
    expect(valuesOf(await patch(customer, { custom_fields: [one(text, 'other')] }, act('REMOVE')))).toEqual([
      'y',
      ['b'],
    ])
    expect(
      valuesOf(await patch(customer, { custom_fields: [{ reference: text['reference'] }] }, act('REMOVE'))),
    ).toEqual([['b']])
    expect(valuesOf(await patch(customer, {}, act('CLEAR')))).toEqual([])
    expect(valuesOf(await patch(customer, { custom_fields: [one(text, 'z')] }, act('REPLACE')))).toEqual(['z'])
  })

  test('are refused where they do not go with the body', async () => {
    const [text, list] = [await field(), await field({ multiple_values: true })]
    const values = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `v${from + index}`)
    const customer = await made(several(list, ...values(0, VALUES_MAX)))
    expect(refusal(await patch(customer, {}, act('ADD')))).toEqual([400, 'MISSING_FIELD', 'custom_fields'])
    expect(refusal(await patch(customer, { custom_fields: [one(text, 'x')] }, act('CLEAR')))).toEqual([
      400,
      'INVALID_FIELD',
      'field_actions[custom_fields]',
    ])
    expect(refusal(await patch(customer, { custom_fields: [] }, act('MERGE')))[1]).toBe('INVALID_FIELD')
    expect(refusal(await patch(customer, {}, '?field_actions[email]=CLEAR'))[1]).toBe('INVALID_FIELD')
    expect(refusal(await patch(customer, { custom_fields: [several(list, 'more')] }, act('ADD')))).toEqual([
      400,
      'INVALID_FIELD',
      'custom_fields',
    ])
  })

  test('act on every list that a change may send, by the ids of its entries', async () => {
    const { body: entity } = await a.call('POST', '/v1/billing-entities', {
      reference: a.seed.unique('entity'),
      tax_registrations: [{ tax_id: 'DE1' }, { tax_id: 'FR1' }],
    })
    const [german, french] = entity['tax_registrations']
    const change = (action: string, body: object) =>
      a.call('PATCH', `/v1/billing-entities/${entity['id']}?field_actions[tax_registrations]=${action}`, body)
    const idsOf = ({ body }: Answer) => body['tax_registrations'].map((each: Row) => each['tax_id'])
    expect(idsOf(await change('ADD', { tax_registrations: [{ tax_id: 'IT1' }] }))).toEqual(['DE1', 'FR1', 'IT1'])
    const replaced = await change('ADD', { tax_registrations: [{ id: french['id'], tax_id: 'FR2' }] })
    expect(idsOf(replaced)).toEqual(['DE1', 'FR2', 'IT1'])
    expect(idsOf(await change('REMOVE', { tax_registrations: [{ id: german['id'] }] }))).toEqual(['FR2', 'IT1'])
    expect((await change('CLEAR', {})).body['tax_registrations']).toBeNull()
  })
})
