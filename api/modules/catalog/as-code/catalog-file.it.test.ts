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
            meter_properties: [{ reference: 'region', comparator: 'IN', variable: 'europe' }],
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
  meter_property_variables: [{ reference: 'europe', meter_property: 'region', values: ['eu'] }],
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

/** What modules beside and above the catalog have in the file, and what refers to it. */
const MORE = {
  format: 1,
  custom_fields: [
    { reference: 'ledger', resource_type: 'PRODUCT', type: 'ENUM', enum_values: ['4000', '4100'] },
    { reference: 'ledger', resource_type: 'PRICING_PLAN', type: 'STRING', copy_value_to_invoice: true },
  ],
  credit_types: [{ reference: 'tokens', name: 'Tokens', status: 'ACTIVE' }],
  product_categories: [{ reference: 'tools', name: 'Tools' }],
  products: [
    {
      reference: 'tool',
      name: 'Tool',
      category: 'tools',
      status: 'ACTIVE',
      custom_fields: [{ reference: 'ledger', value: '4100' }],
    },
  ],
  product_items: [{ reference: 'seat', name: 'Seat', product: 'tool', status: 'ACTIVE', model_type: 'RECURRING' }],
  wallet_types: [
    {
      reference: 'prepaid',
      name: 'Prepaid',
      status: 'ACTIVE',
      type: 'CREDIT',
      credit: { grant_type: 'CREDITS', credits_grant: { credit_type: 'tokens' } },
    },
  ],
  pricing_plans: [
    {
      reference: 'world',
      custom_fields: [{ reference: 'ledger', value: 'A1' }],
      pricing_plan_selection_rules: [
        { type: 'RESOURCE', resource: { type: 'CUSTOMER', field: 'COUNTRY', comparator: 'NOT_IN', values: ['US'] } },
      ],
      versions: [
        {
          version: 1,
          status: 'ACTIVE',
          pricing_currency_settings: { pricing_currencies: ['EUR', 'USD'], default_pricing_currency: 'USD' },
          billing_period_settings: { billing_periods: [{ period: { type: 'YEAR', value: 1 }, description: 'Yearly' }] },
          pricings: [
            {
              name: 'Seats',
              products: ['tool'],
              items: [
                {
                  product_items: ['seat'],
                  pricing_currency_configs: ['EUR', 'USD'].map(currency => ({
                    currency,
                    billing_period_configs: [
                      {
                        billing_period: { type: 'YEAR', value: 1 },
                        configs: [
                          {
                            pricing_type: 'FIXED',
                            bands: [{ fixed_amount: { quantity: '100', currency } }],
                            wallet_grants: [
                              {
                                wallet_type: 'prepaid',
                                credits_grant: { credits: { quantity: '50', credit_type: 'tokens' } },
                              },
                            ],
                          },
                        ],
                      },
                    ],
                  })),
                },
              ],
            },
          ],
        },
      ],
    },
  ],
  coupons: [
    {
      reference: 'welcome',
      name: 'Welcome',
      status: 'ACTIVE',
      discount: { type: 'PERCENTAGE', percentage: '10' },
      duration: { type: 'FOREVER' },
      limited_to: { product_categories: ['tools'], products: ['tool'], product_items: ['seat'] },
    },
  ],
  promotion_codes: [{ reference: 'SPRING', coupon: 'welcome', status: 'ACTIVE', maximum_redemptions: 10 }],
}

describe('a file with custom fields, wallet types, variants, coupons and promotion codes', () => {
  test('is what is pulled, changes nothing a second time, and makes the same catalog elsewhere', async () => {
    const [tenant, other] = [api.tenants.bTest, api.tenants.aTest]
    const applied = await apply(tenant, MORE)
    expect(refusal(applied)).toEqual([200, undefined, undefined])
    expect(changed(applied)).toContain('CREATE custom_fields PRICING_PLAN ledger')
    const pulled = await pull(tenant)
    expect(pulled).toMatchObject(MORE)
    expect(JSON.stringify(pulled)).not.toMatch(/"[a-z]{4}_[0-9A-Za-z]{10,}"/)
    expect(changed(await apply(tenant, MORE))).toEqual([])
    expect(changed(await apply(tenant, pulled))).toEqual([])
    expect(changed(await apply(other, pulled))).toEqual(changed(applied))
    expect(changed(await apply(other, pulled))).toEqual([])
  })

  test('changes values of custom fields and coupons, and is refused where they are fixed', async () => {
    const tenant = api.tenants.bTest
    const file = JSON.parse(JSON.stringify(MORE)) as Row
    file['products'][0].custom_fields[0].value = '4000'
    file['coupons'][0].description = 'Ten percent.'
    expect(changed(await apply(tenant, file))).toEqual(['UPDATE products tool', 'UPDATE coupons welcome'])
    file['products'][0].custom_fields[0].value = '9'
    expect(refusal(await apply(tenant, file)).slice(0, 2)).toEqual([400, 'INVALID_FIELD'])
    const fixed = JSON.parse(JSON.stringify(MORE)) as Row
    fixed['promotion_codes'][0].maximum_redemptions = 11
    expect(refusal(await apply(tenant, fixed)).slice(1)).toEqual([
      'INVALID_FIELD',
      'promotion_codes.0.maximum_redemptions',
    ])
  })

  test('leaves out a promotion code that is limited to customers', async () => {
    const tenant = api.tenants.bTest
    const [{ id }] = (await tenant.call('GET', '/v1/coupons')).body['data']
    const customer = await tenant.call('POST', '/v1/customers', { type: 'ORGANIZATION' })
    await tenant.call('POST', '/v1/promotion-codes', {
      coupon_id: id,
      code: 'ONLYYOU',
      limited_to: { customer_ids: [customer.body['id']] },
    })
    expect((await pull(tenant))['promotion_codes'].map((each: Row) => each['reference'])).toEqual(['SPRING'])
  })
})
