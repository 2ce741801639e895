// The catalog as a file: pulled, planned, applied, applied again, and applied to a platform that has nothing yet.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { apply, changed, copyOf, FILE, plan, priced, pull } from './testing/catalog-file.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

test('a platform without a catalog has an empty file', async () => {
  expect(await pull(api.tenants.bTest)).toEqual({ format: 1 })
})

describe('a file that is applied', () => {
  test('is what is pulled, changes nothing a second time, and makes the same catalog elsewhere', async () => {
    const planned = await plan(a, FILE)
    expect([planned.status, planned.body['applicable'], planned.body['refusals']]).toEqual([200, true, []])
    expect(await pull(a)).toEqual({ format: 1 })
    const applied = await apply(a, FILE)
    expect(applied.status).toBe(200)
    expect(applied.body['changes']).toEqual(planned.body['changes'])
    expect(changed(applied)).toHaveLength(26)

    const pulled = await pull(a)
    expect(pulled).toMatchObject(FILE)
    expect((await plan(a, FILE)).body).toMatchObject({ applicable: true, changes: [], refusals: [] })
    expect(changed(await apply(a, FILE))).toEqual([])
    expect(changed(await apply(a, pulled))).toEqual([])

    const elsewhere = api.tenants.bLive
    expect((await apply(elsewhere, pulled)).status).toBe(200)
    expect(await pull(elsewhere)).toEqual(pulled)
    expect(changed(await apply(elsewhere, pulled))).toEqual([])
    // Nothing of it is an id of the platform it was pulled from.
    expect(JSON.stringify(pulled)).not.toMatch(/"(metr|metv|metp|bmet|prod|proi|pric|ppve|prii|pico|feat|mepv)_/)
  })

  test('changes what differs, in a DRAFT version too, and leaves alone what it does not have', async () => {
    const file = copyOf()
    file['product_categories'][0].name = 'Artificial intelligence'
    file['pricing_plans'][0].versions[2].pricings[0].items[0].configs[1].bands[1].amount.quantity = '0.07'
    file['pricing_plans'][0].versions[2].pricing_groups[0].selection_constraint = 'ANY'
    file['pricing_plans'][0].versions.push({ version: 5, pricings: [priced('1')] })
    const planned = await plan(a, { format: 1, ...file, features: undefined, credit_types: undefined })
    expect(changed(planned)).toEqual([
      'UPDATE product_categories ai',
      'UPDATE pricing_plans standard@4',
      'CREATE pricing_plans standard@5',
    ])
    expect(planned.body['changes'][0].differences).toEqual([
      { field: 'name', before: 'AI', after: 'Artificial intelligence' },
    ])
    expect(planned.body['changes'][1].differences.map((each: Row) => each['field'])).toEqual([
      'pricing_groups.0.selection_constraint',
      'pricings.0.items[tokens].configs.1.bands.1.amount.quantity',
    ])
    expect(changed(await apply(a, file))).toHaveLength(3)
    const pulled = await pull(a)
    expect(pulled).toMatchObject(file)
    expect(pulled['pricing_plans'][0].versions[3].status).toBe('DRAFT')
    expect(pulled['features']).toHaveLength(2)
    expect(changed(await apply(a, file))).toEqual([])
    const draft = file['pricing_plans'][0].versions[2]
    draft.pricing_groups = []
    expect(refusal(await apply(a, file))).toEqual([409, 'COULD_NOT_DELETE_RESOURCE', 'pricing_plans.0.versions.2'])
    draft.pricings[0].pricing_group = null
    expect(changed(await apply(a, file))).toEqual(['UPDATE pricing_plans standard@4'])
    expect((await pull(a))['pricing_plans'][0].versions[2]).not.toHaveProperty('pricing_groups')
    expect(changed(await apply(a, file))).toEqual([])
  })

  test('changes the values of a variable, which have no order, and never its property', async () => {
    const variable: Row = { ...FILE.meter_property_variables[0], values: ['us', 'eu', 'us'] }
    const file: Row = { format: 1, meter_property_variables: [variable] }
    expect((await plan(a, file)).body['changes']).toMatchObject([
      { reference: 'europe', differences: [{ field: 'values', before: ['eu'], after: ['eu', 'us'] }] },
    ])
    expect(changed(await apply(a, file))).toEqual(['UPDATE meter_property_variables europe'])
    expect((await pull(a))['meter_property_variables']).toEqual([{ ...variable, values: ['eu', 'us'] }])
    expect(changed(await apply(a, file))).toEqual([])
    const { meter_property_variables } = FILE
    expect(changed(await apply(a, { format: 1, meter_property_variables }))).toEqual([
      'UPDATE meter_property_variables europe',
    ])
    variable['values'] = ['nowhere']
    expect(refusal(await apply(a, file))).toEqual([400, 'INVALID_FIELD', 'meter_property_variables.0.add.0'])
    file['meter_property_variables'] = [{ reference: 'europe', meter_property: 'none' }]
    expect(refusal(await apply(a, file))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'meter_property_variables.0.meter_property',
    ])
    const own = await a.call('POST', '/v1/meter-property-variables', { meter_property_reference: 'region' })
    expect([own.status, own.body['reference']]).toEqual([201, null])
    // Without a reference it is of this platform alone.
    expect((await pull(a))['meter_property_variables']).toEqual([
      { reference: 'europe', meter_property: 'region', values: ['eu'] },
    ])
  })

  test('with a price of a live version changed is refused, by plan and by apply, and nothing of it is kept', async () => {
    const before = await pull(a)
    const file = copyOf()
    file['product_categories'][0].name = 'Never'
    file['pricing_plans'][0].versions[1].pricings[0].items[0].configs[0].bands[0].amount.quantity = '9'
    const planned = await plan(a, file)
    const field = 'pricing_plans.0.versions.1.pricings'
    expect(planned.body).toMatchObject({ applicable: false, refusals: [{ field, code: 'INVALID_OPERATION' }] })
    expect(planned.body['refusals'][0].message).toMatch(/add a version 6/)
    expect(refusal(await apply(a, file))).toEqual([400, 'INVALID_OPERATION', field])
    expect(await pull(a)).toEqual(before)
  })

  test('is refused as the calls of each resource refuse, naming the place in the file; then nothing is kept', async () => {
    const before = await pull(a)
    const refused = async (change: (file: Row) => unknown) => {
      const file = { ...copyOf(), product_categories: [{ reference: 'new', name: 'New' }] } as Row
      file['products'][0].category = null
      change(file)
      const planned = await plan(a, file)
      const answer = refusal(await apply(a, file))
      const [first] = planned.body['refusals'] ?? []
      if (planned.status === 200) expect([first?.field, first?.code]).toEqual([answer[2], answer[1]])
      expect(await pull(a)).toEqual(before)
      return answer
    }
    expect(await refused(file => (file['product_items'][0].product = 'none'))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'product_items.0.product',
    ])
    expect(await refused(file => file['products'].push({ reference: 'x' }))).toEqual([
      400,
      'MISSING_FIELD',
      'products.4.name',
    ])
    expect(await refused(file => (file['products'][1].colour = 'red'))).toEqual([
      400,
      'INVALID_FIELD',
      'products.1.colour',
    ])
    expect(await refused(file => (file['products'][1].status = 'ACTIVE'))).toEqual([
      400,
      'INVALID_OPERATION',
      'products.1.status',
    ])
    expect(await refused(file => file['features'].push({ ...file['features'][0] }))).toEqual([
      400,
      'INVALID_FIELD',
      'features.2.reference',
    ])
    expect(await refused(file => file['pricing_plans'][0].versions.splice(1, 0, { version: 2 }))).toEqual([
      400,
      'INVALID_FIELD',
      'pricing_plans.0.versions.1.version',
    ])
    const config = (file: Row) => file['pricing_plans'][0].versions[2].pricings[0].items[0].configs[1]
    expect(await refused(file => (config(file).bands[0].amount.currency = 'USD'))).toEqual([
      400,
      'INVALID_FIELD',
      'pricing_plans.0.versions.2.pricings.0.items.0.configs.1.bands.1.amount.currency',
    ])
    const draft = (file: Row) => file['pricing_plans'][0].versions[2]
    expect(await refused(file => (draft(file).pricings[0].pricing_group = 'None'))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'pricing_plans.0.versions.2.pricings.0.pricing_group',
    ])
    expect(await refused(file => draft(file).pricing_groups.push({ name: 'Models' }))).toEqual([
      400,
      'INVALID_FIELD',
      'pricing_plans.0.versions.2.pricing_groups.1.name',
    ])
    expect(await refused(file => (file['format'] = 2))).toEqual([400, 'INVALID_FIELD', 'format'])
    expect(await refused(file => (file['prices'] = []))).toEqual([400, 'INVALID_FIELD', 'prices'])
  })

  test('twice at the same time makes one catalog', async () => {
    const tenant = api.tenants.aTest
    const answers = await Promise.all([apply(tenant, FILE), apply(tenant, FILE)])
    expect(answers.map(({ status }) => status).filter(status => status === 200).length).toBeGreaterThan(0)
    expect(await pull(tenant)).toMatchObject(FILE)
    expect(changed(await apply(tenant, FILE))).toEqual([])
  })
})
