import { expect, test } from 'vitest'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import { coupon } from '../testing/example-coupons.ts'
import { eur, exampleInputs, metered } from '../testing/example-inputs.ts'
import { changedTermsOf, isCorrectedByNewRules, newInCorrections, ruleChanges, rulesMayDiffer } from './rule-changes.ts'

const finding = (details: string) => JSON.stringify({ status: 'ERROR', details })
const changed = (field: string, issued: string | null, computed: string | null) => ({ field, issued, computed })
const findings = (details: string) => changed('content.validation_result.0', null, finding(details))

test.each([
  [
    'the tax of a self-billing invoice',
    'SELF_BILLING',
    changed('content.tax_categories.0.percentage', '21', '19'),
    'as the supplier',
  ],
  [
    'an exchange rate that is too old',
    'DEFAULT',
    findings('The exchange rate of EUR and USD is of 2026-01-01.'),
    '31 days',
  ],
  [
    'a country without a rate',
    'DEFAULT',
    findings('No tax rate of CH is known for 2026-01-31.'),
    'tax rate is not known',
  ],
] as const)('%s is explained by the rule that changed', (_name, billing_type, difference, text) => {
  expect(
    ruleChanges({ billing_type, configs: [], coupons: [], late: [] }, [changed('lines', '[]', '[1]'), difference]),
  ).toEqual([expect.stringContaining(text)])
})

test.each([
  ['the tax of any other invoice', 'DEFAULT', changed('content.tax_categories.0.percentage', '21', '19')],
  ['a line of a self-billing invoice', 'SELF_BILLING', changed('lines', '[]', '[1]')],
  [
    'a finding that the invoice was issued with',
    'DEFAULT',
    changed('content.validation_result.0.details', finding('No tax rate of CH.'), finding('No tax rate of CH, now.')),
  ],
] as const)('%s is not', (_name, billing_type, difference) => {
  expect(ruleChanges({ billing_type, configs: [], coupons: [], late: [] }, [difference])).toEqual([])
})

test.each([
  ['of 1', { block_size: { number: '1' } }, 1],
  ['of 1.0, of money', { block_size: { amount: { quantity: '1.0', currency: 'EUR' } } }, 1],
  ['of 2', { block_size: { number: '2' } }, 0],
  ['left out', {}, 0],
])('a line of a price whose last step has a block size %s', (_name, last, explained) => {
  const fee = { fixed_amount: { quantity: '9', currency: 'EUR' } }
  const bands = [
    { ...fee, tier_top_bound: { number: '50' } },
    { ...fee, ...last },
  ]
  const rulesOf = (pricing_type: string, field = 'lines.0.amount') =>
    ruleChanges({ billing_type: 'DEFAULT', configs: [{ pricing_type, bands }], coupons: [], late: [] }, [
      changed(field, '18', '27'),
    ])
  expect(rulesOf('STAIR_STEP_TOP_UP')).toHaveLength(explained)
  expect(rulesOf('FLAT_TOP_UP')).toEqual([])
  expect(rulesOf('STAIR_STEP_TOP_UP', 'content.customer.name')).toEqual([])
})

const ten = { quantity: '10', currency: 'EUR' }
test.each([
  ['an amount on a product', { type: 'AMOUNT', amount: ten }, { product_ids: ['prod_1'] }, 1],
  [
    'a percentage of a product under a condition',
    { type: 'PERCENTAGE', percentage: '10', condition: { comparator: 'GREATER_THAN', value: { amount: ten } } },
    { product_ids: ['prod_1'] },
    1,
  ],
  ['a percentage of a product', { type: 'PERCENTAGE', percentage: '10' }, { product_ids: ['prod_1'] }, 0],
  ['an amount on the total', { type: 'AMOUNT', amount: ten }, null, 0],
  ['an amount on the total, until an end that moved', { type: 'AMOUNT', amount: ten }, null, 1, true],
] as const)('a line of an invoice with a coupon of %s', (...[, discount, limited_to, explained, endMoved = false]) => {
  const limits = limited_to === null ? null : { product_ids: [...limited_to.product_ids] }
  const coupons = [{ discount, limited_to: limits, endMoved }]
  const rulesOf = (field: string) =>
    ruleChanges({ billing_type: 'DEFAULT', configs: [], coupons, late: [] }, [changed(field, '-20', '-10')])
  expect(rulesOf('lines.1.amount_excluding_tax')).toHaveLength(explained)
  expect(rulesMayDiffer({ billing_type: 'DEFAULT', coupons })).toBe(explained === 1)
  expect(rulesMayDiffer({ billing_type: 'SELF_BILLING', coupons: [] })).toBe(true)
  expect(rulesOf('content.customer.name')).toEqual([])
})

test.each([
  ['a percentage on a price', { pricing_item_configs: [{ ids: ['pico_1'], percentage: '10' }] }, 1],
  ['an amount on a price', { pricing_item_configs: [{ ids: ['pico_1'], amount: ten }] }, 0],
  ['a percentage on the total', { totals: [{ percentage: '10' }] }, 0],
])('a line of an invoice with late usage under %s', (_name, discount, explained) => {
  const rulesOf = (late: readonly { discount: typeof discount }[], field = 'lines.1.amount_excluding_tax') =>
    ruleChanges({ billing_type: 'DEFAULT', configs: [], coupons: [], late }, [changed(field, '-0.01', '-0.02')])
  expect(rulesOf([{ discount }])).toHaveLength(explained)
  expect(rulesOf([])).toEqual([])
  expect(rulesOf([{ discount }], 'content.customer.name')).toEqual([])
})

test('a correction keeps to the rule of coupons by which its invoice was issued, and names the others', () => {
  const discount = { type: 'AMOUNT' as const, amount: ten }
  const coupons = [{ discount, limited_to: { product_ids: ['prod_1'] }, endMoved: false }]
  const month = [{ discount, limited_to: null, endMoved: true }]
  const invoice = { billing_type: 'SELF_BILLING', configs: [], coupons, late: [] } as const
  const changes = ruleChanges(invoice, [changed('lines.0.amount', '1', '2'), changed('tax_amount', '1', '2')])
  expect(changes).toEqual([
    expect.stringContaining('as the supplier'),
    expect.stringContaining('A coupon on some things'),
  ])
  expect(newInCorrections(changes)).toEqual([expect.stringContaining('as the supplier')])
  const steps = [{ pricing_type: 'STAIR_STEP_TOP_UP', bands: [{}, { block_size: { number: '1' } }] }]
  const percentage = [{ discount: { pricings: [{ ids: ['prcg_1'], percentage: '10' }] } }]
  expect([
    isCorrectedByNewRules({ billing_type: 'DEFAULT', configs: [], coupons, late: [] }),
    isCorrectedByNewRules({ billing_type: 'SELF_BILLING', configs: [], coupons: [], late: [] }),
    isCorrectedByNewRules({ billing_type: 'DEFAULT', configs: steps, coupons: [], late: [] }),
    isCorrectedByNewRules({ billing_type: 'DEFAULT', configs: [], coupons: month, late: [] }),
    isCorrectedByNewRules({ billing_type: 'DEFAULT', configs: [], coupons: [], late: percentage }),
  ]).toEqual([false, true, true, true, true])
})

const START = '2026-01-01T00:00:00Z'
const PAUSE = { type: 'PAUSE', start_at: '2026-01-11T00:00:00Z', end_at: '2026-01-21T00:00:00Z' } as const
const ONCE = coupon({ duration: { type: 'ONE_TIME' } })
const INCLUDED = { default_included_volume: { number: '100' } }
/** A schedule with these terms, and what it continues as. */
function termsOf({
  paused = false,
  schedule = {},
  config = {},
  carried = [] as readonly AppliedCoupon[],
  seated = false,
}) {
  const seats = { item: { model_type: 'PER_SEAT' }, bands: [{ amount: eur('1') }] } as const
  const inputs = exampleInputs({
    start: START,
    items: [metered([{ amount: eur('1') }], config), ...(seated ? [seats] : [])],
    ...(paused ? { subscription: { inactive_periods: [PAUSE] } } : {}),
    schedules: [{ coupons: carried, ...schedule }],
  })
  const [first] = inputs.schedules
  if (!first) throw new Error('there is a schedule')
  const next = { ...first, id: 'schedule1', coupons: carried.map(each => ({ ...each, start_at: START })) }
  return changedTermsOf([{ inputs: { ...inputs, schedules: [first, next] }, configs: [config] }])
}

test.each([
  ['usage that is included while paused', { paused: true, config: INCLUDED }, 'days of a pause', true],
  ['usage that is included', { config: INCLUDED }, null, false],
  ['a pause', { paused: true }, null, false],
  [
    'a minimum of the whole invoice',
    { schedule: { commitment: { totals: [{ amount: eur('9') }] } } },
    'A minimum of the whole',
    true,
  ],
  [
    'seats and a coupon for one invoice',
    { seated: true, schedule: { coupons: [ONCE] } },
    'that charged no seats',
    true,
  ],
  ['seats and a coupon that lasts', { seated: true, schedule: { coupons: [coupon()] } }, null, false],
  ['a coupon for one invoice', { schedule: { coupons: [ONCE] } }, null, false],
  ['a coupon that a later schedule took along', { carried: [coupon()] }, 'took along', false],
])('a line of an invoice with %s', (_name, given, text, isCorrected) => {
  const invoice = { billing_type: 'DEFAULT', configs: [], coupons: [], late: [], changed: termsOf(given) } as const
  const changes = ruleChanges(invoice, [changed('lines.0.amount_excluding_tax', '1', '2')])
  expect(changes).toEqual(text === null ? [] : [expect.stringContaining(text)])
  expect(rulesMayDiffer(invoice)).toBe(text !== null)
  expect(isCorrectedByNewRules(invoice)).toBe(isCorrected)
  expect(newInCorrections(changes)).toHaveLength(isCorrected ? 1 : 0)
  expect(ruleChanges(invoice, [changed('content.customer.name', 'a', 'b')])).toEqual([])
})
