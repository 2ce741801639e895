// Whole versions tried for a made-up customer, against figures worked out with a pencil: each line is the price, what was used, and the
// sum that the rules of semantics 3.2, 5.4 and 5.5 give.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogOf } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { productItemResource } from '../../catalog/products/product.ts'

let api: ApiHarness
let a: TestTenant
let catalog: ReturnType<typeof catalogOf>
let seller: Row
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  catalog = catalogOf(a)
  const reference = a.seed.unique('seller')
  seller = await post('billing-entities', { reference, legal_name: 'Seller', registered_address: { country: 'NL' } })
})
afterAll(() => api?.close())

async function post(path: string, body: object): Promise<Row> {
  const answer = await a.call('POST', `/v1/${path}`, body)
  if (answer.status !== 200 && answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

type Used = { readonly number?: string; readonly money?: string; readonly count?: string }
/** What is sold, what was used of it (null: nothing is metered), and the line's amount without tax. */
type Line = readonly [model: string, config: object, used: Used | null, net: string]
type Case = {
  readonly currency: string
  readonly country: string
  readonly plan?: object
  readonly lines: readonly Line[]
  /** Of each invoice: without tax, the tax, and together. */
  readonly totals: readonly (readonly [net: string, tax: string, gross: string])[]
}

/** Lines of the invoices, by item, and their totals. */
async function billed({ currency, country, plan = {}, lines }: Case) {
  const { id: pricing_plan_id } = await post('pricing-plans', { reference: a.seed.unique('rich'), ...plan })
  const version = await post('pricing-plan-versions', { pricing_plan_id })
  const meter_values: object[] = []
  const items: string[] = []
  for (const [model_type, config, used] of lines) {
    const item =
      used === null
        ? await catalog.itemOf({ model_type })
        : used.money === undefined
          ? await a.seed.make(productItemResource)
          : await catalog.moneyItem()
    const { status, body } = await catalog.price(item, config, version)
    if (status !== 201) throw new Error(JSON.stringify(body))
    items.push(item['id'])
    if (used === null) continue
    const { money, ...rest } = used
    const amount = money === undefined ? {} : { amount: { quantity: money, currency } }
    meter_values.push({ pricing_item_config_id: body['items'][0].configs[0].id, ...rest, ...amount })
  }
  const { invoices } = (await post(`pricing-plan-versions/${version['id']}/calculate`, {
    billing_entity_id: seller['id'],
    start_at: '2026-03-01T00:00:00Z',
    customer: { country, type: 'INDIVIDUAL' },
    meter_values,
  })) as unknown as { invoices: Row[] }
  const all = invoices.flatMap(invoice =>
    (invoice['periods'] as Row[]).flatMap(({ groups }) => (groups as Row[]).flatMap(group => group['lines'] as Row[])),
  )
  return {
    lines: items.map(id => {
      const line = all.find(each => (each['product_items'] as Row[]).some(item => item['id'] === id))
      return line?.['amount_excluding_tax'].quantity ?? 'no line'
    }),
    totals: invoices.map(({ invoice_amount_excluding_tax: net, tax_summary, invoice_amount_including_tax: gross }) =>
      [net, tax_summary.tax_amount, gross].map(({ quantity }) => quantity),
    ),
  }
}

const money = (currency: string) => (quantity: string) => ({ quantity, currency })
const eur = money('EUR')
const jpy = money('JPY')
const to = (number: string) => ({ tier_top_bound: { number } })
const block = (number: string) => ({ block_size: { number } })

const METERED: Case = {
  currency: 'EUR',
  country: 'NL',
  lines: [
    [
      'RECURRING',
      { pricing_type: 'FIXED', billing_in_advance: true, bands: [{ fixed_amount: eur('49') }] },
      null,
      '49.00',
    ],
    // 5 + 1000 x 0.10 + 9000 x 0.08 + 2345.5 x 0.05 = 5 + 100 + 720 + 117.275 = 942.275, half a cent up.
    [
      'USAGE_BASED',
      {
        pricing_type: 'TIERED',
        bands: [
          { fixed_amount: eur('5'), amount: eur('0.10'), ...to('1000') },
          { amount: eur('0.08'), ...to('10000') },
          { amount: eur('0.05') },
        ],
      },
      { number: '12345.5' },
      '942.28',
    ],
    // 33.333 x 0.015 = 0.499995, below the minimum.
    [
      'USAGE_BASED',
      { pricing_type: 'FLAT', bands: [{ amount: eur('0.015'), ...block('1000'), minimum_amount: eur('2') }] },
      { number: '33333' },
      '2.00',
    ],
    // Three whole blocks.
    [
      'USAGE_BASED',
      { pricing_type: 'FLAT_TOP_UP', top_up: { rollover: true }, bands: [{ amount: eur('10'), ...block('1000') }] },
      { number: '2300' },
      '30.00',
    ],
    // 1.4 % of 3000 = 42, and 12 x 0.25 = 3.
    [
      'USAGE_BASED',
      { pricing_type: 'FLAT', bands: [{ percentage: '1.4', amount: eur('0.25') }] },
      { money: '3000', count: '12' },
      '45.00',
    ],
    // 2 % of 1000 = 20, and 1 % of 2333.33 = 23.3333.
    [
      'USAGE_BASED',
      {
        pricing_type: 'TIERED',
        bands: [{ percentage: '2', tier_top_bound: { amount: eur('1000') } }, { percentage: '1' }],
      },
      { money: '3333.33' },
      '43.33',
    ],
  ],
  // 49 x 21 % = 10.29. Then 942.28 + 2 + 30 + 45 + 43.33 = 1062.61, and 21 % of that is 223.1481.
  totals: [
    ['49.00', '10.29', '59.29'],
    ['1062.61', '223.15', '1285.76'],
  ],
}

const TAX_IN_PRICES: Case = {
  currency: 'EUR',
  country: 'NL',
  plan: { amount_type: 'INCLUDING_TAX' },
  lines: [
    // 99.99 / 1.21 = 82.6364
    ['RECURRING', { pricing_type: 'FIXED', bands: [{ fixed_amount: eur('99.99') }] }, null, '82.64'],
    // Both steps: 25 + 20 = 45; 45 / 1.21 = 37.1901
    [
      'USAGE_BASED',
      {
        pricing_type: 'STAIR_STEP',
        step_accumulation: 'STEPS_REACHED',
        bands: [{ fixed_amount: eur('25'), ...to('100') }, { fixed_amount: eur('20') }],
      },
      { number: '200' },
      '37.19',
    ],
    // One unit past the bound prices all of them: 1001 x 0.0968 = 96.8968; / 1.21 = 80.08
    [
      'USAGE_BASED',
      { pricing_type: 'TOP_TIERED', bands: [{ amount: eur('0.121'), ...to('1000') }, { amount: eur('0.0968') }] },
      { number: '1001' },
      '80.08',
    ],
  ],
  // 99.99 + 45 + 96.8968 = 241.8868 with tax, of which 82.64 + 37.19 + 80.08 = 199.91 is not tax.
  totals: [['199.91', '41.98', '241.89']],
}

const WHOLE_YEN: Case = {
  currency: 'JPY',
  country: 'JP',
  lines: [
    // 120 000 a year is 10 000 a month.
    [
      'RECURRING',
      {
        pricing_type: 'FIXED',
        pricing_period: { type: 'YEAR', value: 1 },
        bands: [{ fixed_amount: jpy('120000') }],
      },
      null,
      '10000',
    ],
    // Ten blocks of 10 at 500 and 90 at 300: 5000 + 27 000.
    [
      'USAGE_BASED',
      {
        pricing_type: 'TIERED_TOP_UP',
        bands: [
          { amount: jpy('500'), ...block('10'), ...to('100') },
          { amount: jpy('300'), ...block('10') },
        ],
      },
      { number: '1000' },
      '32000',
    ],
    // 12 345 x 0.123 = 1518.435
    ['USAGE_BASED', { pricing_type: 'FLAT', bands: [{ amount: jpy('0.123') }] }, { number: '12345' }, '1518'],
    // At most 1000 units are paid.
    [
      'USAGE_BASED',
      { pricing_type: 'FLAT', bands: [{ amount: jpy('7'), maximum_number: '1000' }] },
      { number: '1500' },
      '7000',
    ],
    // 500 of 750 are included: 250 x 2.
    [
      'USAGE_BASED',
      { pricing_type: 'FLAT', default_included_volume: { number: '500' }, bands: [{ amount: jpy('2') }] },
      { number: '750' },
      '500',
    ],
    // Four payments of 25 000: 1.5 % is 375 each, between 30 and 500.
    [
      'USAGE_BASED',
      {
        pricing_type: 'FLAT',
        rate_per: 'EVENT',
        bands: [{ percentage: '1.5', minimum_amount: jpy('30'), maximum_amount: jpy('500') }],
      },
      { money: '100000', count: '4' },
      '1500',
    ],
    // 10 001 passed on, and 5 % on top: 10 501.05
    ['USAGE_BASED', { pricing_type: 'PASS_THROUGH', bands: [{ percentage: '5' }] }, { money: '10001' }, '10501'],
  ],
  // An export: no tax. 10 000 + 32 000 + 1518 + 7000 + 500 + 1500 + 10 501
  totals: [['63019', '0', '63019']],
}

test.each<[string, Case]>([
  ['metered prices without tax, half paid ahead', METERED],
  ['prices that contain the tax', TAX_IN_PRICES],
  ['a currency without decimals, exported', WHOLE_YEN],
])('%s', async (_name, of) => {
  const found = await billed(of)
  expect(found.lines).toEqual(of.lines.map(([, , , net]) => net))
  expect(found.totals).toEqual(of.totals)
})
