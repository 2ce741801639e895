// Laws and examples of what entitlements come to together (semantics 2, Reading).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { mergeEntitlements, sumGrants } from './merge-entitlements.ts'
import type { Entitlement, Grant } from './schema.ts'

const NOTHING = { number: null, switch: null, amount: null, enum: null, string: null }
const OWN = { override: false, overwrite: false }
const of = (feature: string, value: Partial<Entitlement>): Entitlement => ({
  feature_id: `feat_${feature}`,
  feature_reference: feature,
  ...OWN,
  ...NOTHING,
  ...value,
})
const seats = (number: string, over: Partial<Entitlement> = {}) => of('seats', { number, ...over })
const budget = (quantity: string, currency: string, over: Partial<Entitlement> = {}) =>
  of('budget', { amount: { quantity, currency }, ...over })
const replacing = { override: true }

/** What is granted, without names and nulls. */
const values = (grants: readonly Grant[]) =>
  grants.map(({ number, switch: on, amount, enums, strings }) =>
    [number, on, amount && `${amount.quantity} ${amount.currency}`, enums, strings].find(value => value !== null),
  )

describe('what a plan and a schedule grant', () => {
  test.each<[string, Entitlement[], Entitlement[], unknown[]]>([
    ['nothing', [], [], []],
    ['numbers add up, exactly', [seats('0.1'), seats('0.2')], [seats('5')], ['5.3']],
    ['a schedule may take away', [seats('10')], [seats('-3')], ['7']],
    ['one that replaces holds alone in the plan', [seats('10'), seats('3', replacing), seats('4')], [], ['3']],
    ['overwrite is the same', [seats('10'), seats('3', { overwrite: true })], [], ['3']],
    ['of two that replace, the last', [seats('3', replacing), seats('8', replacing)], [], ['8']],
    ['a schedule adds to one that replaced', [seats('10'), seats('3', replacing)], [seats('2')], ['5']],
    ['a schedule beats the plan', [seats('3', replacing)], [seats('1', replacing)], ['1']],
    ['and only for its feature', [seats('3'), of('sso', { switch: true })], [seats('1', replacing)], ['1', true]],
    ['a switch is on when one is', [of('sso', { switch: false })], [of('sso', { switch: true })], [true]],
    ['and off when none is', [of('sso', { switch: false })], [], [false]],
    ['or was replaced', [of('sso', { switch: true })], [of('sso', { switch: false, ...replacing })], [false]],
    [
      'texts each once',
      [of('models', { enum: 'small' }), of('models', { enum: 'large' })],
      [of('models', { enum: 'small' })],
      [['large', 'small']],
    ],
    ['strings too', [of('region', { string: 'eu' })], [of('region', { string: 'asia' })], [['asia', 'eu']]],
    [
      'money by currency, never added across',
      [budget('10', 'USD'), budget('2.5', 'EUR')],
      [budget('5', 'USD')],
      ['2.5 EUR', '15 USD'],
    ],
    ['replaced whatever its currency', [budget('10', 'USD')], [budget('1', 'EUR', replacing)], ['1 EUR']],
    ['by reference', [of('b', { number: '1' })], [of('a', { number: '2' })], ['2', '1']],
  ])('%s', (_case, plan, schedule, expected) => {
    expect(values(mergeEntitlements(plan, schedule))).toEqual(expected)
  })

  test('says whether something was replaced', () => {
    expect(mergeEntitlements([seats('3', replacing)], [])).toMatchObject([{ override: true, overwrite: false }])
    expect(mergeEntitlements([seats('3', replacing)], [seats('1', { overwrite: true })])).toMatchObject([
      { override: false, overwrite: true },
    ])
  })
})

const number = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat({ max: 999 }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(3, '0')}`)
const flags = fc.record({ override: fc.boolean(), overwrite: fc.boolean() })
const entitlement = fc.oneof(
  fc
    .tuple(fc.constantFrom('n1', 'n2'), number, flags)
    .map(([name, value, over]) => of(name, { number: value, ...over })),
  fc.tuple(fc.boolean(), flags).map(([on, over]) => of('s', { switch: on, ...over })),
  fc
    .tuple(number, fc.constantFrom('EUR', 'USD'), flags)
    .map(([quantity, currency, over]) => budget(quantity, currency, over)),
  fc.tuple(fc.constantFrom('x', 'y', 'z'), flags).map(([value, over]) => of('e', { enum: value, ...over })),
)
const entitlements = fc.array(entitlement, { maxLength: 8 })
const grants = fc.tuple(entitlements, entitlements).map(([plan, schedule]) => mergeEntitlements(plan, schedule))

describe('laws of adding up', () => {
  test('neither the order nor the grouping of subscriptions matters', () => {
    fc.assert(
      fc.property(grants, grants, grants, (a, b, c) => {
        const all = sumGrants([...a, ...b, ...c])
        expect(sumGrants([...c, ...a, ...b])).toEqual(all)
        expect(sumGrants([...sumGrants([...a, ...b]), ...c])).toEqual(all)
        expect(sumGrants(all)).toEqual(all)
      }),
    )
  })

  test('nothing is lost: the sum of every number is the sum of the grants', () => {
    const total = (of: readonly { number: string | null }[]) =>
      plain(sum(of.flatMap(each => (each.number === null ? [] : [decimal(each.number)]))))
    fc.assert(
      fc.property(entitlements, entitlements, (plan, schedule) => {
        const plainOnes = (list: readonly Entitlement[]) => list.map(each => ({ ...each, ...OWN }))
        expect(total(mergeEntitlements(plainOnes(plan), plainOnes(schedule)))).toBe(total([...plan, ...schedule]))
      }),
    )
  })

  test('of a feature that the schedule replaces, the plan makes no difference', () => {
    fc.assert(
      fc.property(entitlements, entitlements, entitlement, (plan, other, one) => {
        const schedule = [{ ...one, override: true }]
        const its = (list: readonly Grant[]) => list.filter(each => each.feature_id === one.feature_id)
        expect(its(mergeEntitlements(plan, schedule))).toEqual(its(mergeEntitlements(other, schedule)))
      }),
    )
  })
})
