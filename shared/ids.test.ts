import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { apiKeyEnvironment, hashApiKey, newApiKey } from './access/api-key.ts'
import { base62, looksLikeId, newId } from './ids.ts'

test('ids carry their prefix, have one width and never repeat', () => {
  const ids = Array.from({ length: 1_000 }, () => newId('cust'))
  expect(ids.every(looksLikeId)).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
})

test('ids sort in the order in which they were made, also within a millisecond', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) })
  const ids = Array.from({ length: 1_000 }, (_, index) => {
    if (index === 500) vi.advanceTimersByTime(1)
    return newId('cust')
  })
  vi.useRealTimers()
  expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids)
})

test('base62 keeps the order of equal-length bytes', () => {
  expect(base62(Uint8Array.of(0, 1)) < base62(Uint8Array.of(1, 0))).toBe(true)
})

test('base62 writes the number that the bytes are, padded to one width', () => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const slowly = (bytes: Uint8Array): string => {
    let text = ''
    for (let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`); value > 0n; value /= 62n)
      text = `${digits[Number(value % 62n)]}${text}`
    return text.padStart(Math.ceil((bytes.length * 8) / Math.log2(62)), '0')
  }
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), bytes => {
      expect(base62(bytes)).toBe(slowly(bytes))
    }),
    { examples: [[new Uint8Array(16)], [new Uint8Array(16).fill(255)], [Uint8Array.of(7)]] },
  )
})

test('a reference is never taken for an id', () => {
  for (const text of ['acme', 'cust_short', 'cust_' + '-'.repeat(22)]) expect(looksLikeId(text)).toBe(false)
})

test('a key names its environment; one changed character is refused without a look-up', () => {
  for (const environment of ['LIVE', 'TEST'] as const) {
    const key = newApiKey(environment)
    expect(apiKeyEnvironment(key.text)).toBe(environment)
    expect(key.sha256).toBe(hashApiKey(key.text))
    for (let at = 13; at < key.text.length; at += 1) {
      const changed = key.text.slice(0, at) + (key.text[at] === 'a' ? 'b' : 'a') + key.text.slice(at + 1)
      expect(apiKeyEnvironment(changed)).toBe(null)
    }
    expect(apiKeyEnvironment(key.text.replace(/_(live|test)_/, environment === 'LIVE' ? '_test_' : '_live_'))).toBe(
      null,
    )
  }
})
