import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WIRE_VERSION } from '../../shared/contracts/usage-event.ts'
import { Output } from './fast-path/bytes.ts'
import { Message } from './message.ts'

/** Lines as they lie in the output of a request: behind other bytes, and with some after them. */
function append(message: Message, line: string): void {
  const bytes = Buffer.from(line)
  const output = new Output(0)
  output.reserve(0, bytes.length + 6)
  output.bytes.write('###')
  bytes.copy(output.bytes, 3)
  output.bytes.write('###', 3 + bytes.length)
  message.append(output, 3, 3 + bytes.length, bytes.length === line.length)
}
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')

const line = fc.oneof(
  fc.string({ maxLength: 400 }),
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.constant('x'.repeat(9_000)),
)

test('holds the version and its lines, whatever they are made of, and says how many bytes that is', () => {
  const message = new Message(1_000_000)
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 30 }),
      fc.string({ unit: 'grapheme-ascii', maxLength: 200 }),
      (lines, head) => {
        message.clear()
        for (const each of lines) append(message, each)
        const body = [WIRE_VERSION, ...lines.map(each => Buffer.from(each).toString('utf8'))].join('\n')
        expect(textOf(message.body())).toBe(body)
        expect([message.bytes, message.lines]).toEqual([Buffer.byteLength(body), lines.length])
        expect(textOf(message.framed(head))).toBe(`${head}${body}\r\n`)
        // Framing it leaves it as it was.
        expect(textOf(message.body())).toBe(body)
      },
    ),
  )
})

test('takes a first line of any length, and then what fits', () => {
  const message = new Message(100)
  expect(message.fits(5_000)).toBe(true)
  append(message, 'x'.repeat(90))
  const left = 100 - message.bytes - 1
  expect([message.fits(left), message.fits(left + 1)]).toEqual([true, false])
})

test('a head there is no room for is refused, and nothing is written', () => {
  const message = new Message(100)
  append(message, 'a line')
  expect(() => message.framed('h'.repeat(10_000))).toThrow(RangeError)
  expect(textOf(message.body())).toBe(`${WIRE_VERSION}\na line`)
})
