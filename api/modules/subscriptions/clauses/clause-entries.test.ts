import { expect, test } from 'vitest'
import { at, formatInstant } from '../../../../shared/time.ts'
import { clauseChanges } from './clause-entries.ts'
import type { Discount } from './discount-schema.ts'

const START = at('2026-01-01T00:00:00Z')
const MARCH = '2026-03-01T00:00:00Z'
const APRIL = '2026-04-01T00:00:00Z'
const changes = (before: Discount | null, after: Discount | null) =>
  clauseChanges({ discount: before }, { discount: after }, START).map(
    ({ from, path }) => `${formatInstant(from).slice(0, 10)} ${path}`,
  )
const ten = { percentage: '10' }

test.each<[string, Discount | null, Discount | null, string[]]>([
  ['nothing is changed by nothing', { totals: [ten] }, { totals: [{ percentage: '10', end_at: null }] }, []],
  [
    'a new one counts from its start',
    null,
    { totals: [{ ...ten, start_at: MARCH }] },
    ['2026-03-01 discount.totals.0.start_at'],
  ],
  [
    'one without a start counts from that of the schedule',
    null,
    { totals: [ten] },
    ['2026-01-01 discount.totals.0.start_at'],
  ],
  [
    'one that starts before the schedule does too',
    null,
    { totals: [{ ...ten, start_at: '2025-01-01T00:00:00Z' }] },
    ['2026-01-01 discount.totals.0.start_at'],
  ],
  [
    'a removed one counts from its start',
    { totals: [{ ...ten, start_at: MARCH }] },
    null,
    ['2026-03-01 discount.totals'],
  ],
  [
    'a new end counts from there',
    { totals: [ten] },
    { totals: [{ ...ten, end_at: APRIL }] },
    ['2026-04-01 discount.totals.0.end_at'],
  ],
  [
    'a moved end counts from the earlier one',
    { totals: [{ ...ten, end_at: MARCH }] },
    { totals: [{ ...ten, end_at: APRIL }] },
    ['2026-03-01 discount.totals.0.end_at'],
  ],
  [
    'another percentage removes one and adds one',
    { totals: [ten] },
    { totals: [{ percentage: '11' }] },
    ['2026-01-01 discount.totals.0.start_at', '2026-01-01 discount.totals'],
  ],
  [
    'a second one beside the same is new',
    { totals: [ten] },
    { totals: [ten, ten] },
    ['2026-01-01 discount.totals.1.start_at'],
  ],
])('%s', (_title, before, after, expected) => {
  expect(changes(before, after)).toEqual(expected)
})
