// The two readers of CSV agree, whatever the pieces the bytes come in: one finds the lines, the other their fields.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRecords, writeRecord } from './parse-records.ts'
import { type RawRecord, RECORD_BYTES_MAX, RecordSplitter } from './split-records.ts'

function split(bytes: Buffer, cuts: readonly number[] = [], from = 0): RawRecord[] {
  const splitter = new RecordSplitter(from)
  const ends = [...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  const records: RawRecord[] = []
  let start = 0
  for (const end of ends) {
    for (const record of splitter.push(bytes.subarray(start, end)))
      records.push({ ...record, bytes: Buffer.from(record.bytes) })
    start = end
  }
  return [...records, ...splitter.end()]
}

const texts = (records: readonly RawRecord[]) => records.map(record => record.bytes.toString())
const field = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', '\r', ' ', '😀'), maxLength: 6 })
// A line of one empty field is an empty line, and those are none.
const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 5 }), { maxLength: 8 })
const cuts = fc.array(fc.nat(), { maxLength: 6 })
const lineEnd = fc.constantFrom('\n', '\r\n')

test('what is written is read back, field by field, from bytes in any pieces, with either line end and with a mark', () => {
  fc.assert(
    fc.property(rows, cuts, lineEnd, fc.boolean(), fc.boolean(), (written, at, end, mark, last) => {
      const text = written.map(writeRecord).join(end) + (last ? end : '')
      const records = split(Buffer.from((mark ? '\uFEFF' : '') + text), at)
      expect(parseRecords(records.map(record => record.bytes))).toEqual(written)
    }),
  )
})

test('the places of lines are where a reader may begin: from each of them on the same lines follow', () => {
  fc.assert(
    fc.property(rows, lineEnd, (written, end) => {
      const bytes = Buffer.from(written.map(writeRecord).join(end))
      const records = split(bytes)
      for (const [index, record] of records.entries()) {
        expect(split(bytes.subarray(record.start), [], record.start)).toEqual(records.slice(index))
        expect(split(bytes.subarray(record.end), [], record.end)).toEqual(records.slice(index + 1))
      }
    }),
  )
})

test('any bytes are split the same in any pieces, and a malformed line spoils no other', () => {
  const bytes = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r'), maxLength: 40 })
  fc.assert(
    fc.property(bytes, cuts, (text, at) => {
      const attempt = (pieces: readonly number[]): unknown => {
        try {
          return split(Buffer.from(text), pieces)
        } catch (error) {
          return String(error)
        }
      }
      const whole = attempt([])
      expect(attempt(at)).toEqual(whole)
      if (!Array.isArray(whole)) return
      const lines = (whole as RawRecord[]).map(record => record.bytes)
      expect(parseRecords(lines)).toEqual(lines.flatMap(line => parseRecords([line])))
    }),
  )
})

describe('lines', () => {
  test.each([
    ['empty lines are none', 'a,b\n\n\r\nc,d\n', ['a,b', 'c,d']],
    ['a quoted line end is part of its line', 'a,"b\n\nc"\nd,e', ['a,"b\n\nc"', 'd,e']],
    ['a stray quote stays in its line', '5" disk,1\nb,2\n', ['5" disk,1', 'b,2']],
    ['a doubled quote does not end a field', '"a""\n",1\nb,2', ['"a""\n",1', 'b,2']],
  ])('%s', (_name, text, lines) => {
    expect(texts(split(Buffer.from(text)))).toEqual(lines)
  })

  test.each([
    ['a quote within a field', '5" disk,1'],
    ['text after a quote', '"a"b,1'],
  ])('%s is not well-formed', (_name, line) => {
    expect(parseRecords([Buffer.from(line), Buffer.from('b,2')])).toEqual([{ fault: expect.any(String) }, ['b', '2']])
  })

  test('a line is bounded, and an open quote is found at the end or at the bound', () => {
    const long = 'x'.repeat(RECORD_BYTES_MAX)
    expect(texts(split(Buffer.from(`${long}\n`)))).toEqual([long])
    expect(() => split(Buffer.from(`a\n${long}x\n`))).toThrow(/starts at byte 2 is longer/)
    expect(() => split(Buffer.from(`a,"${long}\n`))).toThrow(/longer/)
    expect(() => split(Buffer.from('a,"b\nc'))).toThrow(/never closed/)
  })
})
