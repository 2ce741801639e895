import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AsciiText, copyBytes, isTextAt, Output, PADDING_BYTES, putText } from './bytes.ts'

/** Few different characters, the least and the last of ASCII among them, so that texts are often nearly the same. */
const text = fc.string({ unit: fc.constantFrom('\0', '0', '"', '\x7f'), maxLength: 40 })
const start = fc.integer({ min: 0, max: 9 })

function viewOf(content: string): DataView {
  const bytes = Buffer.alloc(content.length + PADDING_BYTES, '0')
  bytes.write(content, 'latin1')
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

test('a piece stands where its text does, and nowhere else', () => {
  fc.assert(
    fc.property(text, text, start, (before, piece, at) => {
      const content = `${before}${piece}${before}`
      const padded = content.padEnd(content.length + PADDING_BYTES, '0')
      for (const place of [at, before.length]) {
        expect(isTextAt(viewOf(content), place, new AsciiText(piece))).toBe(padded.startsWith(piece, place))
      }
    }),
    { numRuns: 2_000 },
  )
})

test('a piece that differs in any one byte is another', () => {
  for (let length = 1; length <= 40; length += 1) {
    const content = 'a'.repeat(length)
    expect(isTextAt(viewOf(content), 0, new AsciiText(content))).toBe(true)
    for (let place = 0; place < length; place += 1) {
      const other = `${content.slice(0, place)}b${content.slice(place + 1)}`
      expect(isTextAt(viewOf(content), 0, new AsciiText(other)), `${place} of ${length}`).toBe(false)
    }
  }
})

test('copies what it says, to where it says, and keeps what lies before', () => {
  fc.assert(
    fc.property(text, start, start, (content, from, to) => {
      const output = new Output(0)
      output.reserve(0, 2 * to + content.length)
      output.bytes.fill('.')
      const length = Math.max(0, content.length - from)
      const end = copyBytes(viewOf(content), from, length, output.view, to)
      expect(end).toBe(to + length)
      expect(output.bytes.toString('latin1', 0, end)).toBe(`${'.'.repeat(to)}${content.slice(from)}`)
      expect(putText(new AsciiText(content), output.view, to)).toBe(to + content.length)
      expect(output.bytes.toString('latin1', 0, to + content.length)).toBe(`${'.'.repeat(to)}${content}`)
    }),
  )
})
