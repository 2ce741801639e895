import { expect, test } from 'vitest'
import { createListWindows, WINDOWS_MS } from './windows.ts'

/** The sixth window is the first that is as long. */
const START = 10 * 60_000

/** Lists again and again, where windows from `enough` on hold enough; gives the first window of each. */
function settle(windows: ReturnType<typeof createListWindows>, enough: number, lists = 16): number[] {
  const tried: number[] = []
  for (let list = 0; list < lists; list += 1) {
    const held = windows.from('a').find(ms => ms >= enough) ?? null
    tried.push(windows.from('a')[0] ?? Number.POSITIVE_INFINITY)
    windows.held('a', held)
  }
  return tried
}

test.each(WINDOWS_MS)('a list comes to begin with the smallest window that holds enough: %d ms', enough => {
  expect(settle(createListWindows(START), enough).at(-1)).toBe(enough)
})

test('where none holds enough it begins with all of the time, and each key has a memory of its own', () => {
  const windows = createListWindows(START)
  expect(settle(windows, Number.POSITIVE_INFINITY).at(-1)).toBe(Number.POSITIVE_INFINITY)
  expect(windows.from('b')[0]).toBe(WINDOWS_MS[5])
})

test('windows follow the rate of events: they grow where too few come, and shrink again', () => {
  const windows = createListWindows(START)
  const [least = 0] = WINDOWS_MS
  expect(settle(windows, least).at(-1)).toBe(least)
  expect(settle(windows, WINDOWS_MS[7] ?? 0).at(-1)).toBe(WINDOWS_MS[7])
  expect(settle(windows, least, 100)).toContain(least)
})

test('windows that a nearly empty one says are too small are passed over', () => {
  const windows = createListWindows(START)
  expect([0, 1 / 1_000, 1 / 36, 1 / 7, 1 / 2].map(windows.hopeless)).toEqual([2, 3, 2, 1, 0])
})
