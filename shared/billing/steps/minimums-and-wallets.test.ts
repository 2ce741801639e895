// Worked examples of the amount pipeline: minimums, money wallets, prices with tax, and currencies.
import { decimal } from '../../decimal.ts'
import { taxAtRate } from '../tax/tax.ts'
import { CONFIG, ITEM, testCases } from './testing/cases.ts'
import { commitment, discount, line, percent, since, span } from './testing/lines.ts'

const PRICING = { level: 'PRICING', ids: ['pric_1'] } as const
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
const untaxed = { tax: taxAtRate('VAT', '0') }

testCases([
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
])
