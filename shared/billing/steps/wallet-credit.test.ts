// What wallets pay of an invoice with refunds: what is due, and never so much that the total falls below zero.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, max, plain, sum, ZERO } from '../../decimal.ts'
import { fraction } from '../fraction.ts'
import { TAX_CATEGORIES, taxAtRate, taxOfCategory } from '../tax/tax.ts'
import { applyClauses } from './apply-clauses.ts'
import { NO_CLAUSES, type WalletBalance } from './clauses.ts'
import { isCharged, type Line, netOf } from './line.ts'
import type { StepContext } from './step.ts'
import { type Applied, context, discount, invoiceOf, line, made, off, totals } from './testing/lines.ts'

const wallet = (available: string, given: Partial<WalletBalance> = {}): WalletBalance => ({
  walletId: 'wall_1',
  taxCategory: 'STANDARD',
  currency: 'EUR',
  available: decimal(available),
  ...given,
})
const EXEMPT = { taxCategory: 'EXEMPT' } as const
const BESIDE = { applicableForClauses: [] }

describe('what a wallet pays', () => {
  test.each<[string, Line[], WalletBalance[], string[], string, Partial<StepContext>?]>([
    [
      'what a refund leaves',
      [line('a', '80'), line('b', '-50', BESIDE)],
      [wallet('100')],
      ['WALLET wall_1 -30'],
      '0 0 0',
    ],
    [
      'nothing for the line that fills it, which another wallet may pay',
      [line('fee', '80'), line('b', '20')],
      [wallet('100', { except: new Set(['fee']) }), wallet('30', { walletId: 'second' })],
      ['WALLET wall_1 -20', 'WALLET second -30'],
      '50 10.5 60.5',
    ],
    [
      'nothing where more is refunded',
      [line('a', '30'), line('b', '-50', BESIDE)],
      [wallet('100')],
      [],
      '-20 -4.2 -24.2',
    ],
    [
      'a refund in another tax category, which lowers the total due: 96.80 - 50.00 = 46.80, 38.68 before tax',
      [line('a', '80'), line('b', '-50', EXEMPT)],
      [wallet('100')],
      ['WALLET wall_1 -38.68'],
      '-8.68 8.68 0',
    ],
    [
      'what is due with the tax of the invoice; a refund with another one lowers the total: 100 - 60.50 = 39.50',
      [line('a', '100'), line('b', '-50', { ...BESIDE, tax: taxOfCategory(taxAtRate('VAT', '21'), 'STANDARD') })],
      [wallet('100')],
      ['WALLET wall_1 -39.5'],
      '10.5 -10.5 0',
      { tax: taxAtRate('VAT', '0') },
    ],
    [
      'the same with an exempt wallet: 30.00 - 24.20 is due',
      [line('a', '30', EXEMPT), line('b', '-20')],
      [wallet('100', EXEMPT)],
      ['WALLET wall_1 -5.8 EXEMPT'],
      '4.2 -4.2 0',
    ],
    [
      'nothing where the refund in another tax category is more than is due',
      [line('a', '30', EXEMPT), line('b', '-40')],
      [wallet('100', EXEMPT)],
      [],
      '-10 -8.4 -18.4',
    ],
    [
      'a cent less where the rounding of tax would leave a debt: 0.10 is due, and 0.09 before tax',
      [line('a', '0.1'), line('b', '-0.02', EXEMPT)],
      [wallet('100')],
      ['WALLET wall_1 -0.08'],
      '0 0 0',
    ],
    [
      'a cent less, though a cent stays due: 0.12 - 0.03 is due, and 0.08 before tax',
      [line('a', '0.1'), line('b', '-0.03', EXEMPT)],
      [wallet('100')],
      ['WALLET wall_1 -0.07'],
      '0 0.01 0.01',
    ],
    [
      'two wallets share what is due',
      [line('a', '80'), line('b', '-24.2', EXEMPT), line('c', '10', EXEMPT)],
      [wallet('30'), wallet('10', { walletId: 'exempt', ...EXEMPT }), wallet('90', { walletId: 'second' })],
      ['WALLET wall_1 -30', 'WALLET second -38.26'],
      '-2.46 2.47 0.01',
    ],
    [
      'including tax',
      [line('a', '121'), line('b', '-60.5', EXEMPT)],
      [wallet('100')],
      ['WALLET wall_1 -60.5'],
      '-10.5 10.5 0',
      { amountType: 'INCLUDING_TAX' },
    ],
    [
      'all of it where other tax categories are charged',
      [line('a', '80'), line('b', '-10', EXEMPT), line('c', '15', EXEMPT)],
      [wallet('100')],
      ['WALLET wall_1 -80'],
      '5 0 5',
    ],
  ])('%s', (_title, lines, wallets, expected, total, given) => {
    const invoice = invoiceOf(lines, { wallets }, given)
    expect(made(invoice)).toEqual(expected)
    expect(totals(invoice)).toBe(total)
  })
})

const cents = (max: number, min = 0) =>
  fc.integer({ min: min * 10_000, max: max * 10_000 }).map(value => plain(decimal(`${value}e-4`)))
const anyCategory = fc.constantFrom(...TAX_CATEGORIES)
const anyLines = fc
  .array(fc.record({ exact: cents(200, -150), taxCategory: anyCategory, isBeside: fc.boolean() }), {
    minLength: 1,
    maxLength: 6,
  })
  .map(all =>
    all.map(({ exact, isBeside, taxCategory }, index) =>
      line(`line ${index}`, exact, { taxCategory, ...(isBeside ? BESIDE : {}) }),
    ),
  )
const anyWallets = fc
  .array(fc.record({ available: cents(250), taxCategory: anyCategory }), { maxLength: 3 })
  .map(all => all.map(({ available, ...given }, index) => wallet(available, { walletId: `w${index}`, ...given })))
const anyContext: fc.Arbitrary<StepContext> = fc
  .record({
    rounding: fc.constantFrom('DEFAULT' as const, 'UNROUNDED' as const),
    amountType: fc.constantFrom('EXCLUDING_TAX' as const, 'INCLUDING_TAX' as const),
    tax: fc.constantFrom(taxAtRate('VAT', '21'), taxAtRate('VAT', '8.1'), taxAtRate('VAT', '19', fraction(1, 3))),
  })
  .map(given => ({ ...context, ...given }))

const totalOf = ({ amounts }: Applied): Decimal => amounts.totals.total.quantity
const inCategory = (lines: readonly Line[], category: string): Decimal =>
  sum(lines.filter(each => isCharged(each) && each.taxCategory === category).map(netOf))

test('wallets never make an invoice or a tax category negative, and pay nothing when it already is', () => {
  fc.assert(
    fc.property(anyLines, anyWallets, fc.option(cents(60)), anyContext, (lines, wallets, deducted, given) => {
      const discounts = deducted === null ? [] : [discount('d', off(deducted))]
      const without = invoiceOf(lines, { discounts }, given)
      const paid = invoiceOf(lines, { discounts, wallets }, given)
      const due = max(totalOf(without), ZERO)
      // A wallet pays at most what is due, so the total falls by no more than that.
      expect(totalOf(paid).gte(totalOf(without).minus(due))).toBe(true)
      if (totalOf(without).lte(ZERO)) expect(totals(paid)).toBe(totals(without))
      const clauses = { ...NO_CLAUSES, discounts }
      const before = applyClauses(lines, clauses, given)
      const after = applyClauses(lines, { ...clauses, wallets }, given)
      for (const category of TAX_CATEGORIES) {
        const [was, is] = [inCategory(before, category), inCategory(after, category)]
        expect(is.lte(was.plus('1e-30'))).toBe(true)
        expect(was.gt(ZERO) ? is.gte('-1e-30') : is.eq(was)).toBe(true)
      }
    }),
    { numRuns: 200 },
  )
})

test('they pay all that is due in their tax category as long as nothing is refunded in another', () => {
  fc.assert(
    fc.property(anyLines, anyCategory, anyContext, (lines, taxCategory, given) => {
      const before = applyClauses(lines, NO_CLAUSES, given)
      fc.pre(TAX_CATEGORIES.every(each => each === taxCategory || inCategory(before, each).gte(ZERO)))
      const { lines: after } = invoiceOf(lines, { wallets: [wallet('9999', { taxCategory })] }, given)
      const [was, is] = [inCategory(before, taxCategory), inCategory(after, taxCategory)]
      expect(was.gt(ZERO) ? is.abs().lt('1e-30') : is.eq(was)).toBe(true)
    }),
    { numRuns: 100 },
  )
})
