// ADDON pricings, from the schedule to the lines: sold only while they are enabled (semantics 3.1).
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { at, formatInstant, instantOf, interval } from '../../../../shared/time.ts'
import { enabledChanges, enabledSpans } from '../../subscriptions/enabled-pricings/enabled-spans.ts'
import { pricedPeriods } from '../../subscriptions/enabled-pricings/priced-periods.ts'
import type { EnabledPricing } from '../../subscriptions/enabled-pricings/schema.ts'
import type { ClosedCharge } from '../late/closed-usage.ts'
import { termOf } from '../late/late-usage.ts'
import { clausesOf } from '../rating/clauses-of.ts'
import {
  type ExampleItem,
  eur,
  exampleInputs,
  exampleInvoices,
  linesOf,
  metered,
  recurring,
} from '../testing/example-inputs.ts'
import { resolveTerms } from './price-terms.ts'

const MARCH = '2026-03-01T00:00:00Z'
const addonInputs = (enabled_pricings: readonly EnabledPricing[], item: ExampleItem) => {
  const inputs = exampleInputs({ start: MARCH, items: [item], schedules: [{ enabled_pricings }] })
  return { ...inputs, pricings: inputs.pricings.map(pricing => ({ ...pricing, addon: true as const })) }
}

describe('an ADDON pricing', () => {
  test('is not charged unless it is enabled', () => {
    expect(exampleInvoices(addonInputs([], recurring('31')), 1)).toEqual([])
    const [march] = exampleInvoices(addonInputs([{ pricing_id: 'pricing' }], recurring('31')), 1)
    expect(linesOf(march)).toEqual(['2026-03-01..2026-04-01 31.00'])
  })

  test('owes the days of each time in which it is enabled', () => {
    const enabled = [
      { pricing_id: 'pricing', start_at: '2026-03-21T00:00:00Z', end_at: '2026-04-11T00:00:00Z' },
      { pricing_id: 'pricing', end_at: '2026-03-11T00:00:00Z' },
    ]
    expect(exampleInvoices(addonInputs(enabled, recurring('31')), 2).map(linesOf)).toEqual([
      ['2026-03-01..2026-03-11 10.00', '2026-03-21..2026-04-01 11.00'],
      ['2026-04-01..2026-04-11 10.33'],
    ])
  })

  test('that is sold once is charged when it is enabled', () => {
    const once = { ...recurring('10'), item: { model_type: 'ONE_OFF' as const } }
    const enabled = [{ pricing_id: 'pricing', start_at: '2026-03-21T00:00:00Z' }]
    const lines = exampleInvoices(addonInputs(enabled, once), 3).flatMap(linesOf)
    expect(lines).toEqual(['2026-03-21..2026-04-01 10.00'])
  })
})

test('usage in credits of an ADDON that is enabled within the period is charged by the item that sells the credits', () => {
  const usage: ExampleItem = {
    ...metered([]),
    config: { pricing_type: 'FLAT', bands: [{ credits: { quantity: '2', credit_type_id: 'crty' } }] as never },
  }
  const selling: ExampleItem = {
    item: { model_type: 'CREDITS', credits: { credit_type_id: 'crty' } },
    config: { pricing_type: 'FLAT' },
    bands: [{ amount: eur('0.5') }],
  }
  const enabled_pricings = [{ pricing_id: 'addon', start_at: '2026-03-11T00:00:00Z' }]
  const inputs = exampleInputs({ start: MARCH, items: [usage, selling], schedules: [{ enabled_pricings }] })
  const [pricing] = inputs.pricings
  if (!pricing) throw new Error('an example has a pricing')
  const [used, sold] = pricing.items
  const pricings = [
    { ...pricing, items: sold ? [sold] : [] },
    { ...pricing, id: 'addon', addon: true as const, items: used ? [used] : [] },
  ]
  const [march] = exampleInvoices({ ...inputs, pricings }, 1, '10')
  // 10 × 2 credits, and no wallet pays.
  expect(march?.amount_excluding_tax).toBe('10')
})

test('a minimum of units of an ADDON is of one price, however often it is enabled', () => {
  const enabled_pricings = [
    { pricing_id: 'pricing', end_at: '2026-03-11T00:00:00Z' },
    { pricing_id: 'pricing', start_at: '2026-03-21T00:00:00Z' },
  ]
  const inputs = addonInputs(enabled_pricings, metered([{ amount: eur('1') }]))
  const commitment = { pricing_item_configs: [{ ids: ['config0'], amount: eur('5') }] }
  const schedules = inputs.schedules.map(schedule => ({ ...schedule, commitment }))
  const terms = resolveTerms({ ...inputs, schedules })
  expect(terms).toHaveLength(2)
  expect(clausesOf(schedules, terms, () => null).commitments).toMatchObject([{ isOfOnePrice: true }])
})

test('late usage has the time in which the ADDON was enabled then', () => {
  const enabled = [
    { pricing_id: 'pricing', end_at: '2026-03-11T00:00:00Z' },
    { pricing_id: 'pricing', start_at: '2026-03-21T00:00:00Z' },
  ]
  const terms = resolveTerms(addonInputs(enabled, metered([{ amount: eur('1') }])))
  const last = { schedule_id: 'schedule0', item_id: 'priced0', config_id: 'config0', product_item_id: 'item0' }
  const startOf = (start: string): string => {
    const service = interval(at(start), at('2026-04-01T00:00:00Z'))
    const term = termOf(terms, { last: last as ClosedCharge, service })
    return formatInstant(term?.calendar?.span.start ?? service.end)
  }
  expect(startOf(MARCH)).toBe(MARCH)
  expect(startOf('2026-03-21T00:00:00Z')).toBe('2026-03-21T00:00:00Z')
})

test('a schedule holds the meters of what it sells, and cuts its time where that changes', () => {
  const pricings = [
    { id: 'base', addon: false, meters: ['tokens'] },
    { id: 'extra', addon: true, meters: ['images', 'tokens'] },
  ]
  const enabled = [{ pricing_id: 'extra', start_at: '2026-03-11T00:00:00Z', end_at: '2026-03-21T00:00:00Z' }]
  const parts = pricedPeriods('version', pricings, { enabled, during: { start: at(MARCH), end: null } })
  expect(
    parts.map(({ start_ms, meters, pricing_ids }) => [formatInstant(instantOf(start_ms)), meters, pricing_ids]),
  ).toEqual([
    [MARCH, ['tokens'], ['base']],
    ['2026-03-11T00:00:00Z', ['images', 'tokens'], ['base', 'extra']],
    ['2026-03-21T00:00:00Z', ['tokens'], ['base']],
  ])
  expect(parts.map(({ end_ms }) => end_ms)).toEqual([parts[1]?.start_ms, parts[2]?.start_ms, null])
})

test('law: what is enabled at an instant is what an entry of its time enables', () => {
  const day = (number: number) => formatInstant(instantOf(at(MARCH) + number * 86_400_000))
  const entry = fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 20 }))
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 4 }), fc.integer({ min: 0, max: 80 }), (entries, number) => {
      const enabled = entries.map(([from, length]) => ({
        pricing_id: 'pricing',
        start_at: day(from),
        end_at: day(from + length),
      }))
      const moment = at(day(number))
      const spans = enabledSpans(enabled, 'pricing', { start: at(MARCH), end: null })
      const isOn = spans.some(({ start, end }) => start <= moment && (end === null || moment < end))
      expect(isOn).toBe(entries.some(([from, length]) => from <= number && number < from + length))
    }),
  )
})

test.each([
  ['an entry that is added, from its start', [], [{ start_at: '2026-03-11T00:00:00Z' }], '2026-03-11T00:00:00Z'],
  ['one without a start, from that of the schedule', [], [{}], MARCH],
  ['one that goes, from its start', [{ start_at: '2026-03-11T00:00:00Z' }], [], '2026-03-11T00:00:00Z'],
  [
    'an end that moves, from the earlier one',
    [{ end_at: '2026-05-01T00:00:00Z' }],
    [{ end_at: '2026-04-01T00:00:00Z' }],
    '2026-04-01T00:00:00Z',
  ],
  ['an end that is new', [{}], [{ end_at: '2026-04-01T00:00:00Z' }], '2026-04-01T00:00:00Z'],
] as const)('%s, changes invoices', (_name, before, after, from) => {
  const named = (list: readonly Omit<EnabledPricing, 'pricing_id'>[]) =>
    list.map(entry => ({ pricing_id: 'pricing', ...entry }))
  const changes = enabledChanges(named(before), named(after), MARCH)
  expect(changes.map(change => formatInstant(change.from))).toEqual([from])
  expect(enabledChanges(named(after), named(after), MARCH)).toEqual([])
})
