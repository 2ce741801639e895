// More worked cases of discounts: percentages that compound, amounts above what is left, conditions, parts of periods, several periods
// and what was deducted ahead. Every expected figure is computed by hand.
import { decimal } from '../../decimal.ts'
import type { Interval } from '../../time.ts'
import {
  APRIL_TIME,
  april,
  type Case,
  CONFIG,
  COUPON,
  exempt,
  FIRST_HALF,
  half,
  half31,
  ITEM,
  OTHER,
  of,
  of2,
  off10,
  PRODUCT,
  testCases,
  untaxed,
  when,
} from './testing/cases.ts'
import { discount, line, MARCH, off, percent, span } from './testing/lines.ts'

const DISCOUNTS: readonly Case[] = [
  [
    'three percentages compound',
    [line('a', '200')],
    { discounts: ['x', 'y', 'z'].map(id => discount(id, percent('10'), of(CONFIG))) },
    ['DISCOUNT x -20', 'DISCOUNT y -18', 'DISCOUNT z -16.2'],
    '145.8 30.62 176.42',
  ],
  [
    'percentages compound from narrow to wide, in whichever order they are given',
    [line('a', '100')],
    {
      discounts: [
        discount('total', percent('10')),
        discount('product', percent('10'), of(PRODUCT)),
        discount('config', percent('50'), of(CONFIG)),
      ],
    },
    ['DISCOUNT config -50', 'DISCOUNT product -5', 'DISCOUNT total -4.5'],
    '40.5 8.51 49.01',
  ],
  [
    'a third of 10',
    [line('a', '10')],
    { discounts: [discount('d', percent('33.333'))] },
    ['DISCOUNT d -3.33'],
    '6.67 1.4 8.07',
  ],
  [
    'an amount takes what a narrower amount left',
    [line('a', '8')],
    { discounts: [discount('item', off('5'), of(ITEM)), discount('config', off('5'), of(CONFIG))] },
    ['DISCOUNT config -5', 'DISCOUNT item -3'],
    '0 0 0',
  ],
  ['an amount takes nothing of a line of zero', [line('a', '0')], off10, [], '0 0 0'],
  ['an amount takes nothing of a deduction', [line('a', '-20')], off10, [], '-20 -4.2 -24.2'],
  [
    'an amount after 100 % takes nothing',
    [line('a', '50')],
    { discounts: [discount('p', percent('100'), of(CONFIG)), discount('d', off('5'), of(ITEM))] },
    ['DISCOUNT p -50'],
    '0 0 0',
  ],
  [
    'more than 100 % is 100 %',
    [line('a', '50')],
    { discounts: [discount('p', percent('150'))] },
    ['DISCOUNT p -50'],
    '0 0 0',
  ],
  [
    'a condition of more than 100 does not hold at 100',
    [line('a', '100')],
    { discounts: [discount('d', percent('10'), when('GREATER_THAN', '100'))] },
    [],
    '100 21 121',
  ],
  [
    'a condition of at least 100 holds at 100',
    [line('a', '100')],
    { discounts: [discount('d', percent('10'), when('GREATER_THAN_OR_EQUALS', '100'))] },
    ['DISCOUNT d -10'],
    '90 18.9 108.9',
  ],
  [
    'a condition of less than 100 holds at 99.99',
    [line('a', '99.99')],
    { discounts: [discount('d', off('10'), when('LESS_THAN', '100'))] },
    ['DISCOUNT d -10'],
    '89.99 18.9 108.89',
  ],
  [
    'a condition is of what the discounts before left',
    [line('a', '110')],
    {
      discounts: [
        discount('a', percent('10'), of(CONFIG)),
        discount('b', percent('10'), when('GREATER_THAN_OR_EQUALS', '100')),
      ],
    },
    ['DISCOUNT a -11'],
    '99 20.79 119.79',
  ],
  [
    'a percentage for 15 of 31 days',
    [line('a', '310')],
    { discounts: [discount('d', percent('10'), half31)] },
    ['DISCOUNT d -15'],
    '295 61.95 356.95',
  ],
  [
    'an amount for 15 of 31 days',
    [line('a', '310')],
    { discounts: [discount('d', off('31'), half31)] },
    ['DISCOUNT d -15'],
    '295 61.95 356.95',
  ],
  [
    'a coupon counts in full in any time it touches',
    [line('a', '310')],
    { discounts: [discount('d', off('31'), { ...half31, coupon: COUPON })] },
    ['DISCOUNT d -31'],
    '279 58.59 337.59',
  ],
  [
    'an amount on the total is deducted in full for one day of the period',
    [line('a', '310')],
    { discounts: [discount('d', off('31'), { during: span('2026-03-05', '2026-03-06') })] },
    ['DISCOUNT d -31'],
    '279 58.59 337.59',
  ],
  [
    'a percentage on the total for 15 of 31 days',
    [line('a', '310')],
    { discounts: [discount('d', percent('10'), { during: FIRST_HALF })] },
    ['DISCOUNT d -15'],
    '295 61.95 356.95',
  ],
  [
    'no discount before it starts',
    [line('a', '310')],
    {
      discounts: [
        discount('d', percent('10'), { during: APRIL_TIME }),
        discount('e', off('5'), { during: APRIL_TIME }),
      ],
    },
    [],
    '310 65.1 375.1',
  ],
  [
    'an amount is deducted once per billing period',
    [line('a', '100'), line('b', '100', april)],
    off10,
    ['DISCOUNT d -10', 'DISCOUNT d -10'],
    '180 37.8 217.8',
  ],
  [
    'an amount of each period takes no more than that period',
    [line('a', '5'), line('b', '100', april)],
    off10,
    ['DISCOUNT d -5', 'DISCOUNT d -10'],
    '90 18.9 108.9',
  ],
  [
    'an amount on the total is deducted once for two periods',
    [line('a', '100'), line('b', '100', april)],
    { discounts: [discount('d', off('10'))] },
    ['DISCOUNT d -10'],
    '190 39.9 229.9',
  ],
  [
    'an amount on the total takes no more than all periods',
    [line('a', '5'), line('b', '3', april)],
    { discounts: [discount('d', off('10'))] },
    ['DISCOUNT d -8'],
    '0 0 0',
  ],
  [
    'an amount on the total is divided over tax categories by weight',
    [line('a', '100'), line('b', '50', exempt)],
    { discounts: [discount('d', off('30'))] },
    ['DISCOUNT d -20', 'DISCOUNT d -10 EXEMPT'],
    '120 16.8 136.8',
  ],
  [
    'a cent that cannot be divided over three categories is not lost',
    [line('a', '10'), line('b', '10', untaxed), line('c', '10', exempt)],
    { discounts: [discount('d', off('10'))] },
    ['DISCOUNT d -3.34', 'DISCOUNT d -3.33 NO_TAX', 'DISCOUNT d -3.33 EXEMPT'],
    '20 1.4 21.4',
  ],
  [
    'a percentage of two tax categories',
    [line('a', '33.33'), line('b', '66.66', exempt)],
    { discounts: [discount('d', percent('10'))] },
    ['DISCOUNT d -3.33', 'DISCOUNT d -6.67 EXEMPT'],
    '89.99 6.3 96.29',
  ],
  [
    'a coupon of some lines comes before a discount on the total',
    [line('a', '100')],
    { discounts: [discount('t', percent('10')), discount('c', percent('50'), { of: CONFIG, coupon: COUPON })] },
    ['DISCOUNT c -50', 'DISCOUNT t -5'],
    '45 9.45 54.45',
  ],
  [
    'two coupons on the total that are more than it together',
    [line('a', '100')],
    {
      discounts: [discount('p', percent('20'), { coupon: COUPON }), discount('d', off('100'), { coupon: COUPON })],
    },
    ['DISCOUNT p -20', 'DISCOUNT d -80'],
    '0 0 0',
  ],
  [
    'a coupon that is limited to one product',
    [line('a', '100'), line('b', '50', of2)],
    { discounts: [discount('c', percent('10'), { of: OTHER, coupon: COUPON })] },
    ['DISCOUNT c -5'],
    '145 30.45 175.45',
  ],
  [
    'an amount is not deducted from late usage again',
    [line('a', '40', { late: true }), line('b', '10')],
    { discounts: [discount('d', off('15'), of(CONFIG))] },
    ['DISCOUNT d -10'],
    '40 8.4 48.4',
  ],
  [
    'an added line stays out of discounts on the total',
    [line('a', '100'), line('b', '50', { ...of2, applicableForClauses: [] })],
    { discounts: [discount('d', percent('10'))] },
    ['DISCOUNT d -10'],
    '140 29.4 169.4',
  ],
  [
    'an added line with discount.totals takes part',
    [line('a', '100'), line('b', '50', { ...of2, applicableForClauses: ['discount.totals'] })],
    { discounts: [discount('d', percent('10'))] },
    ['DISCOUNT d -15'],
    '135 28.35 163.35',
  ],
]

/** Amounts of which other invoices deducted a part ahead. */
const taken = (time: Interval, amount: string) => ({ taken: [{ time, amount: decimal(amount) }] })
const TAKEN: readonly Case[] = [
  [
    'an amount of which 6 were deducted ahead for the same month',
    [line('a', '100')],
    { discounts: [discount('d', off('10'), { ...of(CONFIG), ...taken(MARCH.service, '6') })] },
    ['DISCOUNT d -4'],
    '96 20.16 116.16',
  ],
  [
    'an amount that was deducted ahead in full, or beyond it at another exchange rate',
    [line('a', '100')],
    {
      discounts: [
        discount('d', off('10'), { ...of(CONFIG), ...taken(MARCH.service, '10') }),
        discount('e', off('10'), { ...of(CONFIG), ...taken(MARCH.service, '10.5') }),
      ],
    },
    [],
    '100 21 121',
  ],
  [
    'an amount that was deducted ahead for a month that was shortened since',
    [line('a', '100', half)],
    { discounts: [discount('d', off('10'), { ...of(CONFIG), ...taken(MARCH.service, '6') })] },
    ['DISCOUNT d -4'],
    '96 20.16 116.16',
  ],
  [
    'what was deducted ahead for another month, or for a shorter time, counts for that alone',
    [line('a', '100')],
    {
      discounts: [
        discount('d', off('10'), { ...of(CONFIG), ...taken(APRIL_TIME, '6') }),
        discount('e', off('10'), { ...of(CONFIG), ...taken(FIRST_HALF, '6') }),
      ],
    },
    ['DISCOUNT d -10', 'DISCOUNT e -10'],
    '80 16.8 96.8',
  ],
  [
    'an amount on the total is deducted once for each invoice, whatever was deducted ahead',
    [line('a', '100')],
    { discounts: [discount('d', off('10'), taken(MARCH.service, '6'))] },
    ['DISCOUNT d -10'],
    '90 18.9 108.9',
  ],
]

testCases([...DISCOUNTS, ...TAKEN])
