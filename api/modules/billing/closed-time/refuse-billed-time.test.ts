// When two schedules price the same meter in time that is billed.
import { expect, test } from 'vitest'
import { at, interval } from '../../../../shared/time.ts'
import type { PricedPeriod } from '../../subscriptions/enabled-pricings/priced-periods.ts'
import { newlyPriced, sharedMeter } from './refuse-billed-time.ts'

const day = (number: number) => at(`2026-03-${String(number).padStart(2, '0')}T00:00:00Z`)
const held = (start: number, end: number | null, ...meters: string[]): PricedPeriod => ({
  start_ms: day(start),
  end_ms: end === null ? null : day(end),
  version_id: 'version',
  meters,
})
const BILLED = interval(day(5), day(15))
/** An ADDON that prices images is enabled from 10 March on. */
const THEIRS = [held(1, 10, 'tokens'), held(10, null, 'images', 'tokens')]

test.each<[string, readonly PricedPeriod[], string | null]>([
  ['the same meter at the same time', [held(1, null, 'tokens')], 'tokens'],
  ['a meter of an ADDON while it is enabled', [held(12, null, 'images')], 'images'],
  ['a meter of an ADDON before it is enabled', [held(1, 10, 'images')], null],
  ['a meter of an ADDON after the billed time', [held(15, null, 'images', 'tokens')], null],
  ['other meters', [held(1, null, 'minutes')], null],
  ['no schedule', [], null],
])('%s', (_title, mine, meter) => {
  expect(sharedMeter(mine, THEIRS, BILLED)).toBe(meter)
  expect(sharedMeter(THEIRS, mine, BILLED)).toBe(meter)
})

test.each<[string, readonly PricedPeriod[], readonly [number, number | null, string][]]>([
  [
    'an ADDON that is enabled for a time',
    [held(1, 3, 'tokens'), held(3, 6, 'images', 'tokens'), held(6, null, 'tokens')],
    [[3, 6, 'images']],
  ],
  ['one that is enabled for longer', [held(1, 3, 'tokens'), held(3, null, 'images', 'tokens')], [[3, 10, 'images']]],
  ['one that ends earlier', [held(1, null, 'tokens')], []],
])('%s sells anew', (_title, after, expected) => {
  expect(newlyPriced(THEIRS, after).map(({ start_ms, end_ms, meters }) => [start_ms, end_ms, meters[0]])).toEqual(
    expected.map(([start, end, meter]) => [day(start), end === null ? null : day(end), meter]),
  )
})
