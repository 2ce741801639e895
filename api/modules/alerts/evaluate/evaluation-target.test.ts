import { describe, expect, test } from 'vitest'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { formatInstant, type Instant, instantOf, interval, parseInstant } from '../../../../shared/time.ts'
import type { CalculationInput } from '../../billing/terms/billing-inputs.ts'
import type { Grant } from '../../catalog/features/schema.ts'
import type { RuleEntitlement } from '../schema.ts'
import {
  fingerprintOf,
  mayHaveChanged,
  targetsOf,
  usedOf,
  type WatchedSubscription,
  type WatchingRule,
} from './evaluation-target.ts'
import { type PersistedUsageByPrice, persistedKey } from './load-persisted-usage.ts'

const at = (text: string): Instant => parseInstant(text) ?? instantOf(0)
const calculation = (persist = false): CalculationInput => ({
  id: 'bmet_1',
  reference: 'sum',
  calculation_type: 'SUM',
  persist,
  meter_reference: 'tokens',
  value_reference: 'tokens',
  value_type: 'NUMBER',
  property_reference: null,
  property_type: null,
})
const rule = (
  threshold: RuleEntitlement['threshold'] = { percentage: '80' },
  more: { readonly customer_ids?: string[]; readonly persist?: boolean } = {},
): WatchingRule => ({
  rule: {
    platform_id: 'plat_1',
    environment: 'LIVE',
    id: 'alru_1',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    reference: 'nearly',
    name: null,
    description: null,
    status: 'ACTIVE',
    customer_ids: more.customer_ids ?? [],
    type: 'ENTITLEMENT',
    trigger_type: threshold.percentage == null ? 'STATIC' : 'DYNAMIC',
    invoice: null,
    entitlement: { feature_id: 'feat_1', comparator: 'GREATER_THAN', threshold },
  },
  calculation: calculation(more.persist),
})
const grant = (value: Partial<Grant>, feature_id = 'feat_1'): Grant => ({
  feature_id,
  feature_reference: 'f',
  override: false,
  overwrite: false,
  number: null,
  switch: null,
  amount: null,
  enums: null,
  strings: null,
  ...value,
})
const money = (currency: string) => grant({ amount: { quantity: '100', currency } })
const schedule = (start_at: string, end_at: string | null = null) => ({
  id: `ppsc ${start_at}`,
  start_at,
  end_at,
  billing_period: null,
  pricing_currency: 'EUR',
  pricing_plan_id: 'pric_1',
  pricing_plan_version_id: 'ppve_1',
})
const subscription = (more: Partial<WatchedSubscription> = {}): WatchedSubscription => ({
  id: 'ppsu_1',
  customer_id: 'cust_1',
  subscription: {
    billing_period: { type: 'MONTH', value: 1 },
    billing_time: 'CALENDAR',
    billing_anchor: null,
    inactive_periods: [],
  },
  schedules: [schedule('2026-01-10T00:00:00Z')],
  customer: { timezone: null },
  billing_entity: { timezone: null },
  platform: { timezone: 'UTC' },
  ...more,
})
type Options = {
  readonly persisted?: PersistedUsageByPrice
  readonly rules?: WatchingRule[]
  readonly grants?: Grant[]
  readonly now?: string
}
const targets = (
  of: WatchedSubscription,
  { rules = [rule()], grants = [grant({ number: '10' })], persisted = new Map(), now }: Options = {},
) => targetsOf(of, { rules, grants, persisted, now: at(now ?? '2026-03-15T12:00:00Z') })

test('what a price of the schedules counts is watched from the first of them, whatever plan they are on', () => {
  const own = { own_version_id: 'ppve_own', own_calculation_ids: ['own'] }
  const schedules = [
    { ...schedule('2026-01-10T00:00:00Z', '2026-03-10T00:00:00Z'), ...own },
    { ...schedule('2026-03-10T00:00:00Z'), ...own, pricing_plan_id: 'pric_2', carries_usage: true as const },
  ]
  const startOf = (id: string) => {
    const watching = rule()
    const calculation = { ...watching.calculation, id, persist: true }
    return targets(subscription({ schedules }), { rules: [{ ...watching, calculation }] }).map(({ interval }) =>
      formatInstant(interval.start),
    )
  }
  expect([startOf('own'), startOf('of the plan')]).toEqual([['2026-01-10T00:00:00Z'], ['2026-03-10T00:00:00Z']])
})

describe('the time that is watched', () => {
  const EXACT = {
    billing_period: { type: 'MONTH', value: 1 },
    billing_time: 'EXACT',
    billing_anchor: null,
    inactive_periods: [],
  } as const
  const AMSTERDAM = { customer: { timezone: 'Europe/Amsterdam' } }
  const CHANGED = {
    schedules: [schedule('2026-01-10T00:00:00Z', '2026-03-10T00:00:00Z'), schedule('2026-03-10T00:00:00Z')],
  }
  test.each<
    [what: string, more: Partial<WatchedSubscription>, persist: boolean, start: string, end: string, period: string]
  >([
    [
      'is the billing period that runs',
      {},
      false,
      '2026-03-01T00:00:00Z',
      '2026-04-01T00:00:00Z',
      '2026-03-01T00:00:00Z',
    ],
    [
      'counts from the start',
      { subscription: EXACT },
      false,
      '2026-03-10T00:00:00Z',
      '2026-04-10T00:00:00Z',
      '2026-03-10T00:00:00Z',
    ],
    [
      'counts from a billing day of its own',
      { subscription: { ...EXACT, billing_anchor: '2026-01-15T00:00:00Z' } },
      false,
      '2026-03-15T00:00:00Z',
      '2026-04-15T00:00:00Z',
      '2026-03-15T00:00:00Z',
    ],
    [
      'is in the zone of the customer',
      AMSTERDAM,
      false,
      '2026-02-28T23:00:00Z',
      '2026-03-31T22:00:00Z',
      '2026-02-28T23:00:00Z',
    ],
    [
      'is that of the subscription, whatever plan it is on',
      CHANGED,
      false,
      '2026-03-01T00:00:00Z',
      '2026-04-01T00:00:00Z',
      '2026-03-01T00:00:00Z',
    ],
    [
      'reaches back where the state is carried on',
      {},
      true,
      '2026-01-10T00:00:00Z',
      '2026-04-01T00:00:00Z',
      '2026-03-01T00:00:00Z',
    ],
    [
      'counts from the start of the schedule that this one continues',
      { schedules: CHANGED.schedules.map(each => ({ ...each, carries_usage: true as const })) },
      true,
      '2026-01-10T00:00:00Z',
      '2026-04-01T00:00:00Z',
      '2026-03-01T00:00:00Z',
    ],
    [
      'is carried on inside one schedule only',
      CHANGED,
      true,
      '2026-03-10T00:00:00Z',
      '2026-04-01T00:00:00Z',
      '2026-03-01T00:00:00Z',
    ],
  ])('%s', (_what, more, persist, start, end, period) => {
    expect(targets(subscription(more), { rules: [rule({ percentage: '80' }, { persist })] })).toMatchObject([
      { interval: interval(at(start), at(end)), reference: `ppsu_1 ${period}` },
    ])
  })

  test('is none before the subscription starts, after it ends, and once it is cancelled', () => {
    const [{ subscription: terms }] = [subscription()]
    const cancelled = { ...terms, inactive_periods: [{ start_at: '2026-03-15T00:00:00Z' }] }
    expect(targets(subscription(), { now: '2026-01-09T23:59:59Z' })).toEqual([])
    expect(targets(subscription({ schedules: [schedule('2026-01-10T00:00:00Z', '2026-03-15T12:00:00Z')] }))).toEqual([])
    expect(targets(subscription({ subscription: cancelled }))).toEqual([])
    expect(targets(subscription({ schedules: [] }))).toEqual([])
  })
})

test('a state that was reported is where a state that is carried on starts from, in the schedule it was reported for', () => {
  const state = (id: string, time: string, usage: string) => ({ id, at: at(time), usage: decimal(usage) })
  const states = [
    state('1', '2026-02-01T00:00:00Z', '5'),
    state('2', '2026-03-05T00:00:00Z', '7'),
    state('3', '2026-04-01T00:00:00Z', '9'),
  ]
  const target = (persist: boolean, key = persistedKey('ppsc 2026-01-10T00:00:00Z', 'bmet_1')) =>
    targets(subscription(), { rules: [rule({ number: '1' }, { persist })], persisted: new Map([[key, states]]) })[0]
  const [own, reset, elsewhere] = [target(true), target(false), target(true, persistedKey('ppsc_2', 'bmet_1'))]
  if (!own || !reset || !elsewhere) throw new Error('each is watched')
  const april = at('2026-04-01T00:00:00Z')
  expect([own.interval, own.persisted?.id]).toEqual([interval(at('2026-03-05T00:00:00Z'), april), '2'])
  expect([reset.interval, reset.persisted]).toEqual([interval(at('2026-03-01T00:00:00Z'), april), null])
  expect([elsewhere.interval, elsewhere.persisted]).toEqual([interval(at('2026-01-10T00:00:00Z'), april), null])
  const events = [{ currency: null, number: decimal('2'), count: 1 }]
  const used = (of: typeof own, figures: typeof events) => usedOf(of, figures).map(({ number }) => plain(number))
  expect([used(own, events), used(own, []), used(elsewhere, events)]).toEqual([['9'], ['7'], ['2']])
  expect(new Set([own, elsewhere].map(each => fingerprintOf([each]))).size).toBe(2)
})

describe('what is watched', () => {
  test('is what is granted of the feature of the rule, to the customers the rule names', () => {
    expect(targets(subscription(), { grants: [] })).toEqual([])
    expect(targets(subscription(), { grants: [grant({ number: '10' }, 'feat_2')] })).toEqual([])
    expect(targets(subscription(), { rules: [rule({ percentage: '80' }, { customer_ids: ['cust_2'] })] })).toEqual([])
    expect(targets(subscription(), { rules: [rule({ percentage: '80' }, { customer_ids: ['cust_1'] })] })).toHaveLength(
      1,
    )
  })

  test('of money is each currency by its share, and a fixed amount against its own currency', () => {
    const grants = [money('EUR'), money('USD')]
    const period = '2026-03-01T00:00:00Z'
    const references = (threshold: RuleEntitlement['threshold']) =>
      targets(subscription(), { grants, rules: [rule(threshold)] }).map(each => [
        each.granted.amount?.currency,
        each.reference,
      ])
    expect(references({ percentage: '80' })).toEqual([
      ['EUR', `ppsu_1 ${period} EUR`],
      ['USD', `ppsu_1 ${period} USD`],
    ])
    const amount = (currency: string) => ({ amount: { quantity: '5', currency } })
    expect(references(amount('USD'))).toEqual([['USD', `ppsu_1 ${period} USD`]])
    expect(references(amount('GBP'))).toEqual([['EUR', `ppsu_1 ${period} GBP`]])
  })
})

describe('what was read', () => {
  const now = at('2026-03-15T12:00:00Z')
  const last = { fingerprint: 'f', looked_at: instantOf(now - 3_599_000), positions: [5, 7] }
  const mark = (partition: number, seq: number) => ({ key: 'acme', partition, seq })
  test.each<
    [
      what: string,
      of: Parameters<typeof mayHaveChanged>[0],
      fingerprint: string,
      marks: ReturnType<typeof mark>[],
      changed: boolean,
    ]
  >([
    ['nothing touched', last, 'f', [], false],
    ['touched up to where it was read', last, 'f', [mark(0, 5), mark(1, 7)], false],
    ['touched behind that', last, 'f', [mark(0, 5), mark(1, 8)], true],
    ['touched in a partition that was at nothing', last, 'f', [mark(2, 1)], true],
    ['asked something else', last, 'g', [], true],
    ['an hour ago', { ...last, looked_at: instantOf(now - 3_600_000) }, 'f', [], true],
    ['never', undefined, 'f', [], true],
  ])('%s', (_what, of, fingerprint, marks, changed) => {
    expect(mayHaveChanged(of, { fingerprint, marks, now })).toBe(changed)
  })

  test('has another fingerprint with another threshold, grant, period or rule', () => {
    const prints = [
      targets(subscription()),
      targets(subscription(), { rules: [rule({ percentage: '81' })] }),
      targets(subscription(), { grants: [grant({ number: '11' })] }),
      targets(subscription(), { now: '2026-04-01T00:00:00Z' }),
      targets(subscription(), { rules: [rule(), rule()] }),
    ].map(fingerprintOf)
    expect(new Set(prints).size).toBe(prints.length)
    expect(fingerprintOf(targets(subscription()))).toBe(prints[0])
  })
})
