// PUT by `identifier_field`, and lists by `custom_field`, through the api.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

async function field(over: object = {}): Promise<Row> {
  const reference = a.seed.unique('field')
  const { status, body } = await a.call('POST', '/v1/custom-fields', { reference, resource_type: 'CUSTOMER', ...over })
  expect([status, body]).toEqual([201, body])
  return body
}
const entry = ({ reference }: Row, value: string) => ({ reference, value })
const put = (by: Row | null, body: object, query = '') => {
  const identifier = by ? `identifier_field=custom_field&custom_field_reference=${by['reference']}` : ''
  return a.call('PUT', `/v1/customers?${identifier}${query}`, { type: 'INDIVIDUAL', ...body })
}

describe('PUT by a custom field', () => {
  test('creates, then updates what has the value', async () => {
    const [crm, other] = [await field({ unique_value: true }), await field()]
    const created = await put(crm, { custom_fields: [entry(crm, '7')], email: 'a@example.com' })
    expect([created.status, created.body['reference']]).toEqual([201, null])
    const updated = await put(crm, { custom_fields: [entry(other, 'x'), entry(crm, '7')], email: 'b@example.com' })
    expect([updated.status, updated.body['id'], updated.body['email']]).toEqual([
      200,
      created.body['id'],
      'b@example.com',
    ])
    expect(updated.body['custom_fields']).toHaveLength(2)
    const kept = await put(crm, { custom_fields: [entry(crm, '7')] }, '&field_actions[custom_fields]=ADD')
    expect([kept.status, kept.body['custom_fields'].length]).toEqual([200, 2])
    const replaced = await put(crm, { custom_fields: [entry(crm, '7')] })
    expect(replaced.body['custom_fields']).toHaveLength(1)
  })

  test('creates one of several that come at once', async () => {
    const crm = await field({ unique_value: true, type: 'NUMBER' })
    const answers = await Promise.all(
      ['1', '1.0', '1.00', '1', '01'].map(value => put(crm, { custom_fields: [entry(crm, value)] })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 201])
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1)
  })

  test('is refused without what it goes by', async () => {
    const [crm, loose, list] = [
      await field({ unique_value: true }),
      await field(),
      await field({ unique_value: true, multiple_values: true }),
    ]
    const field404 = [404, 'RESOURCE_NOT_FOUND', 'custom_field_reference']
    expect(refusal(await put({ reference: 'none' }, { custom_fields: [] }))).toEqual(field404)
    expect(refusal(await put(loose, { custom_fields: [entry(loose, '7')] }))).toEqual([
      400,
      'INVALID_FIELD',
      'custom_field_reference',
    ])
    expect(refusal(await put(crm, { custom_fields: [entry(loose, '7')] }))).toEqual([
      400,
      'MISSING_FIELD',
      'custom_fields',
    ])
    expect(refusal(await put(crm, {}))).toEqual([400, 'MISSING_FIELD', 'custom_fields'])
    const two = { reference: list['reference'], values: ['1', '2'] }
    expect(refusal(await put(list, { custom_fields: [two] }))).toEqual([400, 'MISSING_FIELD', 'custom_fields'])
    const without = await a.call('PUT', '/v1/customers?identifier_field=custom_field', { type: 'INDIVIDUAL' })
    expect(refusal(without)).toEqual([400, 'MISSING_FIELD', 'custom_field_reference'])
    const beside = await a.call('PUT', `/v1/customers?custom_field_reference=${crm['reference']}`, {
      type: 'INDIVIDUAL',
      reference: a.seed.unique('c'),
    })
    expect(refusal(beside)).toEqual([400, 'INVALID_FIELD', 'custom_field_reference'])
    const unknown = await a.call('PUT', '/v1/customers?identifier_field=email', { type: 'INDIVIDUAL' })
    expect(refusal(unknown)).toEqual([400, 'INVALID_FIELD', 'identifier_field'])
    expect(unknown.body['message']).toMatch(/reference, ?custom_field/)
    const plain = await a.call('PUT', '/v1/features?identifier_field=custom_field', { reference: 'f', type: 'SWITCH' })
    expect(refusal(plain)).toEqual([400, 'INVALID_FIELD', 'identifier_field'])
  })

  test('by the reference keeps its lists apart as well', async () => {
    const [text, other] = [await field(), await field()]
    const reference = a.seed.unique('customer')
    const first = await put(
      null,
      { reference, custom_fields: [entry(text, 'x')] },
      'field_actions[custom_fields]=REMOVE',
    )
    expect([first.status, first.body['custom_fields']]).toEqual([201, []])
    await put(null, { reference, custom_fields: [entry(text, 'x')] })
    const added = await put(null, { reference, custom_fields: [entry(other, 'y')] }, 'field_actions[custom_fields]=ADD')
    expect([added.status, added.body['custom_fields'].length]).toEqual([200, 2])
    const cleared = await put(null, { reference }, 'field_actions[custom_fields]=CLEAR')
    expect(cleared.body['custom_fields']).toEqual([])
  })
})

describe('a list by a custom field', () => {
  const idsOf = async (query: string): Promise<string[]> => {
    const { status, body } = await a.call('GET', `/v1/customers?${query}`)
    expect([status, body]).toEqual([200, body])
    return body['data'].map((each: Row) => each['id'])
  }
  const customer = async (...custom_fields: object[]): Promise<string> =>
    (await a.call('POST', '/v1/customers', { type: 'INDIVIDUAL', custom_fields })).body['id']

  test('finds values as they are meant, one of several, and all conditions together', async () => {
    const [text, number] = [await field(), await field({ type: 'NUMBER', multiple_values: true })]
    const url = encodeURIComponent('https://a.example/x?y=1:2')
    const linked = await customer(entry(text, 'https://a.example/x?y=1:2'), {
      reference: number['reference'],
      values: ['1.50', '2'],
    })
    const other = await customer(entry(text, 'x'), entry(number, '2'))
    expect(await idsOf(`custom_field=${text['reference']}:${url}`)).toEqual([linked])
    expect(await idsOf(`custom_field=${number['reference']}:1.5`)).toEqual([linked])
    expect((await idsOf(`custom_field=${number['reference']}:2.0`)).toSorted()).toEqual([linked, other].toSorted())
    const both = `custom_field=${number['reference']}:2&custom_field=${text['reference']}:x`
    expect(await idsOf(both)).toEqual([other])
    expect(await idsOf(`custom_field=${text['reference']}:X`)).toEqual([])
    expect(await idsOf(`${both}&statuses[]=ARCHIVED`)).toEqual([])
  })

  test('is read page by page and by cursors, with links that keep the filter', async () => {
    const flag = await field({ type: 'BOOLEAN' })
    const ids = new Set<string>()
    for (let count = 0; count < 5; count += 1) ids.add(await customer(entry(flag, 'true')))
    await customer(entry(flag, 'false'))
    const read: string[] = []
    const [first] = await idsOf(`limit=1&custom_field=${flag['reference']}:true`)
    for (
      let at: string | null = `/v1/customers?limit=2&starting_after=${first}&custom_field=${flag['reference']}:true`;
      at;
    ) {
      const { body }: { body: Row } = await a.call('GET', at)
      read.push(...body['data'].map((each: Row) => each['id']))
      at = body['links'].next
    }
    expect(new Set([first, ...read])).toEqual(ids)
    const { body } = await a.call('GET', `/v1/customers?limit=2&page=2&custom_field=${flag['reference']}:true`)
    expect([body['data'].length, body['total_number_of_pages']]).toEqual([2, 3])
    expect(decodeURIComponent(body['links'].next)).toContain(`custom_field=${flag['reference']}:true`)
  })

  test.each(['none:x', 'none', 'no colon', ':x', 'a::'])('%s is refused', async text => {
    const answer = await a.call('GET', `/v1/customers?custom_field=${encodeURIComponent(text)}`)
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'custom_field'])
  })

  test('by a value that there cannot be is refused, and of resources without any, too', async () => {
    const number = await field({ type: 'NUMBER' })
    const answer = await a.call('GET', `/v1/customers?custom_field=${number['reference']}:many`)
    expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'custom_field'])
    expect(refusal(await a.call('GET', '/v1/meters?custom_field=a:b'))).toEqual([400, 'INVALID_FIELD', 'custom_field'])
    const product = await field({ resource_type: 'PRODUCT' })
    const elsewhere = await a.call('GET', `/v1/customers?custom_field=${product['reference']}:x`)
    expect(refusal(elsewhere)).toEqual([400, 'INVALID_FIELD', 'custom_field'])
  })

  test('goes by a reference of the service, which has colons, as well', async () => {
    const reserved = await field()
    const mine = await customer(entry(reserved, 'cus_1'))
    await api.sql('update custom_fields set reference = $1 where id = $2', [
      'PAYMENT_GATEWAY:STRIPE:CUSTOMER',
      reserved['id'],
    ])
    expect(await idsOf('custom_field=PAYMENT_GATEWAY:STRIPE:CUSTOMER:cus_1')).toEqual([mine])
  })

  test('is searched, by one value or one of several', async () => {
    const tier = await field({ type: 'ENUM', enum_values: ['gold', 'silver', 'none'] })
    const [gold, silver] = [await customer(entry(tier, 'gold')), await customer(entry(tier, 'silver'))]
    await customer(entry(tier, 'none'))
    const search = (filter: object) =>
      a.call('POST', '/v1/customers/search', { filter_fields: [{ name: 'custom_fields', ...filter }] })
    const { reference } = tier
    const found = async (filter: object): Promise<string[]> =>
      (await search(filter)).body['data'].map((each: Row) => each['id'])
    expect(await found({ reference, value: 'gold' })).toEqual([gold])
    expect((await found({ reference, values: ['gold', 'silver'] })).toSorted()).toEqual([gold, silver].toSorted())
    expect(refusal(await search({ value: 'gold' }))).toEqual([400, 'INVALID_FIELD', 'filter_fields.0.reference'])
    expect(refusal(await search({ reference: 'none', value: 'gold' }))).toEqual([
      400,
      'INVALID_FIELD',
      'filter_fields.0.reference',
    ])
    expect(refusal(await search({ reference }))).toEqual([400, 'MISSING_FIELD', 'filter_fields.0.value'])
    const beside = await a.call('POST', '/v1/customers/search', {
      filter_fields: [{ name: 'email', reference, value: 'x' }],
    })
    expect(refusal(beside)).toEqual([400, 'INVALID_FIELD', 'filter_fields.0.reference'])
    const unknown = await a.call('POST', '/v1/customers/search', { filter_fields: [{ name: 'nothing', value: 'x' }] })
    expect(unknown.body['message']).toContain('custom_fields')
  })
})
