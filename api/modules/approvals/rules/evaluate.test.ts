// The rules of approval policies: tables of each type, and the laws of what is not known (semantics 7, example N).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal } from '../../../../shared/decimal.ts'
import type { Rule, RuleComparator, RuleGroups } from '../schema.ts'
import { type Convert, evaluate } from './evaluate.ts'
import type { Facts } from './facts.ts'

const NOTHING: Facts = {
  discount: { percentages: [], amounts: [] },
  commitments: [],
  has_override: false,
  custom_fields: {},
  is_custom: { billing_entity: false, billing_period: false, due_date: false, payment_acceptor: false },
}
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const usd = (quantity: string) => ({ quantity, currency: 'USD' })
/** Two dollars are one euro; nothing else can be converted. */
const convert: Convert = ({ quantity, currency }, to) => {
  if (currency === to) return decimal(quantity)
  return currency === 'USD' && to === 'EUR' ? decimal(quantity).div(decimal('2')) : null
}
const judged = (groups: RuleGroups, facts: Partial<Facts> = {}, before: Facts | null = null) =>
  evaluate(groups, { before, after: { ...NOTHING, ...facts } }, convert)
const one = (rule: Rule, facts: Partial<Facts> = {}) => judged([{ rules: [rule] }], facts).status

const REQUIRED = 'APPROVAL_REQUIRED'
const NONE = 'NO_APPROVAL_REQUIRED'
const UNKNOWN = 'CANNOT_BE_DETERMINED'

const percent = (comparator: RuleComparator, percentage: string): Rule => ({
  type: 'DISCOUNT',
  comparator,
  discount: { percentage },
})
const off = (comparator: RuleComparator, quantity: string): Rule => ({
  type: 'DISCOUNT',
  comparator,
  discount: { amount: eur(quantity) },
})
const committed = (comparator: RuleComparator, quantity: string): Rule => ({
  type: 'COMMITMENT',
  comparator,
  commitment: { amount: eur(quantity) },
})
const percentages = (...all: string[]): Partial<Facts> => ({ discount: { percentages: all, amounts: [] } })
const amounts = (...all: { quantity: string; currency: string }[]): Partial<Facts> => ({
  discount: { percentages: [], amounts: all },
})

describe('each type', () => {
  test.each<[string, Rule, Partial<Facts>, string]>([
    ['ALWAYS_APPROVE', { type: 'ALWAYS_APPROVE' }, {}, REQUIRED],
    ['the largest percentage counts', percent('GREATER_THAN', '10'), percentages('5', '12'), REQUIRED],
    ['"10" is ten percent, and not more than itself', percent('GREATER_THAN', '10'), percentages('10'), NONE],
    ['a bound may be met', percent('GREATER_THAN_OR_EQUALS', '10'), percentages('10.00'), REQUIRED],
    ['no discount is one of 0', percent('LESS_THAN', '1'), {}, REQUIRED],
    ['an equal percentage', percent('EQUALS', '10'), percentages('10.0'), REQUIRED],
    ['an amount is no percentage', percent('GREATER_THAN', '10'), amounts(eur('500')), NONE],
    ['the largest amount counts', off('GREATER_THAN', '100'), amounts(eur('99'), eur('101')), REQUIRED],
    ['in the currency of the rule', off('GREATER_THAN', '100'), amounts(usd('200')), NONE],
    ['and more than that', off('GREATER_THAN', '100'), amounts(usd('202')), REQUIRED],
    ['a percentage is no amount', off('GREATER_THAN', '100'), percentages('100'), NONE],
    ['no commitment is one of 0', committed('LESS_THAN', '500'), {}, REQUIRED],
    ['a commitment below', committed('LESS_THAN', '500'), { commitments: [eur('400')] }, REQUIRED],
    ['the largest commitment counts', committed('LESS_THAN', '500'), { commitments: [eur('400'), eur('600')] }, NONE],
    ['at most', committed('LESS_THAN_OR_EQUALS', '500'), { commitments: [eur('500')] }, REQUIRED],
    ['other prices', { type: 'PRICING', pricing: { has_override: true } }, { has_override: true }, REQUIRED],
    ['no other prices', { type: 'PRICING', pricing: { has_override: true } }, {}, NONE],
    ['prices as they are', { type: 'PRICING', pricing: { has_override: false } }, {}, REQUIRED],
  ])('%s', (_name, rule, facts, status) => {
    expect(one(rule, facts)).toBe(status)
  })

  test.each([
    ['BILLING_ENTITY', 'billing_entity'],
    ['BILLING_PERIOD', 'billing_period'],
    ['DUE_DATE', 'due_date'],
    ['PAYMENT_ACCEPTOR', 'payment_acceptor'],
  ] as const)('%s differs from the default of the platform, or not, or there is none', (type, name) => {
    const withIt = (is: boolean | null): Partial<Facts> => ({ is_custom: { ...NOTHING.is_custom, [name]: is } })
    const rule: Rule = { type, [name]: { is_custom: true } }
    const standard: Rule = { type, [name]: { is_custom: false } }
    expect([one(rule, withIt(true)), one(rule, withIt(false)), one(rule, withIt(null))]).toEqual([
      REQUIRED,
      NONE,
      UNKNOWN,
    ])
    expect([one(standard, withIt(true)), one(standard, withIt(false))]).toEqual([NONE, REQUIRED])
  })

  test('CUSTOM_FIELD compares the values of the field, and none is not known', () => {
    const rule = (value: string, comparator?: RuleComparator): Rule => ({
      type: 'CUSTOM_FIELD',
      ...(comparator ? { comparator } : {}),
      custom_field: { id: 'cufi_1', value },
    })
    const withValues = (...values: string[]): Partial<Facts> => ({ custom_fields: { cufi_1: values } })
    expect(one(rule('high'), withValues('low', 'high'))).toBe(REQUIRED)
    expect(one(rule('high'), withValues('low'))).toBe(NONE)
    expect(one(rule('high'), { custom_fields: { cufi_2: ['high'] } })).toBe(UNKNOWN)
    expect(one(rule('10', 'GREATER_THAN'), withValues('9'))).toBe(NONE)
    expect(one(rule('10', 'GREATER_THAN'), withValues('9', '11'))).toBe(REQUIRED)
    // The field was a NUMBER when the policy was made.
    expect(one(rule('10', 'GREATER_THAN'), withValues('many'))).toBe(UNKNOWN)
  })
})

describe('groups', () => {
  const groups: RuleGroups = [
    { rules: [percent('GREATER_THAN', '10')] },
    { rules: [committed('LESS_THAN', '500'), { type: 'BILLING_ENTITY', billing_entity: { is_custom: true } }] },
  ]

  test('N: 12 % needs an approval; 8 % with 400 committed at the default entity needs none', () => {
    expect(judged(groups, percentages('12')).status).toBe(REQUIRED)
    const small = { ...percentages('8'), commitments: [eur('400')] }
    expect(judged(groups, small).status).toBe(NONE)
    const elsewhere = { is_custom: { ...NOTHING.is_custom, billing_entity: true } }
    expect(judged(groups, { ...small, ...elsewhere }).status).toBe(REQUIRED)
  })

  test.each<[string, RuleGroups]>([
    ['no group', []],
    ['a group without rules', [{ rules: [] }]],
    [
      'a group without rules beside one that does not hold',
      [{ rules: [percent('GREATER_THAN', '10')] }, { rules: [] }],
    ],
  ])('%s: always', (_name, always) => {
    expect(judged(always).status).toBe(REQUIRED)
  })
})

describe('an exchange rate that is missing', () => {
  const gbp = { quantity: '70', currency: 'GBP' }
  test.each<[string, RuleComparator, string, string]>([
    ['the rest is above already', 'GREATER_THAN', '50', REQUIRED],
    ['the rest is below, but it may not be', 'GREATER_THAN', '200', UNKNOWN],
    ['the rest is too much already', 'LESS_THAN', '50', NONE],
    ['the rest is little, but it may not be', 'LESS_THAN', '200', UNKNOWN],
    ['the rest is more already', 'EQUALS', '50', NONE],
    ['the rest is the same', 'EQUALS', '100', UNKNOWN],
  ])('%s', (_name, comparator, bound, status) => {
    expect(one(off(comparator, bound), amounts(eur('100'), gbp))).toBe(status)
  })

  test('the reason says what to do, once', () => {
    const twice: RuleGroups = [{ rules: [off('GREATER_THAN', '200')] }, { rules: [off('GREATER_THAN', '300')] }]
    expect(judged(twice, amounts(gbp))).toEqual({
      status: UNKNOWN,
      reasons: ['There is no exchange rate from GBP to EUR; add one: POST /v1/exchange-rates.'],
    })
  })
})

describe('what is valid already', () => {
  const groups: RuleGroups = [
    { rules: [percent('GREATER_THAN', '10')] },
    { rules: [{ type: 'PRICING', pricing: { has_override: true } }] },
  ]
  const valid: Facts = { ...NOTHING, ...percentages('20') }
  test('is not reviewed again for what no rule is about', () => {
    expect(judged(groups, { ...percentages('20'), commitments: [eur('5')] }, valid).status).toBe(NONE)
  })
  test('is reviewed for another discount that is too large, and not for a smaller one that is small', () => {
    expect(judged(groups, percentages('90'), valid).status).toBe(REQUIRED)
    expect(judged(groups, percentages('15'), valid).status).toBe(REQUIRED)
    expect(judged(groups, percentages('5'), valid).status).toBe(NONE)
  })
  test('is reviewed for what another group is about', () => {
    expect(judged(groups, { ...percentages('20'), has_override: true }, valid).status).toBe(REQUIRED)
  })
  describe('with what is given off beyond it', () => {
    type Off = Facts['discount']['percentages']
    const given = (rules: RuleGroups, after: Off, added: Off, more: Partial<Facts> = {}) => {
      const discount = (all: Off) => ({ percentages: all, amounts: [] })
      const facts = { ...NOTHING, discount: discount(after), ...more }
      return evaluate(rules, { before: valid, after: facts, added: discount(added) }, convert).status
    }
    test('is reviewed for another one of the same size, and not for one that is taken away', () => {
      expect(given(groups, ['20'], ['20'])).toBe(REQUIRED)
      expect(given(groups, ['20'], [])).toBe(NONE)
      expect(given(groups, ['15'], [])).toBe(NONE)
      expect(given(groups, [], [])).toBe(NONE)
    })
    test('is reviewed for what is added alone: a small one beside a large one needs no approval', () => {
      expect(given(groups, ['20', '5'], ['5'])).toBe(NONE)
      expect(given(groups, ['20', '15'], ['15'])).toBe(REQUIRED)
    })
    test('by the largest of all where a group is about something else too that differs', () => {
      const both: RuleGroups = [{ rules: [percent('GREATER_THAN', '10'), committed('LESS_THAN', '500')] }]
      expect(given(both, ['20'], [], { commitments: [eur('400')] })).toBe(REQUIRED)
      expect(given(both, ['20'], [], { commitments: [eur('600')] })).toBe(NONE)
    })
    test('by the largest of all where the rule is about small ones', () => {
      const small: RuleGroups = [{ rules: [percent('LESS_THAN', '10')] }]
      expect(given(small, ['20', '5'], ['5'])).toBe(NONE)
      expect(given(small, ['5'], [])).toBe(REQUIRED)
    })
    test('where everything is approved, any is', () => {
      expect(given([], ['20'], ['20'])).toBe(REQUIRED)
      expect(given([], ['20'], [])).toBe(NONE)
    })
  })
  test('where everything is approved, whatever differs is', () => {
    expect(judged([], percentages('20'), valid).status).toBe(NONE)
    expect(judged([], percentages('1'), valid).status).toBe(REQUIRED)
    expect(judged([{ rules: [{ type: 'ALWAYS_APPROVE' }] }], percentages('1'), valid).status).toBe(REQUIRED)
  })
})

describe('laws', () => {
  const comparator = fc.constantFrom<RuleComparator>(
    'LESS_THAN',
    'LESS_THAN_OR_EQUALS',
    'EQUALS',
    'GREATER_THAN_OR_EQUALS',
    'GREATER_THAN',
  )
  const quantity = fc.integer({ min: 0, max: 50 }).map(String)
  const money = fc.record({ quantity, currency: fc.constantFrom('EUR', 'GBP') })
  const rule = fc.oneof(
    fc.tuple(comparator, quantity).map(([by, bound]) => off(by, bound)),
    fc.tuple(comparator, quantity).map(([by, bound]) => committed(by, bound)),
    fc.tuple(comparator, quantity).map(([by, bound]) => percent(by, bound)),
    fc.boolean().map((has_override): Rule => ({ type: 'PRICING', pricing: { has_override } })),
  )
  const groupsOf = fc.array(fc.record({ rules: fc.array(rule, { maxLength: 3 }) }), { maxLength: 3 })
  const factsOf = fc
    .record({
      offs: fc.array(money),
      percents: fc.array(quantity),
      commitments: fc.array(money),
      has_override: fc.boolean(),
    })
    .map(
      ({ offs, percents, commitments, has_override }): Facts => ({
        ...NOTHING,
        discount: { percentages: percents, amounts: offs },
        commitments,
        has_override,
      }),
    )
  const at =
    (rate: string): Convert =>
    ({ quantity: of, currency }) =>
      currency === 'EUR' ? decimal(of) : decimal(of).times(decimal(rate))

  test('what is known without a rate is true at every rate', () => {
    fc.assert(
      fc.property(groupsOf, factsOf, fc.integer({ min: 0, max: 1_000 }), (groups, after, rate) => {
        const without = evaluate(groups, { before: null, after }, convert).status
        const withRate = evaluate(groups, { before: null, after }, at(String(rate))).status
        expect(withRate).not.toBe(UNKNOWN)
        if (without !== UNKNOWN) expect(withRate).toBe(without)
      }),
    )
  })

  test('another group never takes an approval away, and another rule in a group never adds one', () => {
    fc.assert(
      fc.property(groupsOf, factsOf, rule, (groups, after, more) => {
        const status = (all: RuleGroups) => evaluate(all, { before: null, after }, at('1')).status
        if (groups.length > 0 && status(groups) === REQUIRED)
          expect(status([...groups, { rules: [more] }])).toBe(REQUIRED)
        const [first] = groups
        if (first && status([first]) === NONE) expect(status([{ rules: [...first.rules, more] }])).toBe(NONE)
      }),
    )
  })

  test('what is valid already needs no approval as it is', () => {
    fc.assert(
      fc.property(groupsOf, factsOf, (groups, facts) => {
        expect(evaluate(groups, { before: facts, after: facts }, convert).status).toBe(NONE)
      }),
    )
  })
})
