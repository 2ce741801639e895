import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inTimelineOrder, type TimelineEntry, timelineFault } from './timeline.ts'

const at = (day: number): string => `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`
const entry = (id: string, start: number, end: number | null, status: 'DRAFT' | 'ACTIVE' = 'DRAFT'): TimelineEntry => ({
  id,
  start_at: at(start),
  end_at: end === null ? null : at(end),
  status,
})

test.each([
  ['the first of all', entry('x', 1, null), [], null],
  ['ends before it starts', entry('x', 5, 4), [], 'end_at'],
  ['ends where it starts', entry('x', 5, 5), [], 'end_at'],
  ['directly after', entry('x', 10, null), [entry('a', 1, 10)], null],
  ['directly before', entry('x', 1, 10), [entry('a', 10, null)], null],
  ['between two', entry('x', 10, 20), [entry('a', 1, 10), entry('b', 20, null)], null],
  ['overlap with an open one', entry('x', 10, null), [entry('a', 1, null)], 'start_at'],
  ['overlap by a day', entry('x', 9, null), [entry('a', 1, 10)], 'start_at'],
  ['same start', entry('x', 1, null), [entry('a', 1, 10)], 'start_at'],
  ['gap after', entry('x', 11, null), [entry('a', 1, 10)], 'start_at'],
  ['overlap with the next', entry('x', 1, 11), [entry('a', 10, null)], 'end_at'],
  ['runs into the next', entry('x', 1, null), [entry('a', 10, null)], 'end_at'],
  ['gap before the next', entry('x', 1, 9), [entry('a', 10, null)], 'end_at'],
  ['a draft before an active one', entry('x', 1, 10), [entry('a', 10, null, 'ACTIVE')], 'start_at'],
  ['an active one after a draft', entry('x', 10, null, 'ACTIVE'), [entry('a', 1, 10)], 'start_at'],
  ['a draft after an active one', entry('x', 10, null), [entry('a', 1, 10, 'ACTIVE')], null],
] as const)('%s', (_name, added, others, field) => {
  expect(timelineFault(added, others)?.field ?? null).toBe(field)
})

test.each([
  [
    'after a gap',
    11,
    '2026-01-20T00:00:00Z',
    /ended at 2026-01-10T00:00:00Z; start there, or create another subscription/,
  ],
  ['overlapping', 9, '2026-01-20T00:00:00Z', /ended at 2026-01-10T00:00:00Z; start there\.$/],
  [
    'after a gap, when the schedule before has not ended yet',
    11,
    '2026-01-05T00:00:00Z',
    /start there, or send set_previous_end_at=true/,
  ],
  ['after a gap, where no time is billed', 11, null, /start there, or send set_previous_end_at=true/],
] as const)('what is refused %s advises what is possible', (_name, start, billedUntil, message) => {
  const others = [entry('a', 1, 10, 'ACTIVE')]
  expect(timelineFault(entry('x', start, null), others, billedUntil)?.message).toMatch(message)
})

test('whatever is added entry by entry, the entries that were accepted tile their time without gap or overlap', () => {
  const spans = fc.array(
    fc.record({ start: fc.integer({ min: 1, max: 28 }), days: fc.option(fc.integer({ min: -1, max: 9 })) }),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(spans, added => {
      const kept: TimelineEntry[] = []
      for (const [index, { start, days }] of added.entries()) {
        const next = entry(String(index), start, days === null ? null : Math.min(28, start + days))
        if (timelineFault(next, kept) === null) kept.push(next)
      }
      const sorted = inTimelineOrder(kept)
      for (const [index, one] of sorted.entries()) {
        const following = sorted[index + 1]
        if (one.end_at !== null) expect(one.end_at > one.start_at).toBe(true)
        if (following) expect(one.end_at).toBe(following.start_at)
      }
    }),
  )
})
