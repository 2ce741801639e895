import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ATTEMPTS_MAX, ATTEMPTS_WINDOW_SECONDS, secondsToNextAttempt } from './attempt-limit.ts'

test.each<[string, number[], number]>([
  ['never tried', [], 0],
  ['three at once cost nothing', [0, 0, 0], 0],
  ['the fourth makes the next one wait a second', [0, 0, 0, 0], 1],
  ['each after it twice as long', [0, 1, 1, 1, 1], 2],
  ['a wait that is over is no wait', [64, 65, 66, 67, 68, 69, 70, 71, 72], 0],
  ['after nine it is 32 seconds', [0, 32, 48, 56, 60, 62, 63, 63, 63], 32],
  [
    'after ten, until the oldest is forgotten',
    [0, 64, 96, 112, 120, 124, 126, 127, 127, 127],
    ATTEMPTS_WINDOW_SECONDS - 127,
  ],
  ['what is older than a quarter of an hour is forgotten', Array(50).fill(ATTEMPTS_WINDOW_SECONDS), 0],
])('%s', (_name, secondsAgo, wait) => {
  expect(secondsToNextAttempt(secondsAgo)).toBe(wait)
})

test('whoever waits as told is let in, and gets ten tries in any quarter of an hour and no more', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 60 }), pauses => {
      const tries: number[] = []
      let now = 0
      for (const pause of pauses) {
        now += pause
        const wait = secondsToNextAttempt(tries.map(at => now - at))
        expect(wait).toBeLessThanOrEqual(ATTEMPTS_WINDOW_SECONDS)
        now += wait
        expect(secondsToNextAttempt(tries.map(at => now - at))).toBe(0)
        tries.push(now)
        expect(tries.filter(at => now - at < ATTEMPTS_WINDOW_SECONDS).length).toBeLessThanOrEqual(ATTEMPTS_MAX)
      }
    }),
  )
})
