// What custom fields may be, and how they may change while resources have values of them, through the api.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FIELDS_MAX } from '../../resource/custom-fields/schema.ts'
import { refusal } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import { noticesOf } from '../../testing/notices.ts'
import type { Row } from '../../testing/wire.ts'
import { RESOURCES } from '../modules.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

const create = (over: object = {}) =>
  a.call('POST', '/v1/custom-fields', { reference: a.seed.unique('field'), resource_type: 'CUSTOMER', ...over })
async function made(over: object = {}): Promise<Row> {
  const { status, body } = await create(over)
  expect([status, body]).toEqual([201, body])
  return body
}
const patch = (field: Row, body: object) => a.call('PATCH', `/v1/custom-fields/${field['id']}`, body)
const remove = (field: Row) => a.call('DELETE', `/v1/custom-fields/${field['id']}`)
const holder = async (...custom_fields: object[]): Promise<Row> => {
  const { status, body } = await a.call('POST', '/v1/customers', { type: 'INDIVIDUAL', custom_fields })
  expect([status, body]).toEqual([201, body])
  return body
}
const letGo = (customer: Row) => a.call('PATCH', `/v1/customers/${customer['id']}`, { custom_fields: null })

describe('a custom field', () => {
  test('is a text of one value unless it says otherwise', async () => {
    const field = await made({ name: 'Cost center' })
    expect(field).toMatchObject({
      object_type: 'CUSTOM_FIELD',
      resource_type: 'CUSTOMER',
      name: 'Cost center',
      type: 'STRING',
      enum_values: null,
      multiple_values: false,
      unique_value: false,
      copy_value_to_invoice: false,
    })
    expect((await a.call('GET', `/v1/custom-fields/${field['id']}`)).body).toEqual(field)
  })

  test.each(['string', 'boolean', 'number', 'STRING', 'BOOLEAN', 'NUMBER'])(
    'of type %s is answered in capitals',
    async type => {
      expect((await made({ type }))['type']).toBe(type.toUpperCase())
    },
  )

  test.each<[object, [number, string, string | undefined]]>([
    [{ reference: undefined }, [400, 'MISSING_FIELD', 'reference']],
    [{ resource_type: undefined }, [400, 'MISSING_FIELD', 'resource_type']],
    [{ resource_type: 'METER' }, [400, 'INVALID_FIELD', 'resource_type']],
    [{ type: 'DATE' }, [400, 'INVALID_FIELD', 'type']],
    [{ reference: 'has space' }, [400, 'INVALID_FIELD', 'reference']],
    [{ reference: 'a:b' }, [400, 'INVALID_FIELD', 'reference']],
    [{ reference: 'PAYMENT_GATEWAY:STRIPE:CUSTOMER' }, [400, 'INVALID_FIELD', 'reference']],
    [{ reference: 'a[b]' }, [400, 'INVALID_FIELD', 'reference']],
    [{ type: 'ENUM' }, [400, 'MISSING_FIELD', 'enum_values']],
    [{ type: 'enum', enum_values: [] }, [400, 'INVALID_FIELD', 'enum_values']],
    [{ type: 'ENUM', enum_values: ['a', 'a'] }, [400, 'INVALID_FIELD', 'enum_values']],
    [{ type: 'ENUM', enum_values: [' '] }, [400, 'INVALID_FIELD', 'enum_values.0']],
    [{ enum_values: ['a'] }, [400, 'INVALID_FIELD', 'enum_values']],
    [{ resource_type: 'INVOICE', copy_value_to_invoice: true }, [400, 'INVALID_FIELD', 'copy_value_to_invoice']],
    [{ integration_id: 'x' }, [400, 'INVALID_FIELD', 'integration_id']],
    [{ required: true }, [400, 'INVALID_FIELD', 'required']],
  ])('%j is refused', async (body, expected) => {
    expect(refusal(await create(body))).toEqual(expected)
  })

  test('has a reference that no other field of the same resources has, and those of others may have', async () => {
    const { reference } = await made()
    expect(refusal(await create({ reference }))).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'reference'])
    expect((await create({ reference, resource_type: 'PRODUCT' })).status).toBe(201)
    expect(
      (await api.tenants.aTest.call('POST', '/v1/custom-fields', { reference, resource_type: 'CUSTOMER' })).status,
    ).toBe(201)
    const found = await a.call('GET', `/v1/custom-fields?reference=${reference}`)
    expect(found.body['data'].map((each: Row) => each['resource_type']).toSorted()).toEqual(['CUSTOMER', 'PRODUCT'])
    const one = await a.call('GET', `/v1/custom-fields?reference=${reference}&resource_type=PRODUCT`)
    expect(one.body['data']).toHaveLength(1)
  })

  test('stands for resources that have the trait, all of them', async () => {
    const types = RESOURCES.filter(({ customFields }) => customFields).map(({ objectType }) => objectType)
    // Invoices are no recipe resource.
    for (const resource_type of [...types, 'INVOICE']) expect((await create({ resource_type })).status).toBe(201)
  })

  test('is one of a bounded number, also when many are created at once', async () => {
    const { call, seed } = api.tenants.bTest
    const body = () => ({ reference: seed.unique('field'), resource_type: 'BILLING_ENTITY' })
    const answers = await Promise.all(
      Array.from({ length: FIELDS_MAX + 5 }, () => call('POST', '/v1/custom-fields', body())),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(FIELDS_MAX)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(refusal)).toEqual(Array(5).fill([400, 'INVALID_OPERATION', 'resource_type']))
  })
})

describe('a field that resources have values of', () => {
  test('keeps its type, and may change it when there are none', async () => {
    const field = await made()
    const customer = await holder({ reference: field['reference'], value: '12' })
    expect(refusal(await patch(field, { type: 'NUMBER' }))).toEqual([400, 'INVALID_FIELD', 'type'])
    await letGo(customer)
    expect((await patch(field, { type: 'NUMBER' })).body['type']).toBe('NUMBER')
    expect(refusal(await patch(field, { type: 'ENUM' }))).toEqual([400, 'MISSING_FIELD', 'enum_values'])
    expect((await patch(field, { type: 'ENUM', enum_values: ['a'] })).status).toBe(200)
  })

  test('may come to take several values, and not go back', async () => {
    const field = await made()
    const customer = await holder({ reference: field['reference'], value: 'one' })
    expect((await patch(field, { multiple_values: true })).status).toBe(200)
    const { body } = await a.call('GET', `/v1/customers/${customer['id']}`)
    expect(body['custom_fields']).toEqual([{ id: field['id'], reference: field['reference'], values: ['one'] }])
    expect(refusal(await patch(field, { multiple_values: false }))).toEqual([400, 'INVALID_FIELD', 'multiple_values'])
  })

  test('may gain values of its list, and lose those that none has', async () => {
    const field = await made({ type: 'ENUM', enum_values: ['a', 'b', 'c'] })
    await holder({ reference: field['reference'], value: 'a' })
    expect((await patch(field, { enum_values: ['d', 'a'] })).body['enum_values']).toEqual(['d', 'a'])
    const lost = await patch(field, { enum_values: ['d'] })
    expect(refusal(lost)).toEqual([400, 'INVALID_FIELD', 'enum_values'])
    expect(lost.body['message']).toContain('"a"')
    expect(refusal(await patch(field, { enum_values: null }))).toEqual([400, 'MISSING_FIELD', 'enum_values'])
  })

  test('holds each value once from when on it says so, unless one is there twice', async () => {
    const field = await made()
    const entry = (value: string) => ({ reference: field['reference'], value })
    const [first] = [await holder(entry('x')), await holder(entry('x')), await holder(entry('y'))]
    expect(refusal(await patch(field, { unique_value: true }))).toEqual([
      409,
      'CUSTOM_FIELD_VALUE_ALREADY_EXISTS',
      'unique_value',
    ])
    await letGo(first)
    expect((await patch(field, { unique_value: true })).body['unique_value']).toBe(true)
    const again = await a.call('POST', '/v1/customers', { type: 'INDIVIDUAL', custom_fields: [entry('y')] })
    expect(refusal(again)).toEqual([409, 'CUSTOM_FIELD_VALUE_ALREADY_EXISTS', 'custom_fields.0.value'])
    expect((await patch(field, { unique_value: false })).status).toBe(200)
    await holder(entry('y'))
  })

  test('is not deleted; once none has a value, it is', async () => {
    const field = await made()
    const customer = await holder({ reference: field['reference'], value: 'x' })
    const refused = await remove(field)
    expect(refusal(refused)).toEqual([409, 'COULD_NOT_DELETE_RESOURCE', undefined])
    expect(refused.body['message']).toContain(customer['id'])
    await a.call('DELETE', `/v1/customers/${customer['id']}`)
    expect((await remove(field)).status).toBe(200)
    expect((await a.call('GET', `/v1/custom-fields/${field['id']}`)).status).toBe(404)
  })

  test('may get another name and another reference, by which it is then known', async () => {
    const field = await made()
    const customer = await holder({ reference: field['reference'], value: 'x' })
    const reference = a.seed.unique('renamed')
    expect((await patch(field, { reference })).status).toBe(200)
    const { body } = await a.call('GET', `/v1/customers/${customer['id']}`)
    expect(body['custom_fields']).toEqual([{ id: field['id'], reference, value: 'x' }])
    expect(refusal(await patch(field, { resource_type: 'PRODUCT' }))).toEqual([400, 'INVALID_FIELD', 'resource_type'])
  })

  test('never loses a value to a change that runs beside it', async () => {
    const work = async (): Promise<string> => {
      const field = await made({ type: 'ENUM', enum_values: ['a', 'b'] })
      const [saved, changed] = await Promise.all([
        a.call('POST', '/v1/customers', {
          type: 'INDIVIDUAL',
          custom_fields: [{ reference: field['reference'], value: 'b' }],
        }),
        patch(field, { enum_values: ['a'] }),
      ])
      return `${saved.status} ${changed.status}`
    }
    const outcomes = await Promise.all(Array.from({ length: 12 }, work))
    // One of the two is refused, whichever came second.
    expect(outcomes.filter(outcome => outcome !== '201 400' && outcome !== '400 200')).toEqual([])
  })

  test('is not deleted beside a value that is being saved', async () => {
    const work = async (): Promise<string> => {
      const field = await made()
      const [saved, removed] = await Promise.all([
        a.call('POST', '/v1/customers', {
          type: 'INDIVIDUAL',
          custom_fields: [{ reference: field['reference'], value: 'b' }],
        }),
        remove(field),
      ])
      return `${saved.status} ${removed.status}`
    }
    const outcomes = await Promise.all(Array.from({ length: 12 }, work))
    expect(outcomes.filter(outcome => outcome !== '201 409' && outcome !== '404 200')).toEqual([])
  })
})

test('custom fields tell what became of them', async () => {
  const field = await made()
  await patch(field, { name: 'Region' })
  await patch(field, { name: 'Region' })
  await remove(field)
  const events = await noticesOf(api, field['id'])
  expect(events.map(({ type, previous_data }) => [type, previous_data?.name])).toEqual([
    ['CUSTOM_FIELD.CREATED', undefined],
    ['CUSTOM_FIELD.UPDATED', null],
    ['CUSTOM_FIELD.DELETED', undefined],
  ])
})
