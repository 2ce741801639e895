import { expect, test } from 'vitest'
import { clausesWithin, entriesWithin, startsTooLate, statedAt } from './stated-times.ts'
import type { Schedule } from './table.ts'

const APRIL = '2026-04-01T00:00:00Z'
const MAY = '2026-05-01T00:00:00Z'
const JUNE = '2026-06-01T00:00:00Z'
const JULY = '2026-07-01T00:00:00Z'
const SPAN = { start: MAY, end: JULY }

test.each<[string, object, object | null]>([
  ['no times', {}, {}],
  ['a start before', { start_at: APRIL }, {}],
  ['a start within', { start_at: JUNE }, { start_at: JUNE }],
  ['an end within', { start_at: APRIL, end_at: JUNE }, { end_at: JUNE }],
  ['an end where the span starts', { end_at: MAY }, null],
  ['a start where the span ends', { start_at: JULY }, null],
])('an entry with %s', (_title, entry, expected) => {
  expect(entriesWithin([entry], SPAN)).toEqual(expected === null ? [] : [expected])
})

test('a span without an end has whatever starts later', () => {
  expect(entriesWithin([{ start_at: JULY }], { ...SPAN, end: null })).toEqual([{ start_at: JULY }])
})

test('an entry starts too late after the end of its schedule, unless it is stored already', () => {
  const entry = { number: '5', start_at: JULY }
  expect(startsTooLate(entry, JUNE, [])).toBe(true)
  expect(startsTooLate(entry, JUNE, [{ ...entry, number: '4' }])).toBe(true)
  expect(startsTooLate(entry, JUNE, [{ ...entry }])).toBe(false)
  expect(startsTooLate(entry, null, [])).toBe(false)
  expect(startsTooLate({ start_at: MAY }, JUNE, [])).toBe(false)
})

test('clauses of a span keep their starts, and lists that were not given are not there', () => {
  const clauses = {
    discount: {
      totals: [
        { percentage: '50', end_at: MAY },
        { percentage: '10', start_at: APRIL },
        { percentage: '5', start_at: JULY },
      ],
      pricings: null,
    },
    markup: null,
    commitment: { totals: [{ amount: { quantity: '5', currency: 'EUR' }, end_at: APRIL }] },
  }
  expect(clausesWithin(clauses, SPAN)).toEqual({
    discount: { totals: [{ percentage: '10', start_at: APRIL }], pricings: null },
    markup: null,
    commitment: { totals: [] },
  })
})

test('what a schedule states is moved, times alone', () => {
  const schedule = {
    discount: { totals: [{ percentage: '50', end_at: MAY }, { percentage: '10' }] },
    markup: { pricing_item_configs: [{ ids: ['price'], percentage: '1', start_at: APRIL }] },
    commitment: null,
    enabled_pricings: [{ pricing_id: 'addon', start_at: APRIL, end_at: null }],
    seats_values: [{ pricing_item_config_id: 'seats', number: '3', end_at: JUNE }],
    included_volumes: [],
  }
  const later = (time: string): string => time.replace('2026', '2027')
  expect(statedAt(schedule as unknown as Schedule, later)).toEqual({
    discount: { totals: [{ percentage: '50', end_at: '2027-05-01T00:00:00Z' }, { percentage: '10' }] },
    markup: { pricing_item_configs: [{ ids: ['price'], percentage: '1', start_at: '2027-04-01T00:00:00Z' }] },
    commitment: null,
    enabled_pricings: [{ pricing_id: 'addon', start_at: '2027-04-01T00:00:00Z', end_at: null }],
    seats_values: [{ pricing_item_config_id: 'seats', number: '3', end_at: '2027-06-01T00:00:00Z' }],
    included_volumes: [],
  })
})
