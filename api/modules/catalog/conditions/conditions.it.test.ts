// Conditions of prices and items through the api (contract: Meter property variable and condition; semantics 1.1, 3.1).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, FLAT, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { pricingPlanVersionResource } from '../pricing-plans/pricing-plan-version.ts'
import { productResource } from '../products/product.ts'

let api: ApiHarness
let tenant: TestTenant
let catalog: ReturnType<typeof catalogOf>
/** The properties of one meter, by what they are; `note` alone is not required on it. */
const properties: Record<string, Row> = {}
let calculation: Row
let variable: Row

const make = async (path: string, body: object): Promise<Row> => {
  const answer = await tenant.call('POST', `/v1/${path}`, body)
  if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  catalog = catalogOf(tenant)
  const value = await make('meter-values', { reference: 'tokens', name: 'Tokens', type: 'NUMBER', status: 'ACTIVE' })
  for (const [name, type] of [
    ['model', 'STRING'],
    ['size', 'NUMBER'],
    ['region', 'ENUM'],
    ['note', 'STRING'],
    ['foreign', 'STRING'],
  ] as const) {
    const listed = type === 'ENUM' ? { enum_values: ['eu', 'us'] } : {}
    properties[name] = await make('meter-properties', { reference: name, name, type, status: 'ACTIVE', ...listed })
  }
  const meter = await make('meters', {
    reference: 'requests',
    status: 'ACTIVE',
    meter_values: [{ id: value['id'], required: true }],
    meter_properties: [
      { reference: 'model', required: true },
      { reference: 'size', required: true },
      { reference: 'region', required: true },
      { reference: 'note' },
    ],
  })
  calculation = await make('meter-value-calculations', {
    reference: 'tokens',
    calculation_type: 'SUM',
    meter_id: meter['id'],
    meter_value_id: value['id'],
  })
  variable = await make('meter-property-variables', { meter_property_reference: 'model', values: ['m1', 'm2'] })
})
afterAll(() => api?.close())

const metered = (conditions?: object) =>
  catalog.itemOf({
    model_type: 'USAGE_BASED',
    usage_based: { meter_value_calculation_id: calculation['id'], ...(conditions ? { conditions } : {}) },
  })
/** A pricing of one metered item with these configs. */
async function pricing(configs: object[], over: { item?: Row; version?: Row } = {}) {
  const item = over.item ?? (await metered())
  const version = over.version ?? (await tenant.seed.make(pricingPlanVersionResource))
  const body = { pricing_plan_version_id: version['id'], product_ids: [item['product_id']] }
  const items = [{ product_item_ids: [item['id']], configs }]
  return { item, version, answer: await tenant.call('POST', '/v1/pricings', { ...body, items }) }
}
const when = (test: object) => ({ ...FLAT, conditions: { meter_properties: [test] } })
const AT = 'items.0.configs.0.conditions.meter_properties.0'

test('a price is split by properties that its meter requires, named by id or reference, each once', async () => {
  const by = (...meter_properties: object[]) => pricing([{ ...FLAT, split_pricing: { meter_properties } }])
  const [model, region] = [properties['model']?.['id'], properties['region']?.['id']]
  const { answer } = await by({ reference: 'model' }, { id: region })
  expect(answer.status).toBe(201)
  expect(answer.body['items'][0].configs[0].split_pricing).toEqual({
    meter_properties: [
      { id: model, reference: 'model' },
      { id: region, reference: 'region' },
    ],
  })
  expect((await tenant.call('GET', `/v1/pricings/${answer.body['id']}`)).body).toEqual(answer.body)
  const at = 'items.0.configs.0.split_pricing.meter_properties'
  const refused = async (...list: object[]) => refusal((await by(...list)).answer)
  expect(await refused()).toEqual([400, 'INVALID_FIELD', at])
  expect(await refused({})).toEqual([400, 'MISSING_FIELD', `${at}.0.id`])
  expect(await refused({ reference: 'model' }, { id: model })).toEqual([400, 'INVALID_FIELD', `${at}.1.id`])
  expect(await refused({ reference: 'model' }, { reference: 'note' })).toEqual([400, 'INVALID_FIELD', `${at}.1.id`])
  expect(await refused({ reference: 'nothing' })).toEqual([404, 'RESOURCE_NOT_FOUND', `${at}.0.reference`])
})

describe('a condition of a price', () => {
  test('is stored canonical, by the id and the reference of its property', async () => {
    const byReference = { reference: 'model', comparator: 'EQUALS', value: 'm1' }
    const { answer } = await pricing([
      { ...FLAT, conditions: { name: 'Small', meter_properties: [byReference] } },
      when({ id: properties['region']?.['id'], comparator: 'IN', values: ['eu'] }),
      FLAT,
    ])
    expect(answer.status).toBe(201)
    const blank = { value: null, values: null, meter_property_variable_id: null }
    expect(answer.body['items'][0].configs.map((config: Row) => [config['order'], config['conditions']])).toEqual([
      [0, { name: 'Small', meter_properties: [{ ...blank, ...byReference, id: properties['model']?.['id'] }] }],
      [
        1,
        {
          name: null,
          meter_properties: [
            { ...blank, id: properties['region']?.['id'], reference: 'region', comparator: 'IN', values: ['eu'] },
          ],
        },
      ],
      [2, null],
    ])
    expect((await tenant.call('GET', `/v1/pricings/${answer.body['id']}`)).body).toEqual(answer.body)
  })

  test('names a variable, which is shown whole when it is asked for', async () => {
    const named = {
      ...when({ reference: 'model', comparator: 'IN', meter_property_variable_id: variable['id'] }),
      split_pricing: { meter_properties: [{ reference: 'region' }] },
    }
    const { answer, version } = await pricing([named])
    const conditionOf = (body: Row) => body['items'][0].configs[0].conditions.meter_properties[0]
    expect(conditionOf(answer.body)).toMatchObject({ meter_property_variable_id: variable['id'] })
    for (const name of ['meter_property_variable_id', 'meter_property_variable', 'ALL']) {
      const { body } = await tenant.call('GET', `/v1/pricings/${answer.body['id']}?expand[]=${name}`)
      expect(conditionOf(body)['meter_property_variable']).toMatchObject({ id: variable['id'], value_count: 2 })
    }
    const path = `/v1/pricing-plan-versions/${version['id']}?expand[]=meter_property_variable`
    const { body } = await tenant.call('GET', path)
    expect(conditionOf(body['pricing_categories'][0].pricings[0])['meter_property_variable'].value_count).toBe(2)
    // The property of each test, and of each split, is shown as well.
    for (const name of ['meter_property', 'ALL']) {
      const { body: shown } = await tenant.call('GET', `/v1/pricings/${answer.body['id']}?expand[]=${name}`)
      expect(conditionOf(shown)['meter_property']).toMatchObject({ object_type: 'METER_PROPERTY', reference: 'model' })
      const [split] = shown['items'][0].configs[0].split_pricing.meter_properties
      expect(split).toEqual({
        id: properties['region']?.['id'],
        reference: 'region',
        meter_property: expect.objectContaining({ object_type: 'METER_PROPERTY', reference: 'region' }),
      })
    }
    // Sent back as it was shown, it changes nothing.
    const { body: shown } = await tenant.call('GET', `/v1/pricings/${answer.body['id']}?expand[]=ALL`)
    const again = await tenant.call('PATCH', `/v1/pricings/${answer.body['id']}`, { items: shown['items'] })
    expect(again.body['items']).toEqual(answer.body['items'])
  })

  test.each<[string, object, number, string, string]>([
    ['no property', { comparator: 'EMPTY' }, 400, 'MISSING_FIELD', 'id'],
    ['an unknown property', { reference: 'nope', comparator: 'EMPTY' }, 404, 'RESOURCE_NOT_FOUND', 'reference'],
    ['a property of another meter', { reference: 'foreign', comparator: 'EMPTY' }, 400, 'INVALID_FIELD', 'id'],
    ['a property events may leave out', { reference: 'note', comparator: 'EMPTY' }, 400, 'INVALID_FIELD', 'id'],
    [
      'an order of texts',
      { reference: 'model', comparator: 'LESS_THAN', value: '1' },
      400,
      'INVALID_FIELD',
      'comparator',
    ],
    [
      'a part of a number',
      { reference: 'size', comparator: 'CONTAINS', value: '1' },
      400,
      'INVALID_FIELD',
      'comparator',
    ],
    ['a number that is none', { reference: 'size', comparator: 'EQUALS', value: 'x' }, 400, 'INVALID_FIELD', 'value'],
    [
      'an unlisted ENUM value',
      { reference: 'region', comparator: 'IN', values: ['eu', 'mars'] },
      400,
      'INVALID_FIELD',
      'values.1',
    ],
    ['EQUALS without a value', { reference: 'model', comparator: 'EQUALS' }, 400, 'MISSING_FIELD', 'value'],
    ['EQUALS with a list', { reference: 'model', comparator: 'EQUALS', values: ['a'] }, 400, 'INVALID_FIELD', 'values'],
    ['IN with one value', { reference: 'model', comparator: 'IN', value: 'a' }, 400, 'INVALID_FIELD', 'value'],
    ['IN with nothing', { reference: 'model', comparator: 'IN' }, 400, 'MISSING_FIELD', 'values'],
    ['EMPTY with a value', { reference: 'model', comparator: 'EMPTY', value: 'a' }, 400, 'INVALID_FIELD', 'value'],
    [
      'an unknown variable',
      { reference: 'model', comparator: 'IN', meter_property_variable_id: 'mepv_0000000000000000000000' },
      404,
      'RESOURCE_NOT_FOUND',
      'meter_property_variable_id',
    ],
  ])('is refused with %s', async (_name, condition, status, code, field) => {
    expect(refusal((await pricing([when(condition)])).answer)).toEqual([status, code, `${AT}.${field}`])
  })

  test('is refused with a variable of another property, with a comparator but IN, or beside values', async () => {
    const meter_property_variable_id = variable['id']
    const other = when({ reference: 'region', comparator: 'IN', meter_property_variable_id })
    expect(refusal((await pricing([other])).answer)).toEqual([400, 'INVALID_FIELD', `${AT}.meter_property_variable_id`])
    const equals = when({ reference: 'model', comparator: 'EQUALS', meter_property_variable_id })
    expect(refusal((await pricing([equals])).answer)).toEqual([
      400,
      'INVALID_FIELD',
      `${AT}.meter_property_variable_id`,
    ])
    const both = when({ reference: 'model', comparator: 'IN', values: ['x'], meter_property_variable_id })
    expect(refusal((await pricing([both])).answer)).toEqual([400, 'INVALID_FIELD', `${AT}.meter_property_variable_id`])
    const not = when({ reference: 'model', comparator: 'NOT_IN', meter_property_variable_id })
    expect((await pricing([not])).answer.status).toBe(201)
  })

  test('leaves one default and different turns, and no place to an item that is not metered', async () => {
    const some = when({ reference: 'model', comparator: 'EQUALS', value: 'a' })
    expect(refusal((await pricing([FLAT, some, FLAT])).answer)).toEqual([
      400,
      'INVALID_FIELD',
      'items.0.configs.2.conditions',
    ])
    expect(refusal((await pricing([some, { ...some, order: 0 }])).answer)).toEqual([
      400,
      'INVALID_FIELD',
      'items.0.configs.1.order',
    ])
    expect(refusal((await pricing([])).answer)).toEqual([400, 'INVALID_FIELD', 'items.0.configs'])
    const recurring = await catalog.itemOf({})
    const fixed = { pricing_type: 'FIXED', bands: FLAT.bands, conditions: some.conditions }
    expect(refusal((await pricing([fixed], { item: recurring })).answer)).toEqual([
      400,
      'INVALID_FIELD',
      'items.0.configs.0.conditions',
    ])
    expect(refusal((await pricing([{ ...FLAT, conditions: {} }])).answer)).toEqual([
      400,
      'MISSING_FIELD',
      'items.0.configs.0.conditions.meter_properties',
    ])
  })

  test('comes along when its version is copied', async () => {
    const named = when({ reference: 'model', comparator: 'IN', meter_property_variable_id: variable['id'] })
    const { version, answer } = await pricing([named, FLAT])
    const copy = await make('pricing-plan-versions', {
      pricing_plan_id: version['pricing_plan_id'],
      copied_from_pricing_plan_version_id: version['id'],
    })
    const [config] = copy['pricing_categories'][0].pricings[0].items[0].configs
    expect(config.conditions).toEqual(answer.body['items'][0].configs[0].conditions)
  })
})

describe('the conditions of an item', () => {
  const size = (comparator: string, value: string) => ({ meter_property: { reference: 'size', comparator, value } })
  test('are a list or a tree', async () => {
    const list = await metered({ meter_properties: [{ reference: 'region', comparator: 'EQUALS', value: 'eu' }] })
    expect(list['usage_based'].conditions.meter_properties).toMatchObject([{ id: properties['region']?.['id'] }])
    const tree = {
      operator: 'OR',
      operands: [
        size('LESS_THAN', '5'),
        { expression: { operator: 'XOR', operands: [size('EQUALS', '7'), size('NOT_EMPTY', '')] } },
      ],
    }
    const bad = await tenant.call('POST', '/v1/product-items', await bodyOf({ expression: tree }))
    expect(refusal(bad)).toEqual([
      400,
      'INVALID_FIELD',
      'usage_based.conditions.expression.operands.1.expression.operands.1.meter_property.value',
    ])
    tree.operands.pop()
    const item = await metered({ expression: tree, name: 'Small' })
    expect(item['usage_based'].conditions).toMatchObject({
      name: 'Small',
      meter_properties: [],
      expression: { operator: 'OR', operands: [{ meter_property: { reference: 'size', value: '5' } }] },
    })
    const { body } = await tenant.call('GET', `/v1/product-items/${item['id']}?expand[]=meter_property&expand[]=ALL`)
    const [operand] = body['usage_based'].conditions.expression.operands
    expect(operand.meter_property.meter_property).toMatchObject({ object_type: 'METER_PROPERTY', reference: 'size' })
    const both = { expression: tree, meter_properties: [size('EQUALS', '1').meter_property] }
    expect(refusal(await tenant.call('POST', '/v1/product-items', await bodyOf(both)))).toEqual([
      400,
      'INVALID_FIELD',
      'usage_based.conditions.expression',
    ])
    let deep: object = { operator: 'AND', operands: [size('EQUALS', '1')] }
    for (let depth = 0; depth < 5; depth += 1) deep = { operator: 'AND', operands: [{ expression: deep }] }
    expect((await tenant.call('POST', '/v1/product-items', await bodyOf({ expression: deep }))).status).toBe(400)
  })

  const bodyOf = async (conditions: object) => {
    const product = await tenant.seed.make(productResource)
    const reference = tenant.seed.unique('item')
    const usage_based = { meter_value_calculation_id: calculation['id'], conditions }
    return { product_id: product['id'], reference, name: reference, model_type: 'USAGE_BASED', usage_based }
  }
})

describe('a variable', () => {
  test('stays while a condition of a price or of an item names it', async () => {
    const one = await make('meter-property-variables', { meter_property_reference: 'model', values: ['m1'] })
    const path = `/v1/meter-property-variables/${one['id']}`
    const test = { reference: 'model', comparator: 'IN', meter_property_variable_id: one['id'] }
    const { answer } = await pricing([when(test)])
    const refused = await tenant.call('DELETE', path)
    expect(refused).toMatchObject({ status: 409, body: { code: 'COULD_NOT_DELETE_RESOURCE' } })
    expect(refused.body['message']).toContain(answer.body['id'])
    expect((await tenant.call('DELETE', `/v1/pricings/${answer.body['id']}`)).status).toBe(200)
    const expression = {
      operator: 'AND',
      operands: [{ expression: { operator: 'OR', operands: [{ meter_property: test }] } }],
    }
    const item = await catalog.itemOf({
      model_type: 'USAGE_BASED',
      status: 'DRAFT',
      usage_based: { meter_value_calculation_id: calculation['id'], conditions: { expression } },
    })
    const again = await tenant.call('DELETE', path)
    expect(again.status).toBe(409)
    expect(again.body['message']).toContain(item['id'])
    expect((await tenant.call('DELETE', `/v1/product-items/${item['id']}`)).status).toBe(200)
    expect((await tenant.call('DELETE', path)).status).toBe(200)
    expect((await tenant.call('GET', path)).status).toBe(404)
  })
})
