// Worked examples of the amount pipeline: discounts and markups, and what lines say of the clauses that changed them.
import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../decimal.ts'
import { type Line, netOf } from './line.ts'
import { CONFIG, COUPON, ITEM, PRODUCT, testCases } from './testing/cases.ts'
import { commitment, discount, invoiceOf, line, markup, off, percent, since, span } from './testing/lines.ts'

const PRICING = { level: 'PRICING', ids: ['pric_1'] } as const
const PRODUCT_ITEM = { level: 'PRODUCT_ITEM', ids: ['proi_1'] } as const
const CATEGORY = { level: 'CATEGORY', ids: ['proc_1'] } as const
const wallet = (available: string, given = {}) => ({
  walletId: 'wall_1',
  taxCategory: 'STANDARD' as const,
  currency: 'EUR',
  available: decimal(available),
  ...given,
})
const other = { configId: 'pico_2', itemId: 'prii_2', productItemId: 'proi_2' }
const APRIL = { service: span('2026-04-01', '2026-05-01'), full: span('2026-04-01', '2026-05-01') }

describe('worked examples of the amount pipeline', () =>
  testCases([
    ['without clauses the lines do not change', [line('a', '10'), line('b', '-4')], {}, [], '6 1.26 7.26'],
    [
      'G: line 200, item coupon of 10 %, 15.00 on the invoice',
      [line('a', '200')],
      {
        discounts: [
          discount('total', off('15'), { coupon: COUPON }),
          discount('item', percent('10'), { of: PRODUCT_ITEM, coupon: COUPON }),
        ],
      },
      ['DISCOUNT item -20', 'DISCOUNT total -15'],
      '165 34.65 199.65',
    ],
    [
      'H: 72 against 100 on the item, other items 30, 150 on the invoice',
      [line('a', '72'), line('b', '30', { of: other })],
      { commitments: [commitment('invoice', '150'), commitment('item', '100', { of: CONFIG })] },
      ['COMMITMENT item 28', 'COMMITMENT invoice 20'],
      '150 31.5 181.5',
    ],
    [
      '5.4: line 80, discount 10 %, commitment 100, wallet 30',
      [line('a', '80')],
      {
        discounts: [discount('d', percent('10'), { of: CONFIG })],
        commitments: [commitment('c', '100', { of: CONFIG })],
        wallets: [wallet('30')],
      },
      ['DISCOUNT d -8', 'COMMITMENT c 28', 'WALLET wall_1 -30'],
      '70 14.7 84.7',
    ],
    [
      'percentages compound narrow to wide, coupons last, in whatever order they are given',
      [line('a', '1000')],
      {
        discounts: [
          discount('coupon', percent('10'), { of: CONFIG, coupon: COUPON }),
          discount('category', percent('10'), { of: CATEGORY }),
          discount('product', percent('10'), { of: PRODUCT }),
          discount('product item', percent('10'), { of: PRODUCT_ITEM }),
          discount('pricing', percent('10'), { of: PRICING }),
          discount('item', percent('10'), { of: ITEM }),
          discount('config', percent('10'), { of: CONFIG }),
        ],
      },
      [
        'DISCOUNT config -100',
        'DISCOUNT item -90',
        'DISCOUNT pricing -81',
        'DISCOUNT product item -72.9',
        'DISCOUNT product -65.61',
        'DISCOUNT category -59.05',
        'DISCOUNT coupon -53.14',
      ],
      '478.3 100.44 578.74',
    ],
    [
      'an amount never deducts more than there is',
      [line('a', '10')],
      { discounts: [discount('d', off('25'), { of: CONFIG }), discount('t', off('5'))] },
      ['DISCOUNT d -10'],
      '0 0 0',
    ],
    [
      'more than 100 % is 100 %',
      [line('a', '10'), line('b', '5', { of: other })],
      { discounts: [discount('d', percent('150'), { of: CONFIG })] },
      ['DISCOUNT d -10'],
      '5 1.05 6.05',
    ],
    [
      'a full discount of three lines of 0.333 leaves nothing',
      [line('a', '0.333'), line('b', '0.333'), line('c', '0.333')],
      { discounts: [discount('d', percent('100'))] },
      ['DISCOUNT d -0.99'],
      '0 0 0',
    ],
    [
      'nothing is discounted from what is below zero',
      [line('a', '-10')],
      { discounts: [discount('d', percent('10'), { of: CONFIG }), discount('t', off('5'))] },
      [],
      '-10 -2.1 -12.1',
    ],
    [
      'a discount applies only to its schedule',
      [line('a', '10'), line('b', '10', { of: { scheduleId: 'ppsc_2' } })],
      { discounts: [discount('d', percent('10'), { of: CONFIG, scheduleId: 'ppsc_2' })] },
      ['DISCOUNT d -1'],
      '19 3.99 22.99',
    ],
    [
      'a scoped amount is deducted once per period, one on the total once per invoice',
      [line('a', '100'), line('b', '100', { period: APRIL })],
      { discounts: [discount('d', off('10'), { of: CONFIG }), discount('t', off('15'))] },
      ['DISCOUNT d -10', 'DISCOUNT d -10', 'DISCOUNT t -15'],
      '165 34.65 199.65',
    ],
    [
      'a discount from 11 March counts for 21 of 31 days',
      [line('a', '310')],
      { discounts: [discount('d', percent('10'), { of: CONFIG, during: since('2026-03-11') })] },
      ['DISCOUNT d -21'],
      '289 60.69 349.69',
    ],
    [
      'its amount is prorated too, but a coupon counts in full',
      [line('a', '310')],
      {
        discounts: [
          discount('d', off('31'), { of: CONFIG, during: since('2026-03-11') }),
          discount('c', off('31'), { of: CONFIG, during: since('2026-03-11'), coupon: COUPON }),
        ],
      },
      ['DISCOUNT d -21', 'DISCOUNT c -31'],
      '258 54.18 312.18',
    ],
    [
      'a discount that ended before does not count',
      [line('a', '310')],
      {
        discounts: [
          discount('d', percent('10'), { of: CONFIG, during: span('2026-01-01', '2026-03-01') }),
          discount('t', off('10'), { during: span('2026-01-01', '2026-03-01') }),
        ],
      },
      [],
      '310 65.1 375.1',
    ],
    [
      'a condition tests the amount that the discount would apply to',
      [line('a', '100')],
      {
        discounts: [
          discount('at 100', percent('10'), {
            of: CONFIG,
            condition: { comparator: 'GREATER_THAN_OR_EQUALS', amount: decimal('100') },
          }),
          discount('above 90', percent('10'), {
            condition: { comparator: 'GREATER_THAN', amount: decimal('90') },
          }),
          discount('below 100', off('1'), { condition: { comparator: 'LESS_THAN', amount: decimal('100') } }),
        ],
      },
      ['DISCOUNT at 100 -10', 'DISCOUNT below 100 -1'],
      '89 18.69 107.69',
    ],
    [
      'a discount on the total is spread over tax categories',
      [line('a', '75'), line('b', '25', { taxCategory: 'EXEMPT' })],
      { discounts: [discount('t', off('10'))] },
      ['DISCOUNT t -7.5', 'DISCOUNT t -2.5 EXEMPT'],
      '90 14.18 104.18',
    ],
    [
      'parts of an amount that does not divide evenly still sum to it',
      [line('a', '10'), line('b', '10', { taxCategory: 'EXEMPT' }), line('c', '10', { taxCategory: 'NO_TAX' })],
      { discounts: [discount('t', off('10'))] },
      ['DISCOUNT t -3.34', 'DISCOUNT t -3.33 NO_TAX', 'DISCOUNT t -3.33 EXEMPT'],
      '20 1.4 21.4',
    ],
    [
      'an added line takes part in clauses on the total where it says so, and in no others',
      [
        line('a', '100'),
        line('joins', '100', { applicableForClauses: ['discount.totals'] }),
        line('stays out', '100', { applicableForClauses: [] }),
      ],
      {
        discounts: [discount('d', percent('10'), { of: CONFIG }), discount('t', percent('10'))],
        commitments: [commitment('c', '95', { of: CONFIG })],
      },
      ['DISCOUNT d -10', 'COMMITMENT c 5', 'DISCOUNT t -19.5'],
      '275.5 57.86 333.36',
    ],
    [
      'a markup is part of what is discounted and committed',
      [line('a', '100')],
      {
        markups: [markup('m', percent('20')), markup('n', off('5'))],
        discounts: [discount('d', percent('10'), { of: CONFIG })],
        commitments: [commitment('c', '120', { of: CONFIG })],
      },
      ['MARKUP m 20', 'MARKUP n 5', 'DISCOUNT d -12.5', 'COMMITMENT c 7.5'],
      '120 25.2 145.2',
    ],
  ]))

test('a line lists the clauses that changed it, in order, with the amounts they were computed from', () => {
  const { lines } = invoiceOf([line('a', '80'), line('b', '20')], {
    discounts: [discount('d', percent('10'), { of: CONFIG }), discount('t', off('9'), { coupon: COUPON })],
    wallets: [wallet('50')],
  })
  const said = ({ because, exact }: Line) => [
    plain(exact),
    ...because.map(each => `${each.step} ${each.clauseId} ${plain(each.exact)} of ${plain(each.base)}`),
  ]
  expect(lines.slice(0, 2).map(said)).toEqual([
    ['80', 'DISCOUNT d -8 of 100', 'TOTAL_DISCOUNT t -7.2 of 90', 'WALLET_CREDIT wall_1 -50 of 50'],
    ['20', 'DISCOUNT d -2 of 100', 'TOTAL_DISCOUNT t -1.8 of 90'],
  ])
  expect(lines.slice(0, 2).map(each => plain(netOf(each)))).toEqual(['14.8', '16.2'])
  expect(lines[3]?.because[0]?.coupon).toEqual(COUPON)
})

test('a line made by a step refers to what its lines have in common', () => {
  const { lines } = invoiceOf([line('a', '80'), line('b', '20', { of: other })], {
    discounts: [discount('one', percent('10'), { of: CONFIG }), discount('all', percent('10'), { of: PRICING })],
  })
  expect(lines.slice(2).map(({ of }) => [of.configId, of.pricingId])).toEqual([
    ['pico_1', 'pric_1'],
    [null, 'pric_1'],
  ])
})
