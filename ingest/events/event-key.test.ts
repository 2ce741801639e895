import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KEY_WORDS, KeySet, readKey } from './event-key.ts'
import { createRecentEvents } from './recent.ts'

const keyOf = (idHash: string, contentHash: string): Int32Array => {
  const key = new Int32Array(KEY_WORDS)
  readKey(idHash, contentHash, key)
  return key
}
const key = (seed: number | string, content: number | string = 0): Int32Array =>
  keyOf(hash('sha256', `${seed}`, 'hex').slice(0, 32), hash('sha256', `${content}`, 'hex').slice(0, 16))

describe('readKey', () => {
  test('keeps every bit of both hashes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 24 }), bytes => {
        const hex = Buffer.from(bytes).toString('hex')
        const words = keyOf(hex.slice(0, 32), hex.slice(32))
        const back = Buffer.alloc(24)
        words.forEach((word, place) => void back.writeInt32BE(word, place * 4))
        expect(back.toString('hex')).toBe(hex)
      }),
    )
  })
})

describe('KeySet', () => {
  test('holds what was added, in order, and nothing else', () => {
    const set = new KeySet()
    for (let seed = 0; seed < 3_000; seed += 1) set.add(key(seed))
    for (let seed = 0; seed < 3_000; seed += 1) {
      expect(set.has(key(seed))).toBe(true)
      expect(set.has(key(seed, 'other'))).toBe(false)
      expect(set.has(key(seed + 3_000))).toBe(false)
    }
    const seen: string[] = []
    set.forEach(each => void seen.push(each.join()))
    expect(seen).toEqual(Array.from({ length: 3_000 }, (_, seed) => key(seed).join()))
  })
})

describe('createRecentEvents', () => {
  test('knows an event by its id and content together', () => {
    const recent = createRecentEvents(1_000)
    recent.remember(key('a', 'x'))
    expect(recent.has(key('a', 'x'))).toBe(true)
    expect(recent.has(key('a', 'y'))).toBe(false)
    expect(recent.has(key('b', 'x'))).toBe(false)
  })

  test('remembers the last ones of a place, forgets the oldest, and never grows', () => {
    const recent = createRecentEvents(64)
    for (let seed = 0; seed < 10_000; seed += 1) recent.remember(key(seed))
    expect(recent.has(key(9_999))).toBe(true)
    const kept = Array.from({ length: 10_000 }, (_, seed) => recent.has(key(seed))).filter(Boolean).length
    expect(kept).toBe(64)
  })

  test('fetching events changes nothing of what is known of them', () => {
    for (const capacity of [0, 64]) {
      const recent = createRecentEvents(capacity)
      recent.remember(key('a'))
      const keys = Int32Array.from([...key('a'), ...key('b')])
      recent.fetch(keys, 2)
      expect([recent.has(key('a')), recent.has(key('b'))]).toEqual([capacity > 0, false])
    }
  })

  test('a capacity of 0 turns it off', () => {
    const recent = createRecentEvents(0)
    recent.remember(key('a'))
    expect(recent.has(key('a'))).toBe(false)
  })
})
