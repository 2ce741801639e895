import { expect, test } from 'vitest'
import { createScopeChallenges } from './scope-challenges.ts'

test('a grant is challenged once a minute, each for itself', () => {
  let now = 0
  const challenges = createScopeChallenges(() => now)
  expect([challenges.dueFor('a'), challenges.dueFor('a'), challenges.dueFor('b')]).toEqual([true, false, true])
  now = 59_999
  expect(challenges.dueFor('a')).toBe(false)
  now = 60_000
  expect([challenges.dueFor('a'), challenges.dueFor('a')]).toEqual([true, false])
})
