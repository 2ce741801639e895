// The catalog as a file: pulled, planned, applied, applied again, and applied to a platform that has nothing yet.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eur, refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
})
afterAll(() => api?.close())

const TIERS = [
  { amount: eur('0.10'), tier_top_bound: { number: '1000' } },
  { amount: eur('0.08'), fixed_amount: eur('5') },
]
const priced = (price: string) => ({
  name: 'Usage',
  products: ['inference'],
  items: [
    {
      product_items: ['tokens'],
      configs: [
        {
          pricing_type: 'FLAT',
          bands: [{ amount: eur(price), block_size: { number: '1000' } }],
          conditions: {
            name: 'Europe',
            meter_properties: [{ reference: 'region', comparator: 'IN', values: ['eu'] }],
          },
        },
        {
          pricing_type: 'TIERED',
          bands: TIERS,
          default_included_volume: { number: '100' },
          split_pricing: { meter_properties: [{ reference: 'region' }] },
        },
      ],
    },
    {
      product_items: ['fee'],
      configs: [{ pricing_type: 'FIXED', billing_in_advance: true, bands: [{ fixed_amount: eur('100') }] }],
    },
  ],
  entitlements: [
    { feature_reference: 'sso', switch: false },
    { feature_reference: 'calls', number: '1000', override: true },
  ],
})
/** Every section, and every status that an entry can be brought to. */
const FILE = {
  format: 1,
  meter_values: [{ reference: 'tokens', name: 'Tokens', type: 'NUMBER', status: 'ACTIVE' }],
  meter_properties: [
    { reference: 'region', name: 'Region', type: 'ENUM', enum_values: ['eu', 'us'], status: 'ACTIVE' },
  ],
  meters: [
    {
      reference: 'inference',
      status: 'ACTIVE',
      meter_values: [{ reference: 'tokens', required: true }],
      meter_properties: [{ reference: 'region', required: true }],
    },
  ],
  meter_value_calculations: [
    { reference: 'tokens_sum', calculation_type: 'SUM', meter: 'inference', meter_value: 'tokens' },
  ],
  features: [
    { reference: 'sso', type: 'SWITCH' },
    { reference: 'calls', type: 'NUMBER', meter_value_calculation: 'tokens_sum' },
  ],
  credit_types: [{ reference: 'credits', name: 'Credits', status: 'INACTIVE' }],
  product_categories: [{ reference: 'ai', name: 'AI', display_order: 1 }],
  products: [
    { reference: 'inference', name: 'Inference', category: 'ai', status: 'ACTIVE' },
    { reference: 'old', name: 'Old', status: 'ARCHIVED' },
    { reference: 'legacy', name: 'Legacy', status: 'DEPRECATED' },
    {
      reference: 'support',
      name: 'Support',
      product_type: 'ADDON',
      parent_product: 'inference',
      features: [{ reference: 'sso' }],
      status: 'ACTIVE',
    },
  ],
  product_items: [
    {
      reference: 'tokens',
      name: 'Tokens',
      product: 'inference',
      status: 'ACTIVE',
      model_type: 'USAGE_BASED',
      usage_based: { meter_value_calculation: 'tokens_sum' },
      unit_name: { singular: 'token', plural: 'tokens' },
    },
    { reference: 'care', name: 'Care', product: 'legacy', status: 'DEPRECATED', model_type: 'RECURRING' },
    { reference: 'fee', name: 'Fee', product: 'inference', status: 'ACTIVE', model_type: 'RECURRING' },
  ],
  pricing_plans: [
    {
      reference: 'standard',
      name: 'Standard',
      versions: [
        { version: 1, status: 'DEPRECATED', pricings: [priced('0.015')] },
        { version: 3, status: 'ACTIVE', pricings: [priced('0.012')] },
        {
          version: 4,
          status: 'DRAFT',
          pricing_groups: [{ name: 'Models', product_type: 'DEFAULT', selection_constraint: 'AT_MOST_ONE' }],
          pricings: [{ pricing_group: 'Models', ...priced('0.010') }],
        },
      ],
    },
    {
      reference: 'card',
      variant: 'RATE_CARD',
      versions: [
        {
          version: 1,
          status: 'ACTIVE',
          rate_card: { start_at: '2026-01-01T00:00:00Z' },
          pricings: [priced('0.015')],
        },
        { version: 2, status: 'DRAFT', rate_card: { start_at: '2026-07-01T00:00:00Z' }, pricings: [priced('0.012')] },
      ],
    },
    {
      reference: 'pro',
      name: 'Pro',
      amount_type: 'INCLUDING_TAX',
      versions: [
        {
          version: 1,
          status: 'ARCHIVED',
          pricings: [
            {
              name: 'Care',
              products: ['legacy'],
              items: [
                { product_items: ['care'], configs: [{ pricing_type: 'FIXED', bands: [{ fixed_amount: eur('9') }] }] },
              ],
            },
          ],
        },
      ],
    },
  ],
  pricing_plan_groups: [{ reference: 'ladder', status: 'ACTIVE', pricing_plans: ['standard', 'pro'] }],
}
const copyOf = (): Row => JSON.parse(JSON.stringify(FILE))
const apply = (tenant: TestTenant, file: object) => tenant.call('POST', '/v1/catalog/apply', file)
const plan = (tenant: TestTenant, file: object) => tenant.call('POST', '/v1/catalog/plan', file)
const pull = async (tenant: TestTenant): Promise<Row> => (await tenant.call('GET', '/v1/catalog')).body
const changed = ({ body }: { body: Row }) =>
  body['changes'].map((each: Row) => `${each['action']} ${each['section']} ${each['reference']}`)

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
    expect(changed(applied)).toHaveLength(25)

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
    expect(JSON.stringify(pulled)).not.toMatch(/"(metr|metv|metp|bmet|prod|proi|pric|ppve|prii|pico|feat)_/)
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
      'pricings.0.items',
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
