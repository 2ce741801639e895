import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashContent, hashContentText } from './content-hash.ts'

// Of the reference implementation (MurmurHash3_x86_128, seed 0), the first 64 bits.
test.each([
  ['', '0000000000000000'],
  ['The quick brown fox jumps over the lazy dog', '2f1583c3ecee2c67'],
])('%j', (text, expected) => expect(hashContentText(text)).toBe(expected))

test('it is the same wherever the bytes lie, and every byte of it counts', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 70 })
  fc.assert(
    fc.property(bytes, fc.nat({ max: 9 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (content, shift, at, change) => {
      const hashOf = (list: Uint8Array, from: number) => {
        const room = new Uint8Array(from + list.length)
        room.set(list, from)
        const out = new Int32Array(2)
        hashContent(new DataView(room.buffer), from, list.length, out, 0)
        return [...out]
      }
      expect(hashOf(content, shift)).toEqual(hashOf(content, 0))
      const other = Uint8Array.from(content)
      other[at % other.length] = (other[at % other.length] ?? 0) ^ change
      expect(hashOf(other, 0)).not.toEqual(hashOf(content, 0))
    }),
  )
})

test('contents that differ little have hashes that differ much', () => {
  const seen = new Set<string>()
  let bits = 0
  for (let each = 0; each < 20_000; each += 1) {
    const [one, other] = [hashContentText(`["a","${each}"]`), hashContentText(`["a","${each}" ]`)]
    seen.add(one)
    let differing = BigInt(`0x${one}`) ^ BigInt(`0x${other}`)
    for (; differing > 0n; differing &= differing - 1n) bits += 1
  }
  expect(seen.size).toBe(20_000)
  expect(Math.abs(bits / 20_000 - 32)).toBeLessThan(0.5)
})
