// Worked cases of the ways in which billing systems are known to differ: discounts that meet negative lines, minimums,
// several currencies and taxes, and where each figure is rounded. Every expected figure is computed by hand.
import { expect, test } from 'vitest'
import { decimal } from '../../decimal.ts'
import { fraction } from '../fraction.ts'
import { type TaxDecided, taxAtRate } from '../tax/tax.ts'
import type { Clauses } from './clauses.ts'
import type { Line } from './line.ts'
import type { StepContext } from './step.ts'
import { commitment, discount, invoiceOf, line, made, markup, off, percent, totals } from './testing/lines.ts'

const CONFIG = { level: 'CONFIG', ids: ['pico_1'] } as const
const COUPON = { couponId: 'coup_1', promotionCodeId: null }
const of2 = { of: { configId: 'pico_2', itemId: 'prii_2', productItemId: 'proi_2' } }
const exempt = { taxCategory: 'EXEMPT' } as const
const vat = (percentage: string): Partial<StepContext> => ({ tax: taxAtRate('VAT', percentage) })
const gross = (percentage: string): Partial<StepContext> => ({ ...vat(percentage), amountType: 'INCLUDING_TAX' })
const QUEBEC: TaxDecided = {
  ...taxAtRate('GST', '5'),
  rates: [
    { name: 'GST', percentage: decimal('5') },
    { name: 'QST', percentage: decimal('9.975') },
  ],
}
const wallet = (available: string) => ({
  ...{ walletId: 'wall_1', taxCategory: 'STANDARD' as const, currency: 'EUR' },
  available: decimal(available),
})

/** What it shows, the lines, their clauses, the lines that steps make, and net, tax and gross. */
type Case = readonly [string, Line[], Partial<Clauses>, string[], string, Partial<StepContext>?]
const CASES: readonly Case[] = [
  [
    'a percentage of several lines is rounded once, not line by line',
    [line('a', '0.05'), line('b', '0.05', of2), line('c', '0.05')],
    { discounts: [discount('d', percent('10'))] },
    ['DISCOUNT d -0.02'],
    '0.13 0.03 0.16',
  ],
  [
    'half a cent of discount is a cent',
    [line('a', '0.04')],
    { discounts: [discount('d', percent('12.5'))] },
    ['DISCOUNT d -0.01'],
    '0.03 0.01 0.04',
  ],
  [
    'a third off 99.99',
    [line('a', '99.99')],
    { discounts: [discount('d', percent('33.33'))] },
    ['DISCOUNT d -33.33'],
    '66.66 14 80.66',
  ],
  [
    'an amount and then a percentage: coupons in the order of the schedule',
    [line('a', '100')],
    {
      discounts: [
        discount('amount', off('5'), { coupon: COUPON }),
        discount('percent', percent('10'), { coupon: COUPON }),
      ],
    },
    ['DISCOUNT amount -5', 'DISCOUNT percent -9.5'],
    '85.5 17.96 103.46',
  ],
  [
    'a percentage and then an amount',
    [line('a', '100')],
    {
      discounts: [
        discount('percent', percent('10'), { coupon: COUPON }),
        discount('amount', off('5'), { coupon: COUPON }),
      ],
    },
    ['DISCOUNT percent -10', 'DISCOUNT amount -5'],
    '85 17.85 102.85',
  ],
  [
    'two amounts that are more than the invoice together',
    [line('a', '20')],
    { discounts: [discount('one', off('15')), discount('two', off('15'))] },
    ['DISCOUNT one -15', 'DISCOUNT two -5'],
    '0 0 0',
  ],
  [
    'a percentage counts negative lines',
    [line('a', '100'), line('b', '-40', of2)],
    { discounts: [discount('d', percent('10'))] },
    ['DISCOUNT d -6'],
    '54 11.34 65.34',
  ],
  [
    'an amount deducts no more than what negative lines leave',
    [line('a', '30'), line('b', '-20', of2)],
    { discounts: [discount('d', off('50'))] },
    ['DISCOUNT d -10'],
    '0 0 0',
  ],
  [
    'a discount of some lines leaves the others alone',
    [line('a', '10'), line('b', '90', of2)],
    { discounts: [discount('d', off('25'), { of: CONFIG, coupon: COUPON })] },
    ['DISCOUNT d -10'],
    '90 18.9 108.9',
  ],
  [
    '100 % of an invoice with a line of zero',
    [line('a', '0'), line('b', '19.99', of2)],
    { discounts: [discount('d', percent('100'))] },
    ['DISCOUNT d -19.99'],
    '0 0 0',
  ],
  [
    '100 % of taxed and untaxed lines leaves no tax',
    [line('a', '33.33'), line('b', '66.67', exempt)],
    { discounts: [discount('d', percent('100'))] },
    ['DISCOUNT d -33.33', 'DISCOUNT d -66.67 EXEMPT'],
    '0 0 0',
  ],
  [
    'a free line owes its minimum all the same',
    [line('a', '80')],
    {
      discounts: [discount('d', percent('100'), { of: CONFIG })],
      commitments: [commitment('c', '50', { of: CONFIG })],
    },
    ['DISCOUNT d -80', 'COMMITMENT c 50'],
    '50 10.5 60.5',
  ],
  [
    'a discount on the total lowers the minimum of an item, and the minimum of the invoice raises it again',
    [line('a', '80')],
    {
      discounts: [discount('t', percent('50'))],
      commitments: [commitment('c', '100', { of: CONFIG }), commitment('i', '60')],
    },
    ['COMMITMENT c 20', 'DISCOUNT t -50', 'COMMITMENT i 10'],
    '60 12.6 72.6',
  ],
  [
    'deductions count towards a minimum with their sign',
    [line('a', '120'), line('b', '-40')],
    { commitments: [commitment('c', '100', { of: CONFIG })] },
    ['COMMITMENT c 20'],
    '100 21 121',
  ],
  [
    'a minimum of 0 and one below what is charged add nothing',
    [line('a', '10')],
    { commitments: [commitment('c', '0', { of: CONFIG }), commitment('i', '9.99')] },
    [],
    '10 2.1 12.1',
  ],
  [
    'a markup of a line is discounted with it, to nothing',
    [line('a', '40')],
    { markups: [markup('m', percent('25'))], discounts: [discount('d', percent('100'), { of: CONFIG })] },
    ['MARKUP m 10', 'DISCOUNT d -50'],
    '0 0 0',
  ],
  [
    'a fixed markup is not added to late usage again, and a percentage is',
    [line('a', '40', { late: true }), line('b', '10')],
    { markups: [markup('amount', off('5')), markup('percent', percent('10'))] },
    ['MARKUP amount 5', 'MARKUP percent 5.5'],
    '60.5 12.71 73.21',
  ],
  [
    'a markup and a discount of late usage are of the whole, less those of before: 6.30 and 6.93 of 62.95',
    [line('a', '0.04', { late: true, before: decimal('62.91') })],
    { markups: [markup('m', percent('10'))], discounts: [discount('d', percent('10'), { of: CONFIG })] },
    ['MARKUP m 0.01', 'DISCOUNT d -0.01'],
    '0.04 0.01 0.05',
  ],
  [
    'a wallet pays what discounts and minimums leave',
    [line('a', '50')],
    {
      discounts: [discount('d', percent('50'), { of: CONFIG })],
      commitments: [commitment('c', '40', { of: CONFIG })],
      wallets: [wallet('100')],
    },
    ['DISCOUNT d -25', 'COMMITMENT c 15', 'WALLET wall_1 -40'],
    '0 0 0',
  ],
  [
    'including tax: an amount is off the price with tax',
    [line('a', '119')],
    { discounts: [discount('d', off('19'))] },
    ['DISCOUNT d -19'],
    '84.03 15.97 100',
    gross('19'),
  ],
  [
    'including tax: what is above the price leaves neither price nor tax',
    [line('a', '59.5'), line('b', '59.5', of2)],
    { discounts: [discount('d', off('120'))] },
    ['DISCOUNT d -119'],
    '0 0 0',
    gross('19'),
  ],
  [
    'including tax: three prices of 9.99 are taxed together',
    [line('a', '9.99'), line('b', '9.99'), line('c', '9.99')],
    {},
    [],
    '25.18 4.79 29.97',
    gross('19'),
  ],
  [
    'including tax: a minimum is one with tax',
    [line('a', '60.5')],
    { commitments: [commitment('c', '121', { of: CONFIG })] },
    ['COMMITMENT c 60.5'],
    '100 21 121',
    gross('21'),
  ],
  [
    'including tax in yen',
    [line('a', '1100'), line('b', '990')],
    { discounts: [discount('d', percent('10'))] },
    ['DISCOUNT d -209'],
    '1710 171 1881',
    { ...gross('10'), currency: 'JPY' },
  ],
  [
    'half a yen is a yen, and tax of less than half is none',
    [line('a', '0.5'), line('b', '3')],
    {},
    [],
    '4 0 4',
    { ...vat('10'), currency: 'JPY' },
  ],
  [
    'dinars: a discount and the tax to the fils',
    [line('a', '10.005')],
    { discounts: [discount('d', percent('7.5'))] },
    ['DISCOUNT d -0.75'],
    '9.255 0.463 9.718',
    { ...vat('5'), currency: 'KWD' },
  ],
  [
    'tax is rounded once for all lines: 3 lines of 0.07 at 7 % owe a cent, not none',
    [line('a', '0.07'), line('b', '0.07'), line('c', '0.07')],
    {},
    [],
    '0.21 0.01 0.22',
    vat('7'),
  ],
  [
    'the tax of two authorities is that of their sum',
    [line('a', '33.33'), line('b', '66.66')],
    { discounts: [discount('d', off('9.99'))] },
    ['DISCOUNT d -9.99'],
    '90 13.48 103.48',
    { tax: QUEBEC, currency: 'CAD' },
  ],
  [
    'a partial exemption is of what discounts leave',
    [line('a', '200')],
    { discounts: [discount('d', percent('50'))] },
    ['DISCOUNT d -100'],
    '100 12.6 112.6',
    { tax: taxAtRate('VAT', '21', fraction(60, 100)) },
  ],
  [
    'UNROUNDED: what is rounded is the total, discounts included',
    [line('a', '1.005'), line('b', '1.005'), line('c', '1.005')],
    { discounts: [discount('d', percent('10'))] },
    ['DISCOUNT d -0.3015'],
    '2.71 0.57 3.28',
    { rounding: 'UNROUNDED' },
  ],
  [
    'DEFAULT: the same lines are rounded before they are discounted',
    [line('a', '1.005'), line('b', '1.005'), line('c', '1.005')],
    { discounts: [discount('d', percent('10'))] },
    ['DISCOUNT d -0.3'],
    '2.73 0.57 3.3',
  ],
]
for (const [name, lines, clauses, expected, sums, given = {}] of CASES)
  test(name, () => {
    const invoice = invoiceOf(lines, clauses, given)
    expect(made(invoice)).toEqual(expected)
    expect(totals(invoice)).toBe(sums)
  })
