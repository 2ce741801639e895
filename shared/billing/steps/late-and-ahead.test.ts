// What clauses make of usage that arrived late, of fees that are charged ahead, and of lines of several tax categories. Every expected
// figure is computed by hand.
import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../decimal.ts'
import { taxAtRate } from '../tax/tax.ts'
import { type Clauses, NO_CLAUSES } from './clauses.ts'
import type { Line } from './line.ts'
import { commitment, discount, invoiceOf, line, MARCH, made, markup, off, percent, span } from './testing/lines.ts'

const CONFIG = { level: 'CONFIG', ids: ['pico_1'] } as const
const COUPON = { couponId: 'coup_1', promotionCodeId: null }
const minimum = (amount: string, given = {}): Partial<Clauses> => ({
  commitments: [commitment('c', amount, { of: CONFIG, ...given })],
})
const ahead = { inAdvance: true } as const
const late = (before: string) => ({ late: true, before: decimal(before) })
const { start } = MARCH.service
const period = (from: string, to: string) => ({ period: { service: span(from, to), full: MARCH.full } })

const reached = (...keys: readonly string[]) => keys.map(key => ({ key, part: null }))

describe('a minimum', () => {
  test.each<[string, Line[], Partial<Clauses>, string[]]>([
    [
      'of one cent goes to a category that has lines, whole',
      [line('a', '1'), line('b', '1', { taxCategory: 'NO_TAX' })],
      minimum('2.01'),
      ['COMMITMENT c 0.01'],
    ],
    [
      'is due where a fee ahead stands beside usage',
      [line('a', '30', ahead), line('b', '20')],
      minimum('100'),
      ['COMMITMENT c 50'],
    ],
    ['waits for usage where only the fee ahead is charged', [line('a', '30', ahead)], minimum('100'), []],
    ['of fees ahead waits for nothing', [line('a', '30', ahead)], minimum('100', ahead), ['COMMITMENT c 70']],
    [
      'counts what was charged before for the same time',
      [line('a', '20')],
      { ...minimum('100'), billedBefore: [line('b', '30', ahead)] },
      ['COMMITMENT c 50'],
    ],
    [
      'counts nothing that was charged before for another time, or for another price',
      [line('a', '20')],
      {
        ...minimum('100'),
        billedBefore: [
          line('b', '30', period('2026-03-01', '2026-03-16')),
          line('c', '30', period('2026-03-16', '2026-04-01')),
          line('d', '30', { of: { configId: 'pico_2' } }),
        ],
      },
      ['COMMITMENT c 80'],
    ],
    [
      'that was reached ahead is given back as usage fills it',
      [line('a', '20')],
      {
        ...minimum('100'),
        billedBefore: [line('b', '30', ahead)],
        minimumsBefore: reached(`COMMITMENT c ${start} ${MARCH.service.end} STANDARD`),
      },
      ['COMMITMENT c -20'],
    ],
    [
      'that was reached ahead for another month gives nothing back',
      [line('a', '20')],
      {
        ...minimum('100'),
        billedBefore: [line('b', '30', ahead)],
        minimumsBefore: reached(
          `COMMITMENT c ${start}0 ${MARCH.service.end} STANDARD`,
          `COMMITMENT d ${start} STANDARD`,
        ),
      },
      ['COMMITMENT c 50'],
    ],
    [
      'of one price follows late usage',
      [line('a', '-10', late('90'))],
      { ...minimum('100'), billedBefore: [line('b', '90')] },
      ['COMMITMENT c 10'],
    ],
    [
      'of several prices is left as it was charged',
      [line('a', '-10', late('90'))],
      { ...minimum('100', { isOfOnePrice: false }), billedBefore: [line('b', '90')] },
      [],
    ],
    [
      'of several prices is due as long as one line is not late',
      [line('a', '10', late('90')), line('b', '20')],
      minimum('100', { isOfOnePrice: false }),
      ['COMMITMENT c 70'],
    ],
  ])('%s', (_name, lines, clauses, expected) => {
    expect(made(invoiceOf(lines, clauses))).toEqual(expected)
  })

  test.each<[string, Line[], Partial<Clauses>, boolean]>([
    ['is charged ahead where every line of it is', [line('a', '30', ahead)], minimum('100', ahead), true],
    [
      'is in arrears where one of its lines is',
      [line('a', '30', ahead), line('b', '20')],
      minimum('100', ahead),
      false,
    ],
    ['on the invoice is in arrears', [line('a', '30', ahead)], { commitments: [commitment('c', '100')] }, false],
  ])('%s', (_name, lines, clauses, expected) => {
    const { lines: after } = invoiceOf(lines, clauses)
    expect(after.filter(({ kind }) => kind === 'COMMITMENT').map(({ inAdvance }) => inAdvance)).toEqual([expected])
  })
})

describe('late usage', () => {
  test.each<[string, Line[], Partial<Clauses>, string[]]>([
    ['takes no amount of a markup again', [line('a', '10', late('90'))], { markups: [markup('m', off('5'))] }, []],
    [
      'takes the percentage of a markup',
      [line('a', '10', late('90'))],
      { markups: [markup('m', percent('10'))] },
      ['MARKUP m 1'],
    ],
    [
      'that lowers usage lowers its markup',
      [line('a', '-10', late('90'))],
      { markups: [markup('m', percent('10'))] },
      ['MARKUP m -1'],
    ],
    [
      'rounds a markup of the whole, less that of what was charged',
      [line('a', '0.04', late('0.01'))],
      { markups: [markup('m', percent('50'))] },
      // Half of 0.05 is 0.03 rounded, and half of 0.01 was 0.01.
      ['MARKUP m 0.02'],
    ],
    [
      'hands what its percentages gave before on to the next one',
      [line('a', '0.01', late('0.02'))],
      { markups: [markup('m', percent('50'))], discounts: [discount('d', percent('10'), { of: CONFIG })] },
      // 0.02 less the 0.01 of before; then of 0.05 it is 0.01, and of the 0.03 of before it was 0.00.
      ['MARKUP m 0.01', 'DISCOUNT d -0.01'],
    ],
    [
      'takes no amount of a discount again, and the amount of a coupon neither',
      [line('a', '10', late('90'))],
      {
        discounts: [discount('d', off('5'), { of: CONFIG }), discount('k', off('5'), { of: CONFIG, coupon: COUPON })],
      },
      [],
    ],
    [
      'is alone what a coupon, a condition and a discount on the total are of',
      [line('a', '-10', late('90'))],
      {
        discounts: [
          discount('k', percent('10'), { of: CONFIG, coupon: COUPON }),
          discount('t', percent('10')),
          discount('q', percent('10'), { of: CONFIG, condition: { comparator: 'LESS_THAN', amount: decimal('1000') } }),
        ],
      },
      [],
    ],
  ])('%s', (_name, lines, clauses, expected) => {
    expect(made(invoiceOf(lines, clauses))).toEqual(expected)
  })
})

describe('a change of several lines', () => {
  const april = { period: { service: span('2026-04-01', '2026-05-01'), full: span('2026-04-01', '2026-05-01') } }
  const inMarch = { during: MARCH.service }

  test.each<[string, Line[], Partial<Clauses>, string[]]>([
    [
      'discounts no more than there is, though a deduction lies outside of its time',
      [line('a', '10'), line('b', '-5', april)],
      { discounts: [discount('t', percent('100'), inMarch)] },
      ['DISCOUNT t -5'],
    ],
    [
      'discounts nothing of a deduction alone, though a charge lies outside of its time',
      [line('a', '-5'), line('b', '10', april)],
      { discounts: [discount('t', percent('100'), inMarch)] },
      [],
    ],
    [
      'deducts an amount on the total whole as soon as its time touches one of them',
      [line('a', '10'), line('b', '10', april)],
      { discounts: [discount('t', off('6'), inMarch)] },
      ['DISCOUNT t -6'],
    ],
    [
      'marks up the lines that are charged, beside one of zero',
      [line('a', '0'), line('b', '10')],
      { markups: [markup('m', percent('10'))] },
      ['MARKUP m 1'],
    ],
  ])('%s', (_name, lines, clauses, expected) => {
    expect(made(invoiceOf(lines, clauses))).toEqual(expected)
  })

  const changes = (lines: Line[], clauses: Partial<Clauses>): Line[] =>
    invoiceOf(lines, clauses).lines.filter(({ kind }) => kind === 'DISCOUNT')

  test('makes a line for each, in order of time, neither ahead nor late', () => {
    const half = period('2026-03-01', '2026-03-16')
    const lines = [line('a', '10', april), line('b', '10'), line('c', '10', { ...half, ...ahead })]
    const found = changes(lines, { discounts: [discount('d', percent('10'), { of: CONFIG })] })
    expect(found.map(each => each.period.service)).toEqual([half.period.service, MARCH.service, april.period.service])
    expect(found.map(each => [each.inAdvance, each.late])).toEqual([
      [false, false],
      [false, false],
      [false, false],
    ])
  })

  test('of a coupon is of the one period that there is', () => {
    const [found] = changes([line('a', '10', april)], {
      discounts: [discount('k', off('5'), { of: CONFIG, coupon: COUPON })],
    })
    expect(found?.period.service).toEqual(april.period.service)
  })

  test('on the total names no share of its own, because each line has one', () => {
    const firstHalf = { during: span('2026-03-01', '2026-03-16') }
    const [found] = changes([line('a', '31')], { discounts: [discount('t', percent('10'), firstHalf)] })
    expect(found && plain(found.exact)).toBe('-1.5')
    expect(found?.because.map(({ share }) => share)).toEqual([null])
  })
})

describe('a coupon on some things', () => {
  const april = { period: { service: span('2026-04-01', '2026-05-01'), full: span('2026-04-01', '2026-05-01') } }
  const both = [line('a', '10'), line('b', '10', april)]
  const coupon = { of: CONFIG, coupon: COUPON }
  const above15 = { condition: { comparator: 'GREATER_THAN', amount: decimal('15') } } as const
  test.each<[string, Partial<Clauses>, string[]]>([
    ['deducts an amount once from all periods', { discounts: [discount('k', off('5'), coupon)] }, ['DISCOUNT k -5']],
    [
      'deducts it from each by the rule of before',
      { discounts: [discount('k', off('5'), { ...coupon, eachPeriod: true })] },
      ['DISCOUNT k -5', 'DISCOUNT k -5'],
    ],
    [
      'asks its condition of all periods together',
      { discounts: [discount('k', percent('10'), { ...coupon, ...above15 })] },
      ['DISCOUNT k -2'],
    ],
    [
      'asks it of each by the rule of before',
      { discounts: [discount('k', percent('10'), { ...coupon, ...above15, eachPeriod: true })] },
      [],
    ],
    [
      'deducts a percentage from each period',
      { discounts: [discount('k', percent('10'), coupon)] },
      ['DISCOUNT k -1', 'DISCOUNT k -1'],
    ],
    [
      'is of the lines of its own schedule alone',
      {
        discounts: [
          discount('k', percent('10'), { ...coupon, scheduleId: 'ppsc_1' }),
          discount('l', percent('10'), { ...coupon, scheduleId: 'ppsc_2' }),
        ],
      },
      ['DISCOUNT k -1', 'DISCOUNT k -1'],
    ],
  ])('%s', (_name, clauses, expected) => {
    expect(made(invoiceOf(both, clauses))).toEqual(expected)
  })
})

test('a line notes of each change what was given: its percentage, the share of its time, and what was taken before', () => {
  const firstHalf = { of: CONFIG, during: span('2026-03-01', '2026-03-16') }
  const taken = [{ time: MARCH.service, amount: decimal('1') }]
  const { lines } = invoiceOf([line('a', '31')], {
    markups: [markup('m', percent('10'), firstHalf), markup('n', off('31'), firstHalf)],
    discounts: [discount('d', percent('20'), firstHalf), discount('e', off('5'), { of: CONFIG, taken })],
  })
  const noted = lines[0]?.because.map(({ clauseId, percentage, share, taken: before }) => [
    clauseId,
    percentage && plain(percentage),
    share && `${plain(share.numerator)}/${plain(share.denominator)}`,
    before && plain(before),
  ])
  expect(noted).toEqual([
    ['m', '10', '15/31', undefined],
    ['n', null, '15/31', undefined],
    ['d', '20', '15/31', undefined],
    ['e', null, null, '1'],
  ])
})

describe('free usage', () => {
  const free = {
    ...{ id: 'u', quantity: decimal('5'), coupon: COUPON },
    parts: [
      { lineKey: 'a', exact: decimal('2.50') },
      { lineKey: 'a', exact: decimal('0.50') },
      { lineKey: 'c', exact: decimal('1') },
    ],
  }
  test('is deducted from the lines that it is of, by period and tax category, and noted with its coupon', () => {
    const lines = [
      line('a', '10'),
      line('b', '7'),
      line('c', '4', { taxCategory: 'EXEMPT', ...period('2026-03-01', '2026-03-16') }),
    ]
    const invoice = invoiceOf(lines, { ...NO_CLAUSES, freeUsage: [free] })
    expect(made(invoice)).toEqual(['DISCOUNT u -1 EXEMPT', 'DISCOUNT u -3'])
    expect(invoice.lines.map(({ key, because }) => [key, because.length]).slice(0, 3)).toEqual([
      ['a', 1],
      ['b', 0],
      ['c', 1],
    ])
    const [why] = invoice.lines[0]?.because ?? []
    expect([why?.step, why && plain(why.base), why?.percentage, why?.share, why?.coupon]).toEqual([
      'DISCOUNT',
      '10',
      null,
      null,
      COUPON,
    ])
  })
})

describe('a wallet', () => {
  const wallet = { walletId: 'w', taxCategory: 'STANDARD' as const, currency: 'EUR', available: decimal('50') }
  const shares = (amountType: 'EXCLUDING_TAX' | 'INCLUDING_TAX', percentage = '21') =>
    invoiceOf([line('a', '121')], { wallets: [wallet] }, { amountType, tax: taxAtRate('VAT', percentage) })
      .lines.filter(({ kind }) => kind === 'WALLET')
      .flatMap(({ because }) => because.map(({ share }) => share && plain(share.numerator.div(share.denominator))))

  test('notes the factor to amounts with tax, and none where amounts are net as its money is', () => {
    expect(shares('EXCLUDING_TAX')).toEqual([null])
    expect(shares('INCLUDING_TAX')).toEqual(['1.21'])
    expect(shares('INCLUDING_TAX', '100')).toEqual(['2'])
  })
})
