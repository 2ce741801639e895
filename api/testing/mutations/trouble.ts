// Values that programs trip over: what a type allows and few expect, and what it does not allow.
import { pick, type Random } from '../../modules/billing/testing/year/random.ts'

const TEXTS = [
  '',
  ' ',
  'a'.repeat(70_000),
  'a\u0000b',
  '\ud800',
  '💥'.repeat(40),
  "'; select 1 --",
  '%',
  '\\',
  '../..',
  // Members that every object of JavaScript has.
  '__proto__',
  'constructor',
  'toString',
  'null',
  'true',
  '[]',
  '{}',
  '\r\nx: y',
]

export const TIMES = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '1582-10-10T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '2026-02-30T00:00:00Z',
  '2026-03-29T02:30:00+01:00',
  '2026-01-01T00:00:00+25:00',
  '2026-01-01T24:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01T00:00:00.123456789Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
]

export const NUMBERS = [
  '0',
  '-0',
  '-1',
  '0.1',
  '00.1',
  '1e5',
  '1E400',
  'NaN',
  'Infinity',
  `1${'0'.repeat(60)}`,
  `0.${'1'.repeat(60)}`,
  '99999999999999999999',
  '9007199254740993',
  '+1',
  '1,5',
  '.5',
  '5.',
  '0x10',
]

const OTHERS: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 31, 2 ** 53, 1e308],
  ...[[], [null], [[]], {}, { a: 1 }, { type: 'NOTHING' }],
]

/** One of them. */
export const trouble = (random: Random): unknown => pickOf(random, pick(random, [TEXTS, TIMES, NUMBERS, OTHERS]))

/** One of a list; undefined of an empty one. */
export const pickOf = <T>(random: Random, list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
