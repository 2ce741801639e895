import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EventKeys, KEY_WORDS, KeySet, putKey } from './event-key.ts'
import { lineOf, NO_PLACE, placeOf, seqOf } from './place.ts'
import { createRecentEvents } from './recent.ts'

/** The keys of events side by side, each after another that is nobody's: a place of 0 would hide what forgets to look at it. */
const OTHER = [1, 2, 3, 4, 5, 6]
const key = (seed: number | string, content: number | string = 0): [EventKeys, number] => {
  const keys = Int32Array.from([...OTHER, ...OTHER])
  putKey(
    hash('sha256', `${seed}`, 'hex').slice(0, 32),
    hash('sha256', `${content}`, 'hex').slice(0, 16),
    keys,
    KEY_WORDS,
  )
  return [keys, KEY_WORDS]
}
const wordsOf = (keys: EventKeys, at: number): number[] => [...keys.subarray(at, at + KEY_WORDS)]

describe('putKey', () => {
  test('keeps every bit of both hashes, and touches nothing beside', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 24 }), bytes => {
        const hex = Buffer.from(bytes).toString('hex')
        const keys = Int32Array.from([...OTHER, ...OTHER, ...OTHER])
        putKey(hex.slice(0, 32), hex.slice(32), keys, KEY_WORDS)
        const back = Buffer.alloc(24)
        wordsOf(keys, KEY_WORDS).forEach((word, place) => void back.writeInt32BE(word, place * 4))
        expect(back.toString('hex')).toBe(hex)
        expect([...wordsOf(keys, 0), ...wordsOf(keys, 2 * KEY_WORDS)]).toEqual([...OTHER, ...OTHER])
      }),
    )
  })
})

describe('KeySet', () => {
  test('holds what was added, in order, once, and nothing else', () => {
    const set = new KeySet()
    for (let seed = 0; seed < 3_000; seed += 1) expect(set.add(...key(seed))).toBe(true)
    for (let seed = 0; seed < 3_000; seed += 1) {
      expect(set.has(...key(seed))).toBe(true)
      expect(set.add(...key(seed))).toBe(false)
      expect(set.has(...key(seed, 'other'))).toBe(false)
      expect(set.has(...key(seed + 3_000))).toBe(false)
    }
    expect(set.size).toBe(3_000)
    const seen = Array.from({ length: set.size }, (_, each) => wordsOf(set.keys, each * KEY_WORDS).join())
    expect(seen).toEqual(Array.from({ length: 3_000 }, (_, seed) => wordsOf(...key(seed)).join()))
  })

  test('is empty once it was cleared', () => {
    const set = new KeySet()
    set.add(...key('a'))
    set.clear()
    expect([set.size, set.has(...key('a'))]).toEqual([0, false])
    expect(set.add(...key('a'))).toBe(true)
  })
})

const PLACE = placeOf(1, 0)

describe('createRecentEvents', () => {
  test('knows an event by its id and content together', () => {
    const recent = createRecentEvents(1_000)
    recent.remember(...key('a', 'x'), PLACE)
    expect(recent.has(...key('a', 'x'))).toBe(true)
    expect(recent.has(...key('a', 'y'))).toBe(false)
    expect(recent.has(...key('b', 'x'))).toBe(false)
  })

  test('every word of a key counts', () => {
    for (let word = 0; word < KEY_WORDS; word += 1) {
      const recent = createRecentEvents(1_000)
      recent.remember(Int32Array.from(OTHER), 0, PLACE)
      const other = Int32Array.from(OTHER)
      other[word] = -1
      expect(recent.has(other, 0), `word ${word}`).toBe(false)
    }
  })

  test('remembers the last ones of a place, forgets the oldest, and never grows', () => {
    const recent = createRecentEvents(64)
    for (let seed = 0; seed < 10_000; seed += 1) recent.remember(...key(seed), PLACE)
    expect(recent.has(...key(9_999))).toBe(true)
    const kept = Array.from({ length: 10_000 }, (_, seed) => recent.has(...key(seed))).filter(Boolean).length
    expect(kept).toBe(64)
  })

  test('a place has two events, and the older goes first', () => {
    const recent = createRecentEvents(2)
    for (const each of ['a', 'b', 'c']) recent.remember(...key(each), PLACE)
    expect(['a', 'b', 'c'].map(each => recent.has(...key(each)))).toEqual([false, true, true])
  })

  test('fetching events changes nothing of what is known of them', () => {
    for (const capacity of [0, 64]) {
      const recent = createRecentEvents(capacity)
      recent.remember(...key('a'), PLACE)
      const keys = Int32Array.from([...wordsOf(...key('a')), ...wordsOf(...key('b'))])
      recent.fetch(keys, 2)
      expect([recent.has(keys, 0), recent.has(keys, KEY_WORDS)]).toEqual([capacity > 0, false])
    }
  })

  test('knows where the first event of an id lies, whatever comes later', () => {
    const recent = createRecentEvents(2)
    const places = { a: placeOf(1, 0), b: placeOf(2 ** 36, 2 ** 16 - 1), c: placeOf(70_000, 3) }
    expect(recent.placeOf(...key('a'))).toBe(NO_PLACE)
    recent.remember(...key('a', 'x'), places.a)
    recent.remember(...key('b', 'x'), places.b)
    recent.remember(...key('b', 'y'), placeOf(9, 9))
    const known = (id: string) => recent.placeOf(...key(id, 'other'))
    expect([known('a'), known('b'), recent.has(...key('b', 'y'))]).toEqual([places.a, places.b, false])
    expect([seqOf(known('b')), lineOf(known('b'))]).toEqual([2 ** 36, 2 ** 16 - 1])
    // The place goes with the event when a later one takes the first place.
    recent.remember(...key('c', 'x'), places.c)
    expect([known('a'), known('b'), known('c')]).toEqual([NO_PLACE, places.b, places.c])
  })

  test('a capacity of 0 turns it off', () => {
    const recent = createRecentEvents(0)
    recent.remember(...key('a'), PLACE)
    expect(recent.has(...key('a'))).toBe(false)
  })
})
