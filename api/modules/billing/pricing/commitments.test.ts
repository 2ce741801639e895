// Markups and minimums of schedules on invoices: which lines they make, from what, and the resulting totals.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, max, plain, sum } from '../../../../shared/decimal.ts'
import type { AppliedCoupon } from '../../subscriptions/coupons/schema.ts'
import type { ScheduleInput } from '../terms/billing-inputs.ts'
import { closeInTurn } from '../testing/example-closing.ts'
import { type Example, eur, exampleInputs, exampleInvoices, metered, recurring } from '../testing/example-inputs.ts'
import type { PricedInvoice } from './price-invoice.ts'

const START = '2026-01-01T00:00:00Z'
type Clauses = Partial<Pick<ScheduleInput, 'discount' | 'markup' | 'commitment'>>
type Of = Partial<Example> & { readonly clauses: Clauses; readonly usage?: string; readonly count?: number }

const invoiceOf = ({ clauses, usage = '0', count = 1, ...example }: Of) =>
  exampleInvoices(
    exampleInputs({ start: START, items: [PER_UNIT], ...example, schedules: [clauses] }),
    count,
    usage,
  ).at(-1)

/** Every line with its type and amount. */
const shown = (invoice: Pick<PricedInvoice['columns'], 'content'> | undefined): string[] =>
  (invoice?.content.periods ?? []).flatMap(({ groups }) =>
    groups.flatMap(group =>
      group.lines.map(line => `${line.type} ${line.description}: ${line.amount_excluding_tax.quantity}`),
    ),
  )
const linesOf = (invoice: Pick<PricedInvoice['columns'], 'content'> | undefined) =>
  invoice?.content.periods.flatMap(({ groups }) => groups.flatMap(group => group.lines)) ?? []

test.each([
  ['ended before its schedule began', { start_at: '2025-01-01T00:00:00Z', end_at: '2025-06-01T00:00:00Z' }],
  ['ends where its schedule begins', { start_at: '2025-01-01T00:00:00Z', end_at: START }],
  ['would begin after its schedule was ended', { start_at: '2026-02-01T00:00:00Z' }],
])('a minimum of the whole invoice that %s is none, and the usage is charged', (_title, times) => {
  const commitment = { totals: [{ amount: eur('100'), ...times }] }
  const schedules = [{ commitment, end_at: '2026-01-20T00:00:00Z' }]
  const inputs = exampleInputs({ start: START, items: [PER_UNIT], schedules })
  expect(exampleInvoices(inputs, 1, '10').flatMap(invoice => shown(invoice))).toEqual(['REVENUE Tokens: 10.00'])
})

/** One euro per unit. */
const PER_UNIT = metered([{ amount: eur('1') }])
/** 2.00 up to 100, then 1.00. */
const TIERS = metered([{ amount: eur('2'), tier_top_bound: { number: '100' } }, { amount: eur('1') }], {
  pricing_type: 'TIERED',
})
const onConfig = (more: object) => ({ ids: ['config0'], ...more })

// semantics 5.4: line 80, discount 10 % → 72, commitment 100 → true-up 28.
const EXAMPLES: readonly [title: string, of: Of, lines: readonly string[]][] = [
  [
    'what is missing after a discount is charged',
    {
      usage: '80',
      clauses: {
        discount: { pricing_item_configs: [onConfig({ percentage: '10' })] },
        commitment: { pricing_item_configs: [onConfig({ amount: eur('100') })] },
      },
    },
    ['REVENUE Tokens: 80.00', 'DISCOUNT Discount of 10 %: -8.00', 'COMMITMENT Minimum: 28.00'],
  ],
  [
    'nothing is charged where the minimum is reached',
    { usage: '100', clauses: { commitment: { pricing_item_configs: [onConfig({ amount: eur('100') })] } } },
    ['REVENUE Tokens: 100.00'],
  ],
  [
    'all of it where nothing was used',
    { usage: '0', clauses: { commitment: { pricings: [{ ids: ['pricing'], amount: eur('100') }] } } },
    ['COMMITMENT Minimum: 100.00'],
  ],
  [
    'missing units cost what they would after those that were used',
    {
      usage: '60',
      items: [TIERS],
      clauses: {
        commitment: { pricing_item_configs: [onConfig({ meter_value_calculation: { number: '150' } })] },
      },
    },
    // 40 at 2.00 and 50 at 1.00.
    ['REVENUE Tokens: 120.00', 'COMMITMENT Minimum: 130.00'],
  ],
  [
    'a narrow one counts towards a wider one',
    {
      usage: '10',
      items: [PER_UNIT, recurring('20')],
      clauses: {
        commitment: {
          pricing_item_configs: [onConfig({ amount: eur('30') })],
          pricings: [{ ids: ['pricing'], amount: eur('60') }],
          totals: [{ amount: eur('75') }],
        },
      },
    },
    [
      'REVENUE Tokens: 10.00',
      'REVENUE Tokens: 20.00',
      'COMMITMENT Minimum: 20.00',
      'COMMITMENT Minimum: 10.00',
      'COMMITMENT Minimum on the total: 15.00',
    ],
  ],
  [
    'of two minimums of the same price the larger is owed',
    {
      usage: '10',
      clauses: {
        commitment: { pricing_item_configs: [onConfig({ amount: eur('100') }), onConfig({ amount: eur('150') })] },
      },
    },
    ['REVENUE Tokens: 10.00', 'COMMITMENT Minimum: 140.00'],
  ],
  [
    // 9 days of 310, and 22 of 620.
    'of two minimums of an invoice that overlap in time the larger is owed of each day',
    {
      clauses: {
        commitment: {
          totals: [
            { amount: eur('310'), end_at: '2026-01-20T00:00:00Z' },
            { amount: eur('620'), start_at: '2026-01-10T00:00:00Z' },
          ],
        },
      },
    },
    ['COMMITMENT Minimum on the total: 530.00'],
  ],
  [
    'the minimum of the invoice applies to what is owed after discounts on the total',
    {
      usage: '100',
      clauses: { discount: { totals: [{ percentage: '50' }] }, commitment: { totals: [{ amount: eur('80') }] } },
    },
    [
      'REVENUE Tokens: 100.00',
      'DISCOUNT Discount of 50 % on the total: -50.00',
      'COMMITMENT Minimum on the total: 30.00',
    ],
  ],
  [
    'a minimum is prorated by the days of a partial period',
    {
      start: '2026-03-17T00:00:00Z',
      clauses: { commitment: { pricings: [{ ids: ['pricing'], amount: eur('310') }] } },
    },
    ['COMMITMENT Minimum: 150.00'],
  ],
  [
    'the minimum of the invoice is prorated too',
    { start: '2026-03-17T00:00:00Z', clauses: { commitment: { totals: [{ amount: eur('310') }] } } },
    ['COMMITMENT Minimum on the total: 150.00'],
  ],
  [
    'a minimum that applies to a part of the period is due for that part',
    { clauses: { commitment: { totals: [{ amount: eur('310'), end_at: '2026-01-11T00:00:00Z' }] } } },
    ['COMMITMENT Minimum on the total: 100.00'],
  ],
  [
    'a markup is a part of the price, so discounts see it',
    {
      usage: '100',
      clauses: {
        markup: { pricing_item_configs: [onConfig({ percentage: '20' })] },
        discount: { totals: [{ percentage: '10' }] },
      },
    },
    ['REVENUE Tokens: 100.00', 'MARKUP Markup of 20 %: 20.00', 'DISCOUNT Discount of 10 % on the total: -12.00'],
  ],
  [
    'a markup of an amount is charged once a period',
    { usage: '7', clauses: { markup: { pricing_item_configs: [onConfig({ amount: eur('5') })] } } },
    ['REVENUE Tokens: 7.00', 'MARKUP Markup: 5.00'],
  ],
]

describe('markups and minimums of a schedule', () => {
  test.each(EXAMPLES)('%s', (_title, of, lines) => {
    expect(shown(invoiceOf(of))).toEqual(lines)
  })

  test('lines show which clause made them, and from what', () => {
    const clauses = {
      markup: { pricing_item_configs: [onConfig({ percentage: '20' })] },
      commitment: { totals: [{ amount: eur('200') }] },
    }
    const invoice = invoiceOf({ usage: '100', clauses })
    expect(
      linesOf(invoice).map(line => [line.type, line.clause, line.commitment_type, line.details.description]),
    ).toEqual([
      ['REVENUE', undefined, undefined, expect.any(String)],
      ['MARKUP', 'markup.pricing_item_configs.0', undefined, '20 % of 100 EUR'],
      ['COMMITMENT', 'commitment.totals.0', 'TOTAL', 'Up to what is committed, beyond the 120 EUR that were charged'],
    ])
    expect([invoice?.amount_excluding_tax, invoice?.tax_amount]).toEqual(['200', '42'])
  })

  test('an invoice that only charges ahead has no minimum, and what it charged counts for its time', () => {
    const clauses = { commitment: { pricings: [{ ids: ['pricing'], amount: eur('100') }] } }
    const items = [PER_UNIT, recurring('40', { billing_in_advance: true })]
    expect(shown(invoiceOf({ items, clauses, usage: '10' }))).toEqual(['REVENUE Tokens: 40.00'])
    // January: 10 of usage and the 40 that the first invoice charged ahead; 50 are missing.
    expect(shown(invoiceOf({ items, clauses, usage: '10', count: 2 }))).toEqual([
      'REVENUE Tokens: 10.00',
      'COMMITMENT Minimum: 50.00',
      'REVENUE Tokens: 40.00',
    ])
  })

  test('nothing is committed for the days of a pause', () => {
    const pause = { type: 'PAUSE', start_at: '2026-01-11T00:00:00Z', end_at: '2026-01-21T00:00:00Z' } as const
    const subscription = { inactive_periods: [pause] }
    const clauses = { commitment: { pricings: [{ ids: ['pricing'], amount: eur('310') }] } }
    expect(shown(invoiceOf({ items: [recurring('93')], clauses, subscription }))).toEqual([
      'REVENUE Tokens: 63.00',
      'COMMITMENT Minimum: 147.00',
    ])
  })

  // January is charged 30 by its usage and 70 to reach 100.
  test.each<[string, string, string[]]>([
    ['lowers what was added for its period', '20', ['REVENUE Tokens: 20.00', 'COMMITMENT Minimum: -20.00']],
    ['charges what is above the minimum', '90', ['REVENUE Tokens: 90.00', 'COMMITMENT Minimum: -70.00']],
  ])('usage that arrives late %s', (_title, quantity, lines) => {
    const commitment = {
      pricing_item_configs: [{ ids: ['config0'], amount: eur('100'), end_at: '2026-02-01T00:00:00Z' }],
    }
    const inputs = exampleInputs({ start: START, items: [PER_UNIT], schedules: [{ commitment }] })
    const [january, february] = closeInTurn(
      inputs,
      [
        { day: 3, quantity: '30', after: 0 },
        { day: 4, quantity, after: 1 },
      ],
      2,
    )
    expect(shown(january?.columns)).toEqual(['REVENUE Tokens: 30.00', 'COMMITMENT Minimum: 70.00'])
    expect(shown(february?.columns)).toEqual(lines)
  })

  const onPrice = (more: object) => ({ pricing_item_configs: [onConfig({ ...more, end_at: '2026-02-01T00:00:00Z' })] })
  const HALF: AppliedCoupon = {
    ...{ coupon_id: 'half', coupon_name: 'Half', promotion_code_id: null, promotion_code: null, start_at: null },
    discount: { type: 'PERCENTAGE', percentage: '50' },
    duration: { type: 'FOREVER' },
    meter_value_reference: null,
    limited_to: { product_item_ids: ['item0'] },
  }
  const above = (limit: string) => ({ comparator: 'GREATER_THAN', value: { amount: eur(limit) } }) as const
  // 20 in January for January, 160 for it in February, and 40 for it in March: what is owed of it is 100 until more is left of it.
  test.each<[string, Partial<ScheduleInput>, string[], string]>([
    [
      'what a coupon took',
      { commitment: onPrice({ amount: eur('100') }), coupons: [HALF] },
      ['20.00 -10.00 90.00', '160.00 -80.00 -80.00', '40.00 -20.00 -10.00'],
      '110',
    ],
    [
      'what a coupon took beside a percentage',
      { discount: onPrice({ percentage: '10' }), commitment: onPrice({ amount: eur('95') }), coupons: [HALF] },
      ['20.00 -2.00 -9.00 86.00', '160.00 -16.00 -72.00 -72.00', '40.00 -4.00 -18.00 -14.00'],
      '99',
    ],
    [
      'what a discount under a condition took of one invoice',
      { discount: onPrice({ percentage: '50', condition: above('100') }), commitment: onPrice({ amount: eur('120') }) },
      ['20.00 100.00', '160.00 -80.00 -80.00', '40.00 -20.00'],
      '140',
    ],
    [
      'an amount, once and of what there was',
      { discount: onPrice({ amount: eur('30') }), commitment: onPrice({ amount: eur('180') }) },
      ['20.00 -20.00 180.00', '160.00 -160.00', '40.00 -20.00'],
      '200',
    ],
  ])('usage that arrives late twice counts towards its minimum after %s', (_title, schedule, lines, owed) => {
    const inputs = exampleInputs({ start: START, items: [PER_UNIT], schedules: [schedule] })
    const events = [
      { day: 3, quantity: '20', after: 0 },
      { day: 4, quantity: '160', after: 1 },
      { day: 5, quantity: '40', after: 2 },
    ]
    const invoices = closeInTurn(inputs, events, 3)
    const amounts = invoices.map(({ columns }) => linesOf(columns).map(line => line.amount_excluding_tax.quantity))
    expect(amounts.map(each => each.join(' '))).toEqual(lines)
    expect(plain(sum(amounts.flat().map(decimal)))).toBe(owed)
  })

  const twoMinimums = (narrow: string, wide: string, during: { end_at?: string } = {}) => ({
    commitment: {
      pricing_item_configs: [{ ids: ['config0'], amount: eur(narrow), ...during }],
      pricings: [{ ids: ['pricing'], amount: eur(wide), ...during }],
    },
  })

  test('usage that arrives late counts towards a narrow minimum and a wider one, each of which is charged once', () => {
    const january = { end_at: '2026-02-01T00:00:00Z' }
    const clauses = twoMinimums('100', '150', january)
    const inputs = exampleInputs({ start: START, items: [PER_UNIT], schedules: [clauses] })
    const events = ['50', '20', '60', '60'].map((quantity, after) => ({ day: 3, quantity, after }))
    const amounts = closeInTurn(inputs, events, 4).map(({ columns }) =>
      linesOf(columns).map(line => `${line.amount_excluding_tax.quantity} ${line.clause ?? ''}`),
    )
    expect(amounts).toEqual([
      ['50.00 ', '50.00 commitment.pricing_item_configs.0', '50.00 commitment.pricings.0'],
      ['20.00 ', '-20.00 commitment.pricing_item_configs.0'],
      ['60.00 ', '-30.00 commitment.pricing_item_configs.0', '-30.00 commitment.pricings.0'],
      ['60.00 ', '-20.00 commitment.pricings.0'],
    ])
  })

  test('usage that arrives late leaves a wider minimum of several prices as it was charged', () => {
    const january = { end_at: '2026-02-01T00:00:00Z' }
    const clauses = twoMinimums('100', '150', january)
    const inputs = exampleInputs({ start: START, items: [PER_UNIT, recurring('10')], schedules: [clauses] })
    const events = ['50', '20'].map((quantity, after) => ({ day: 3, quantity, after }))
    expect(shown(closeInTurn(inputs, events, 2)[1]?.columns)).toEqual([
      'REVENUE Tokens: 20.00',
      'COMMITMENT Minimum: -20.00',
      'REVENUE Tokens: 10.00',
    ])
  })

  test('a narrow minimum that was reached ahead counts towards a wider one of usage', () => {
    const items = [recurring('50', { billing_in_advance: true }), PER_UNIT]
    const clauses = twoMinimums('100', '150')
    expect(shown(invoiceOf({ items, clauses, usage: '20' }))).toEqual([
      'REVENUE Tokens: 50.00',
      'COMMITMENT Minimum: 50.00',
    ])
    // January: 100 ahead and 20 of usage; 30 are missing.
    expect(shown(invoiceOf({ items, clauses, usage: '20', count: 2 }))).toEqual([
      'REVENUE Tokens: 20.00',
      'COMMITMENT Minimum: 30.00',
      'REVENUE Tokens: 50.00',
      'COMMITMENT Minimum: 50.00',
    ])
  })

  test('usage that arrives late leaves a minimum of several prices as it was charged', () => {
    const commitment = { pricings: [{ ids: ['pricing'], amount: eur('100'), end_at: '2026-02-01T00:00:00Z' }] }
    const inputs = exampleInputs({ start: START, items: [PER_UNIT, recurring('10')], schedules: [{ commitment }] })
    const late = { day: 4, quantity: '20', after: 1 }
    expect(shown(closeInTurn(inputs, [late], 2)[1]?.columns)).toEqual([
      'REVENUE Tokens: 20.00',
      'REVENUE Tokens: 10.00',
    ])
  })

  test('the larger of usage and commitment is owed, whatever they are', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 1_000_000 }), (used, committed) => {
        const [usage, minimum] = [used, committed].map(cents => decimal(String(cents)).div('100'))
        if (!usage || !minimum) throw new Error('two figures')
        const clauses = { commitment: { totals: [{ amount: eur(plain(minimum)) }] } }
        const invoice = invoiceOf({ usage: plain(usage), clauses })
        expect(invoice?.amount_excluding_tax).toBe(plain(max(usage, minimum)))
      }),
      { numRuns: 60 },
    )
  })
})
