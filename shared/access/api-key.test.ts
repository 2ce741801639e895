// The form of an API key tells a guess from a key before anybody looks one up (security section 8, row 14).
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { API_KEY_PATTERN, apiKeyEnvironment, hashApiKey, newApiKey } from './api-key.ts'

test('a key names its environment and is found by what scanners are given', () => {
  for (const environment of ['TEST', 'LIVE'] as const) {
    const key = newApiKey(environment)
    expect(apiKeyEnvironment(key.text)).toBe(environment)
    expect(key.text).toMatch(API_KEY_PATTERN)
    expect(key.sha256).toBe(hashApiKey(key.text))
    expect(key.text.startsWith(key.displayPrefix) && key.text.endsWith(key.lastFour)).toBe(true)
  }
})

test('one character more, less or other makes it none', () => {
  const { text } = newApiKey('LIVE')
  const at = fc.nat(text.length - 1)
  const letter = fc.constantFrom(...'0123456789ABCXYZabcxyz_-. ')
  fc.assert(
    fc.property(at, letter, (place, other) => {
      const changed = text.slice(0, place) + other + text.slice(place + 1)
      expect(apiKeyEnvironment(changed)).toBe(changed === text ? 'LIVE' : null)
      expect(apiKeyEnvironment(text.slice(0, place) + text.slice(place + 1))).toBeNull()
      expect(apiKeyEnvironment(text.slice(0, place) + other + text.slice(place))).toBeNull()
    }),
  )
})

test.each(['', 'x', 'sk_live_4eC39HqLyjWDarjtT1zdp7dc', 'x'.repeat(100_000), 'millrace_live_', '\u0000'])(
  'a text like %j is none',
  text => {
    expect(apiKeyEnvironment(text)).toBeNull()
  },
)

test('the key of one environment is none of the other’s', () => {
  const { text } = newApiKey('TEST')
  expect(apiKeyEnvironment(text.replace('_test_', '_live_'))).toBeNull()
})
