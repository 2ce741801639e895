// Laws of the amount pipeline, for any lines and clauses.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum, ZERO } from '../../decimal.ts'
import { amount, toMoney } from '../../money.ts'
import { TAX_CATEGORIES } from '../tax/tax.ts'
import { applyClauses } from './apply-clauses.ts'
import { CLAUSE_LEVELS, type Clauses, LEVEL_SCOPES, NO_CLAUSES } from './clauses.ts'
import { isCharged, type Line, netOf } from './line.ts'
import { commitment, context, discount, invoiceOf, line, MARCH, markup, off, percent, span } from './testing/lines.ts'

const APRIL = { service: span('2026-04-11', '2026-05-01'), full: span('2026-04-01', '2026-05-01') }
const figure = (max: number, places: number, min = 0) =>
  fc.integer({ min: min * 10 ** places, max: max * 10 ** places }).map(value => plain(decimal(`${value}e-${places}`)))
const anyId = fc.constantFrom('1', '2')
const anyLine = (min: number) =>
  fc
    .record({
      exact: figure(500, 4, min),
      taxCategory: fc.constantFrom(...TAX_CATEGORIES),
      period: fc.constantFrom(MARCH, APRIL),
      ids: fc.tuple(anyId, anyId, anyId),
    })
    .map(({ exact, taxCategory, period, ids: [config, item, product] }) => ({
      exact,
      taxCategory,
      period,
      of: { configId: `pico_${config}`, itemId: `prii_${item}`, productId: `prod_${product}` },
    }))
const linesOf = (min: number) =>
  fc
    .array(anyLine(min), { minLength: 1, maxLength: 6 })
    .map(all => all.map(({ exact, ...given }, index) => line(`line ${index}`, exact, given)))
const anyTarget = fc.oneof(
  fc.constant(null),
  fc.tuple(fc.constantFrom(...CLAUSE_LEVELS), anyId).map(([level, id]) => {
    const prefix = {
      CONFIG: 'pico',
      ITEM: 'prii',
      PRICING: 'pric',
      PRODUCT_ITEM: 'proi',
      PRODUCT: 'prod',
      CATEGORY: 'proc',
    }
    return { level, ids: [`${prefix[level]}_${id}`] }
  }),
)
const anyChange = fc.oneof(figure(120, 2).map(percent), figure(300, 2).map(off))
const anyDuring = fc.constantFrom(null, span('2026-03-05', '2026-04-20'))
const discountsOf = fc
  .array(fc.record({ value: anyChange, of: anyTarget, during: anyDuring, isCoupon: fc.boolean() }), { maxLength: 4 })
  .map(all =>
    all.map(({ value, isCoupon, ...given }, index) =>
      discount(`d${index}`, value, { ...given, coupon: isCoupon ? { couponId: 'c', promotionCodeId: null } : null }),
    ),
  )
const commitmentsOf = fc
  .array(fc.record({ amount: figure(400, 2), of: anyTarget }), { maxLength: 3 })
  .map(all => all.map(({ amount: text, of }, index) => commitment(`c${index}`, text, { of })))
const walletsOf = fc
  .array(fc.record({ available: figure(300, 2), taxCategory: fc.constantFrom(...TAX_CATEGORIES) }), { maxLength: 2 })
  .map(all =>
    all.map(({ available, taxCategory }, index) => ({
      walletId: `w${index}`,
      taxCategory,
      currency: 'EUR',
      available: decimal(available),
    })),
  )
const anyClauses: fc.Arbitrary<Clauses> = fc
  .record({
    discounts: discountsOf,
    commitments: commitmentsOf,
    wallets: walletsOf,
    markups: fc.array(anyChange, { maxLength: 2 }).map(all => all.map((value, index) => markup(`m${index}`, value))),
  })
  .map(given => ({ ...NO_CLAUSES, ...given }))
const anyContext = fc.record({
  rounding: fc.constantFrom('DEFAULT', 'UNROUNDED'),
  amountType: fc.constantFrom('EXCLUDING_TAX', 'INCLUDING_TAX'),
})

const same = (a: Decimal, b: Decimal): void => expect(plain(a)).toBe(plain(b))
/** A division keeps 40 places, so UNROUNDED shares may differ by that little. */
const close = (a: Decimal, b: Decimal): void => expect(a.minus(b).abs().lt('1e-30')).toBe(true)

test('a step adds what its lines say, in every tax category: no cent moves between categories', () => {
  fc.assert(
    fc.property(linesOf(-50), anyClauses, anyContext, (lines, clauses, given) => {
      const after = applyClauses(lines, clauses, { ...context, ...given })
      for (const category of TAX_CATEGORIES) {
        const own = after.filter(({ taxCategory }) => taxCategory === category)
        close(sum(own.map(({ exact }) => exact)), sum(own.filter(isCharged).map(netOf)))
      }
      for (const { key, exact } of after.filter(each => !isCharged(each))) {
        const parts = after.filter(isCharged).flatMap(({ because }) => because.filter(({ lineKey }) => lineKey === key))
        close(sum(parts.map(part => part.exact)), exact)
      }
    }),
    { numRuns: 300 },
  )
})

test('DEFAULT: every line is money, and every part of one', () => {
  fc.assert(
    fc.property(linesOf(-50), anyClauses, (lines, clauses) => {
      const after = applyClauses(lines, clauses, context)
      for (const { exact, because } of after) {
        for (const figure of [exact, ...because.map(each => each.exact)]) {
          same(toMoney(amount(figure, 'EUR')).quantity, figure)
        }
      }
    }),
    { numRuns: 200 },
  )
})

test('discounts and wallets never take a charge below zero', () => {
  fc.assert(
    fc.property(linesOf(0), anyClauses, anyContext, (lines, clauses, given) => {
      const after = applyClauses(lines, clauses, { ...context, ...given })
      for (const each of after.filter(isCharged)) expect(netOf(each).gte('-1e-30')).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('a commitment on the invoice is reached, and a wallet pays no more than it has', () => {
  fc.assert(
    fc.property(linesOf(-50), anyClauses, figure(900, 2), (lines, clauses, minimum) => {
      const all = { ...clauses, commitments: [...clauses.commitments, commitment('i', minimum)], wallets: [] }
      const before = applyClauses(lines, all, context)
      expect(sum(before.filter(isCharged).map(netOf)).gte(minimum)).toBe(true)
      const after = applyClauses(lines, { ...all, wallets: clauses.wallets }, context)
      for (const { walletId, available } of clauses.wallets) {
        const used = after.filter(({ kind, because }) => kind === 'WALLET' && because[0]?.clauseId === walletId)
        expect(
          sum(used.map(({ exact }) => exact))
            .neg()
            .lte(available),
        ).toBe(true)
      }
    }),
    { numRuns: 200 },
  )
})

test('clauses change only lines in their scope: other lines stay as they are', () => {
  fc.assert(
    fc.property(linesOf(0), discountsOf, (lines, all) => {
      const scoped = all.filter(({ of }) => of !== null)
      const after = applyClauses(lines, { ...NO_CLAUSES, discounts: scoped }, context)
      const isHit = (each: Line): boolean =>
        scoped.some(({ of }) => of?.ids.includes(each.of[LEVEL_SCOPES[of.level]] ?? ''))
      for (const each of after.filter(isCharged)) if (!isHit(each)) expect(each.because).toEqual([])
    }),
  )
})

test('the same clauses in another order of levels give the same invoice', () => {
  fc.assert(
    fc.property(linesOf(0), anyChange, anyChange, anyChange, (lines, narrow, wide, total) => {
      const all = [
        discount('config', narrow, { of: { level: 'CONFIG', ids: ['pico_1'] } }),
        discount('product', wide, { of: { level: 'PRODUCT', ids: ['prod_1'] } }),
        discount('total', total),
      ]
      const one = invoiceOf(lines, { discounts: all })
      const two = invoiceOf(lines, { discounts: all.toReversed() })
      expect(two.lines.map(({ key, exact }) => [key, plain(exact)])).toEqual(
        one.lines.map(({ key, exact }) => [key, plain(exact)]),
      )
    }),
  )
})

test('without clauses nothing is added, and lines are rounded as tax would round them', () => {
  fc.assert(
    fc.property(linesOf(-50), lines => {
      const after = applyClauses(lines, NO_CLAUSES, context)
      expect(after.map(({ key }) => key)).toEqual(lines.map(({ key }) => key))
      for (const [index, { exact }] of after.entries()) {
        same(exact, toMoney(amount(lines[index]?.exact ?? ZERO, 'EUR')).quantity)
      }
    }),
  )
})

const everything = (lines: readonly Line[], clauses: Partial<Clauses>): Decimal =>
  sum(
    applyClauses(lines, { ...NO_CLAUSES, ...clauses }, { ...context, rounding: 'UNROUNDED' })
      .filter(isCharged)
      .map(netOf),
  )

test('a higher minimum never lowers what is charged before wallets, and a higher discount never raises it', () => {
  fc.assert(
    fc.property(
      linesOf(-50),
      anyClauses,
      anyTarget,
      figure(300, 2),
      figure(300, 2),
      (lines, clauses, of, one, more) => {
        const withMinimum = (amountOf: Decimal) =>
          everything(lines, {
            ...clauses,
            wallets: [],
            commitments: [...clauses.commitments, commitment('c', plain(amountOf), { of })],
          })
        const higher = decimal(one).plus(more)
        expect(
          withMinimum(higher)
            .minus(withMinimum(decimal(one)))
            .gte('-1e-30'),
        ).toBe(true)
        const withDiscount = (amountOf: Decimal) =>
          everything(lines, { discounts: [discount('d', off(plain(amountOf)), { of })] })
        expect(
          withDiscount(higher)
            .minus(withDiscount(decimal(one)))
            .lte('1e-30'),
        ).toBe(true)
      },
    ),
    { numRuns: 200 },
  )
})

test('percentages of one width are the same in any order, up to rounding', () => {
  fc.assert(
    fc.property(linesOf(0), anyTarget, fc.array(figure(100, 2), { maxLength: 4 }), (lines, of, percentages) => {
      const all = percentages.map((text, index) => discount(`d${index}`, percent(text), { of }))
      close(everything(lines, { discounts: all }), everything(lines, { discounts: all.toReversed() }))
    }),
  )
})

test('the lines of an invoice sum to its totals, and are the same when it is computed again', () => {
  fc.assert(
    fc.property(linesOf(-50), anyClauses, (lines, clauses) => {
      const invoice = invoiceOf(lines, clauses)
      const { lines: priced, totals } = invoice.amounts
      same(sum(priced.map(each => each.amountExcludingTax.quantity)), totals.base.quantity)
      same(sum(priced.map(each => each.taxAmount.quantity)), totals.tax.quantity)
      expect(JSON.stringify(invoiceOf(lines, clauses))).toBe(JSON.stringify(invoice))
    }),
  )
})
