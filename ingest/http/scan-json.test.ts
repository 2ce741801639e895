import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JSON_DEPTH_MAX, scanJson } from './scan-json.ts'

const scan = (text: string) => scanJson(Buffer.from(text))
const countKeys = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : Object.values(value).reduce(
        (sum: number, each) => sum + countKeys(each),
        Array.isArray(value) ? 0 : Object.keys(value).length,
      )
const isPlain = (value: unknown): boolean => {
  if (typeof value === 'string') return /^[ !#-[\]-~]*$/.test(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, each]) => (Array.isArray(value) || isPlain(key)) && isPlain(each))
}

describe('scanJson', () => {
  test('counts the keys of any JSON, however it is spaced', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 0, max: 3 }), (value, indent) => {
        expect(scan(JSON.stringify(value, null, indent)).keys).toBe(countKeys(JSON.parse(JSON.stringify(value))))
      }),
    )
  })

  test('says plain only when no string needs a look or an escape', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), value => {
        const text = JSON.stringify(value)
        if (scan(text).plain) expect(isPlain(JSON.parse(text))).toBe(true)
      }),
    )
    expect(scan('{"a":"b c"}').plain).toBe(true)
    for (const odd of ['"\\n"', '"ü"', '"\u007f"', '"\\u0041"']) expect(scan(odd).plain, odd).toBe(false)
  })

  test('counts a key that is given twice, which JSON.parse hides', () => {
    expect(scan('{"a":1,"\\u0061":2}').keys).toBe(2)
    expect(scan('{"a:b":":"}').keys).toBe(1)
    expect(scan('{"a\\":":1}').keys).toBe(1)
  })

  test('refuses nesting beyond the limit, and nothing up to it', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(scan(nested(JSON_DEPTH_MAX)).keys).toBe(0)
    expect(() => scan(nested(JSON_DEPTH_MAX + 1))).toThrow('deeper than 32')
    expect(() => scan('{"a":'.repeat(100_000))).toThrow('deeper than 32')
    expect(scan(`"${'['.repeat(100)}"`).keys).toBe(0)
  })

  test('takes bytes that are no JSON without a fault of its own', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
        const count = scanJson(Buffer.from(bytes)).keys
        expect(count).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})
