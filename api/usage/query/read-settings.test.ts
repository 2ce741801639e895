// How many single events ClickHouse may pass over for many names before roll-ups are read instead.
import { expect, test } from 'vitest'
import { instantOf, interval } from '../../../shared/time.ts'
import type { Bin } from './plan-queries.ts'
import { settingsOfMany } from './read-settings.ts'

const HOUR = 3_600_000
const NOW = Date.UTC(2026, 1, 1)
const bin = (id: number, customerKeys: readonly string[], from: number, to: number): Bin => ({
  id,
  customerKeys,
  meterReference: 'm',
  interval: interval(instantOf(NOW + from * HOUR), instantOf(NOW + to * HOUR)),
  askingFor: undefined,
  grouped: false,
})
const names = (count: number): string[] => Array.from({ length: count }, (_, number) => `c${number}`)

test.each([
  ['an event an hour of each name, and half a granule of its neighbours', [bin(1, ['a', 'b'], -10, 0)], 20 + 2 * 4_096],
  ['a time that two bins share, once', [bin(1, ['a'], -10, 0), bin(2, ['a'], -15, -5)], 15 + 4_096],
  ['none of the time to come', [bin(1, ['a'], -10, 700)], 10 + 4_096],
  ['nothing but neighbours, where all of it is to come', [bin(1, ['a'], 5, 700)], 4_096],
  ['what a second takes at most, however many the names', [bin(1, names(5_000), -700, 0)], 2_000_000],
] as const)('%s', (_what, bins, rows) => {
  expect(settingsOfMany(bins, NOW)['max_rows_to_read']).toBe(String(rows))
})

test('a group is read by one thread, and what a request may wait for by two', () => {
  expect(settingsOfMany([bin(1, names(100), -1, 0)], NOW)['max_threads']).toBe('2')
  expect(settingsOfMany([bin(1, names(101), -1, 0)], NOW)['max_threads']).toBe('1')
})
