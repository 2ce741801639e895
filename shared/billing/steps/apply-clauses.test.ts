import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../decimal.ts'
import { taxAtRate } from '../tax/tax.ts'
import type { Clauses } from './clauses.ts'
import { type Line, netOf } from './line.ts'
import type { StepContext } from './step.ts'
import {
  commitment,
  discount,
  invoiceOf,
  line,
  made,
  markup,
  off,
  percent,
  since,
  span,
  totals,
} from './testing/lines.ts'

const CONFIG = { level: 'CONFIG', ids: ['pico_1'] } as const
const ITEM = { level: 'ITEM', ids: ['prii_1'] } as const
const PRICING = { level: 'PRICING', ids: ['pric_1'] } as const
const PRODUCT_ITEM = { level: 'PRODUCT_ITEM', ids: ['proi_1'] } as const
const PRODUCT = { level: 'PRODUCT', ids: ['prod_1'] } as const
const CATEGORY = { level: 'CATEGORY', ids: ['proc_1'] } as const
const COUPON = { couponId: 'coup_1', promotionCodeId: null }
const wallet = (available: string, given = {}) => ({
  walletId: 'wall_1',
  taxCategory: 'STANDARD' as const,
  currency: 'EUR',
  available: decimal(available),
  ...given,
})
const other = { configId: 'pico_2', itemId: 'prii_2', productItemId: 'proi_2' }
const APRIL = { service: span('2026-04-01', '2026-05-01'), full: span('2026-04-01', '2026-05-01') }
const FROM_11 = { service: span('2026-03-11', '2026-04-01'), full: span('2026-03-01', '2026-04-01') }

type Case = readonly [string, Line[], Partial<Clauses>, string[], string, Partial<StepContext>?]
const untaxed = { tax: taxAtRate('VAT', '0') }

describe('worked examples of the amount pipeline', () => {
  const cases: readonly Case[] = [
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
    [
      'a commitment of 100 in a month from the 11th is 67.74',
      [line('a', '10', { period: FROM_11 })],
      { commitments: [commitment('c', '100', { of: CONFIG })] },
      ['COMMITMENT c 57.74'],
      '67.74 14.23 81.97',
    ],
    [
      'commitments that follow each other complete one period',
      [line('a', '10')],
      {
        commitments: [
          commitment('c1', '31', { of: CONFIG, during: span('2026-01-01', '2026-03-11') }),
          commitment('c2', '62', { of: CONFIG, during: since('2026-03-11') }),
        ],
      },
      // 10 days of 31 and 21 days of 62: 10 + 42, less 10.
      ['COMMITMENT c1 c2 42'],
      '52 10.92 62.92',
    ],
    [
      'a commitment that is reached charges nothing',
      [line('a', '100')],
      { commitments: [commitment('c', '100', { of: CONFIG }), commitment('i', '100')] },
      [],
      '100 21 121',
    ],
    [
      'a period without usage owes its minimum in full, and every period its own',
      [line('a', '0'), line('b', '150', { period: APRIL })],
      { commitments: [commitment('c', '100', { of: PRICING })] },
      ['COMMITMENT c 100'],
      '250 52.5 302.5',
    ],
    [
      'what is charged in advance waits for the arrears of its period',
      [line('fee of April', '30', { period: APRIL, inAdvance: true }), line('usage of March', '20')],
      {
        commitments: [commitment('c', '100', { of: PRICING })],
        billedBefore: [line('fee of March', '30', { inAdvance: true })],
      },
      ['COMMITMENT c 50'],
      '100 21 121',
    ],
    [
      'unless everything in its scope is charged in advance',
      [line('fee of April', '30', { period: APRIL, inAdvance: true })],
      { commitments: [commitment('c', '100', { of: CONFIG, inAdvance: true })] },
      ['COMMITMENT c 70'],
      '100 21 121',
    ],
    [
      'a wider commitment counts what a narrower one charged',
      [line('a', '10'), line('b', '10', { of: other })],
      {
        commitments: [
          commitment('pricing', '60', { of: PRICING }),
          commitment('item', '40', { of: ITEM }),
          commitment('config', '30', { of: CONFIG }),
        ],
      },
      ['COMMITMENT config 20', 'COMMITMENT item 10', 'COMMITMENT pricing 10'],
      '60 12.6 72.6',
    ],
    [
      'missing units are priced as if they had been used',
      [line('a', '8', { volume: decimal('80') })],
      {
        commitments: [
          commitment('c', '0', {
            of: CONFIG,
            value: {
              kind: 'NUMBER',
              number: decimal('120'),
              // 0.10 up to 100, then 0.08.
              priceOf: n => (n.lte('100') ? n.times('0.10') : n.minus('100').times('0.08').plus('10')),
            },
          }),
        ],
      },
      ['COMMITMENT c 3.6'],
      '11.6 2.44 14.04',
    ],
    [
      'the minimum of an invoice without lines',
      [],
      { commitments: [commitment('i', '50')] },
      ['COMMITMENT i 50'],
      '50 10.5 60.5',
    ],
    [
      'a minimum is divided over tax categories by their amounts',
      [line('a', '30'), line('b', '10', { taxCategory: 'EXEMPT' })],
      { commitments: [commitment('i', '100')] },
      ['COMMITMENT i 45', 'COMMITMENT i 15 EXEMPT'],
      '100 15.75 115.75',
    ],
    [
      'a wallet pays lines of its tax category alone',
      [line('a', '20'), line('b', '50', { taxCategory: 'EXEMPT' })],
      { wallets: [wallet('30')] },
      ['WALLET wall_1 -20'],
      '50 0 50',
    ],
    [
      'wallets are spent one after the other, and never below zero',
      [line('a', '100')],
      { wallets: [wallet('30'), wallet('0', { walletId: 'empty' }), wallet('90', { walletId: 'second' })] },
      ['WALLET wall_1 -30', 'WALLET second -70'],
      '0 0 0',
    ],
    [
      'a wallet of another currency pays nothing',
      [line('a', '100')],
      { wallets: [wallet('30', { currency: 'USD' })] },
      [],
      '100 21 121',
    ],
    [
      'a wallet pays nothing when the total is negative',
      [line('a', '10'), line('b', '-25')],
      { wallets: [wallet('30')] },
      [],
      '-15 -3.15 -18.15',
    ],
    [
      'including tax: a net 30 of the wallet covers 36.30 of 121.00',
      [line('a', '121')],
      { wallets: [wallet('30')] },
      ['WALLET wall_1 -36.3'],
      '70 14.7 84.7',
      { amountType: 'INCLUDING_TAX' },
    ],
    [
      'including tax: a wallet that covers everything leaves no cent',
      [line('a', '99.99')],
      { wallets: [wallet('500')] },
      ['WALLET wall_1 -99.99'],
      '0 0 0',
      { amountType: 'INCLUDING_TAX' },
    ],
    [
      'including tax: 10 % off 121.00',
      [line('a', '121')],
      { discounts: [discount('d', percent('10'))] },
      ['DISCOUNT d -12.1'],
      '90 18.9 108.9',
      { amountType: 'INCLUDING_TAX' },
    ],
    [
      'UNROUNDED keeps the parts exact',
      [line('a', '0.333'), line('b', '0.333'), line('c', '0.333')],
      { discounts: [discount('d', percent('10'))] },
      ['DISCOUNT d -0.0999'],
      '0.9 0 0.9',
      { rounding: 'UNROUNDED', ...untaxed },
    ],
    [
      'yen have no decimals',
      [line('a', '999')],
      { discounts: [discount('d', percent('33'))], wallets: [wallet('100', { currency: 'JPY' })] },
      ['DISCOUNT d -330', 'WALLET wall_1 -100'],
      '569 119 688',
      { currency: 'JPY' },
    ],
    [
      'dinars have three',
      [line('a', '1')],
      { discounts: [discount('d', percent('33.33'))] },
      ['DISCOUNT d -0.333'],
      '0.667 0 0.667',
      { currency: 'KWD', ...untaxed },
    ],
  ]
  for (const [name, lines, clauses, expected, sums, given = {}] of cases) {
    test(name, () => {
      const invoice = invoiceOf(lines, clauses, given)
      expect(made(invoice)).toEqual(expected)
      expect(totals(invoice)).toBe(sums)
    })
  }
})

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
