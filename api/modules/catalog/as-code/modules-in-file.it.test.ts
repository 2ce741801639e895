// What modules beside and above the catalog have in the file: custom fields, wallet types, variants, coupons and promotion codes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { apply, changed, pull } from './testing/catalog-file.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

/** What those modules have in the file, and what refers to it. */
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
    const other = api.tenants.bLive
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
