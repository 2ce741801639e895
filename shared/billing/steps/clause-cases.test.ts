// More worked cases of clauses: percentages that compound, amounts above what is left, conditions, parts of periods, several
// periods, prorated minimums and mixed taxes. Every expected figure is computed by hand; VAT is 21 % unless a row says otherwise.
import { expect, test } from 'vitest'
import { decimal } from '../../decimal.ts'
import type { Interval } from '../../time.ts'
import { taxAtRate } from '../tax/tax.ts'
import type { Clauses, Commitment, DiscountCondition } from './clauses.ts'
import type { Line, LinePeriod } from './line.ts'
import type { StepContext } from './step.ts'
import {
  commitment,
  discount,
  invoiceOf,
  line,
  MARCH,
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
const PRODUCT = { level: 'PRODUCT', ids: ['prod_1'] } as const
const OTHER = { level: 'CONFIG', ids: ['pico_2'] } as const
const COUPON = { couponId: 'coup_1', promotionCodeId: null }
const of2 = { of: { configId: 'pico_2', itemId: 'prii_2', productItemId: 'proi_2' } }
const exempt = { taxCategory: 'EXEMPT' } as const
const untaxed = { taxCategory: 'NO_TAX' } as const
/** 1 to 15 March, 15 of 31 days. */
const FIRST_HALF = span('2026-03-01', '2026-03-16')
const half: { readonly period: LinePeriod } = { period: { service: FIRST_HALF, full: MARCH.full } }
const APRIL_TIME = span('2026-04-01', '2026-05-01')
const april: { readonly period: LinePeriod } = { period: { service: APRIL_TIME, full: APRIL_TIME } }
const when = (comparator: DiscountCondition['comparator'], amount: string) => ({
  condition: { comparator, amount: decimal(amount) },
})
const gross = (percentage: string, currency = 'EUR'): Partial<StepContext> => ({
  tax: taxAtRate('VAT', percentage),
  amountType: 'INCLUDING_TAX',
  currency,
})
const net = (percentage: string, currency: string): Partial<StepContext> => ({
  tax: taxAtRate('VAT', percentage),
  currency,
})
/** A minimum of units at 0.50 each. */
const units = (id: string, number: string): Commitment => ({
  ...commitment(id, '0', { of: CONFIG }),
  value: { kind: 'NUMBER', number: decimal(number), priceOf: of => of.times(decimal('0.5')) },
})
const used = (volume: string) => ({ volume: decimal(volume) })
const wallet = (walletId: string, available: string) => ({
  ...{ walletId, taxCategory: 'STANDARD' as const, currency: 'EUR' },
  available: decimal(available),
})
const of = (target: typeof CONFIG | typeof ITEM | typeof PRODUCT | typeof OTHER) => ({ of: target })
const off10 = { discounts: [discount('d', off('10'), of(CONFIG))] }
const half31 = { during: FIRST_HALF, of: CONFIG }
const minimum = (amount: string): Partial<Clauses> => ({ commitments: [commitment('c', amount, of(CONFIG))] })

/** What it shows, the lines, their clauses, the lines that steps make, and net, tax and gross. */
type Case = readonly [string, Line[], Partial<Clauses>, string[], string, Partial<StepContext>?]

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

const MINIMUMS: readonly Case[] = [
  ['a minimum of 15 of 31 days', [line('a', '20', half)], minimum('100'), ['COMMITMENT c 28.39'], '48.39 10.16 58.55'],
  [
    'a minimum that starts on the 17th',
    [line('a', '20')],
    { commitments: [commitment('c', '100', { of: CONFIG, during: since('2026-03-17') })] },
    ['COMMITMENT c 28.39'],
    '48.39 10.16 58.55',
  ],
  [
    'two minimums that follow each other: 16 days of 100 and 15 of 200',
    [line('a', '48.39')],
    {
      commitments: [
        commitment('c1', '100', { of: CONFIG, during: span('2026-03-01', '2026-03-17') }),
        commitment('c2', '200', { of: CONFIG, during: since('2026-03-17') }),
      ],
    },
    ['COMMITMENT c1 c2 100'],
    '148.39 31.16 179.55',
  ],
  [
    'nothing is committed for ten days of a pause',
    [line('a', '0')],
    minimum('100'),
    ['COMMITMENT c 67.74'],
    '67.74 14.23 81.97',
    { pauses: [span('2026-03-01', '2026-03-11')] },
  ],
  [
    'a minimum of units',
    [line('a', '20', used('40'))],
    { commitments: [units('c', '100')] },
    ['COMMITMENT c 30'],
    '50 10.5 60.5',
  ],
  [
    'a minimum of units for 15 of 31 days: 48.387 units',
    [line('a', '20', { ...used('40'), ...half })],
    { commitments: [units('c', '100')] },
    ['COMMITMENT c 4.19'],
    '24.19 5.08 29.27',
  ],
  [
    'more units than the minimum',
    [line('a', '60', used('120'))],
    { commitments: [units('c', '100')] },
    [],
    '60 12.6 72.6',
  ],
  [
    'a minimum of an item counts towards that of the invoice',
    [line('a', '72'), line('b', '30', of2)],
    { commitments: [commitment('c', '100', of(CONFIG)), commitment('i', '150')] },
    ['COMMITMENT c 28', 'COMMITMENT i 20'],
    '150 31.5 181.5',
  ],
  [
    'a minimum of each period: what one has too much is not for the other',
    [line('a', '40'), line('b', '70', april)],
    minimum('60'),
    ['COMMITMENT c 20'],
    '130 27.3 157.3',
  ],
  [
    'the minimum of the invoice is divided over tax categories by weight',
    [line('a', '10'), line('b', '30', exempt)],
    { commitments: [commitment('i', '80')] },
    ['COMMITMENT i 10', 'COMMITMENT i 30 EXEMPT'],
    '80 4.2 84.2',
  ],
  ['a minimum without any charge', [line('a', '0')], minimum('50'), ['COMMITMENT c 50'], '50 10.5 60.5'],
  [
    'what was charged for the period before counts',
    [line('a', '20')],
    { ...minimum('100'), billedBefore: [line('before', '50')] },
    ['COMMITMENT c 30'],
    '50 10.5 60.5',
  ],
  [
    'a minimum in yen for 15 of 31 days',
    [line('a', '4000', half)],
    minimum('10000'),
    ['COMMITMENT c 839'],
    '4839 484 5323',
    net('10', 'JPY'),
  ],
  [
    'a minimum in dinars for 15 of 31 days',
    [line('a', '1.25', half)],
    minimum('10'),
    ['COMMITMENT c 3.589'],
    '4.839 0.242 5.081',
    net('5', 'KWD'),
  ],
  [
    'a minimum with tax for 15 of 31 days',
    [line('a', '0', half)],
    minimum('121'),
    ['COMMITMENT c 58.55'],
    '48.39 10.16 58.55',
    gross('21'),
  ],
  [
    'a discount on the total after a minimum lowers it',
    [line('a', '50')],
    { ...minimum('100'), discounts: [discount('d', percent('10'))] },
    ['COMMITMENT c 50', 'DISCOUNT d -10'],
    '90 18.9 108.9',
  ],
]

const OTHERS: readonly Case[] = [
  [
    'a markup of 12.5 % on 19.99',
    [line('a', '19.99')],
    { markups: [markup('m', percent('12.5'))] },
    ['MARKUP m 2.5'],
    '22.49 4.72 27.21',
  ],
  [
    'a fixed markup, then a percentage of both',
    [line('a', '100')],
    { markups: [markup('a', off('5')), markup('p', percent('10'))] },
    ['MARKUP a 5', 'MARKUP p 10.5'],
    '115.5 24.26 139.76',
  ],
  [
    'a discount is of the price with its markup',
    [line('a', '100')],
    { markups: [markup('m', percent('20'))], discounts: [discount('d', percent('25'), of(CONFIG))] },
    ['MARKUP m 20', 'DISCOUNT d -30'],
    '90 18.9 108.9',
  ],
  [
    'with tax: 10 % of 121',
    [line('a', '121')],
    { discounts: [discount('d', percent('10'))] },
    ['DISCOUNT d -12.1'],
    '90 18.9 108.9',
    gross('21'),
  ],
  [
    'with 7 % of tax: 3.21 off two prices',
    [line('a', '10.7'), line('b', '21.4')],
    { discounts: [discount('d', off('3.21'))] },
    ['DISCOUNT d -3.21'],
    '27 1.89 28.89',
    gross('7'),
  ],
  [
    'with tax: an amount over a taxed and an exempt price',
    [line('a', '12.1'), line('b', '10', exempt)],
    { discounts: [discount('d', off('2.21'))] },
    ['DISCOUNT d -1.21', 'DISCOUNT d -1 EXEMPT'],
    '18 1.89 19.89',
    gross('21'),
  ],
  ['with a tax of 0 %', [line('a', '100')], {}, [], '100 0 100', gross('0')],
  ['with 25.5 % of tax', [line('a', '19.99')], {}, [], '15.93 4.06 19.99', gross('25.5')],
  ['with 8 % of tax in yen', [line('a', '107')], {}, [], '99 8 107', gross('8', 'JPY')],
  ['with 5 % of tax in dinars', [line('a', '10.5')], {}, [], '10 0.5 10.5', gross('5', 'KWD')],
  [
    'money before tax pays what has its tax category',
    [line('a', '50'), line('b', '30', exempt)],
    { wallets: [wallet('w', '100')] },
    ['WALLET w -50'],
    '30 0 30',
  ],
  [
    'money before tax pays a part',
    [line('a', '100')],
    { wallets: [wallet('w', '30')] },
    ['WALLET w -30'],
    '70 14.7 84.7',
  ],
  [
    'two wallets pay one after the other',
    [line('a', '100')],
    { wallets: [wallet('v', '30'), wallet('w', '50')] },
    ['WALLET v -30', 'WALLET w -50'],
    '20 4.2 24.2',
  ],
]

for (const [name, lines, clauses, expected, sums, given = {}] of [...DISCOUNTS, ...TAKEN, ...MINIMUMS, ...OTHERS])
  test(name, () => {
    const invoice = invoiceOf(lines, clauses, given)
    expect(made(invoice)).toEqual(expected)
    expect(totals(invoice)).toBe(sums)
  })
