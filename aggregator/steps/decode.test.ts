import { describe, expect, test } from 'vitest'
import { decodeEvent, encodeMessage, partitionOf } from '../../shared/contracts/usage-event.ts'
import { amendLineOf, deleteLineOf, eventLineOf, TEST_PLATFORM, TEST_TIME_MS } from '../testing.ts'
import { decodeLogMessage, UnknownFormatError } from './decode.ts'

const ONE_PARTITION = { partition: 0, partitions: 1 }
const decode = (body: string, log = ONE_PARTITION) => decodeLogMessage({ seq: 7, timeMs: 0, bytes: 1, body }, log)
const good = eventLineOf({ reference: 'a', quantity: '1.5' })
/** The line with one field of the array replaced by JSON text. */
const withField = (index: number, json: string): string => {
  const fields: unknown[] = JSON.parse(good.line)
  const texts = fields.map((field, at) => (at === index ? json : JSON.stringify(field)))
  return `[${texts.join(',')}]`
}

describe('decoding a message of the log', () => {
  test('finds the place, hashes and bucket of an event and keeps its text as it stands', () => {
    const [record] = decode(encodeMessage([good.line]))
    expect(record).toEqual({
      kind: 'event',
      seq: 7,
      line: 0,
      text: good.line,
      idHash: good.idHash,
      contentHash: decodeEvent(good.line).contentHash,
      bucket: {
        platformId: TEST_PLATFORM,
        environment: 'TEST',
        customerKey: 'customer-1',
        meterReference: 'requests',
        hour: Math.floor(TEST_TIME_MS / 3_600_000) * 3_600,
      },
      receivedSecond: Math.floor(TEST_TIME_MS / 1_000) + 1,
    })
  })

  test('reads deletions', () => {
    const deletion = deleteLineOf({ reference: 'a' })
    expect(decode(encodeMessage([good.line, deletion.line]))[1]).toMatchObject({
      kind: 'delete',
      line: 1,
      idHash: good.idHash,
      platformId: TEST_PLATFORM,
      environment: 'TEST',
    })
  })

  test('reads amendments, with properties and without', () => {
    const amendment = amendLineOf({ reference: 'a', quantity: '-0.5' })
    const [record] = decode(encodeMessage([amendment.line]))
    expect(record).toMatchObject({
      kind: 'amend',
      idHash: good.idHash,
      valueReferences: ['tokens'],
      valueQuantities: ['-0.5'],
      valueCurrencies: [''],
      properties: null,
      actorId: 'apik_1',
    })
    const { line } = amendLineOf({ reference: 'a', properties: { p: 'q' } })
    expect(decode(encodeMessage([line]))[0]).toMatchObject({ properties: { p: 'q' } })
  })

  const amended = amendLineOf({ reference: 'a', quantity: '1' }).line
  const faults: [string, string, string][] = [
    ['no JSON', 'oops', 'NOT_A_RECORD'],
    ['an empty line', '', 'NOT_A_RECORD'],
    ['null', 'null', 'NOT_A_RECORD'],
    ['too few fields', '["a"]', 'NOT_A_RECORD'],
    ['a space at the end, before which nothing can be appended', `${good.line} `, 'NOT_A_RECORD'],
    ['a deletion without a hash', '{"delete":"x"}', 'NOT_A_RECORD'],
    ['an amendment without a hash', amended.replace(good.idHash, 'x'), 'NOT_A_RECORD'],
    ['an amendment with an exponent', amended.replace('["1"]', '["1e9"]'), 'INVALID_FIELD'],
    ['an amendment with a quantity missing', amended.replace('["1"]', '[]'), 'INVALID_FIELD'],
    ['an amendment with properties as a list', amended.replace('null', '[]'), 'INVALID_FIELD'],
    ['an amendment by nobody at all', amended.replace('"apik_1"', '1'), 'INVALID_FIELD'],
    ['an upper-case hash', withField(0, `"${good.idHash.toUpperCase().replaceAll(/[0-9]/g, 'A')}"`), 'INVALID_FIELD'],
    ['a short content hash', withField(1, '"abc"'), 'INVALID_FIELD'],
    ['no platform', withField(2, '""'), 'INVALID_FIELD'],
    ['an unknown environment', withField(3, '"PROD"'), 'INVALID_FIELD'],
    ['a number as reference', withField(4, '5'), 'INVALID_FIELD'],
    ['a timestamp in milliseconds', withField(7, '"1700158623979"'), 'INVALID_FIELD'],
    ['a timestamp ClickHouse could not read', withField(7, '"86400.000"'), 'INVALID_FIELD'],
    ['a timestamp after 2199', withField(7, '"7258118400.000"'), 'INVALID_FIELD'],
    ['a quantity with an exponent', withField(10, '["1e9"]'), 'INVALID_FIELD'],
    ['a quantity of 27 digits', withField(10, `["${'9'.repeat(27)}"]`), 'INVALID_FIELD'],
    ['a quantity as a number', withField(10, '[1]'), 'INVALID_FIELD'],
    ['a quantity missing', withField(10, '[]'), 'INVALID_FIELD'],
    ['a currency too many', withField(11, '["",""]'), 'INVALID_FIELD'],
    ['properties as a list', withField(12, '[]'), 'INVALID_FIELD'],
    ['a property that is a number', withField(12, '{"a":1}'), 'INVALID_FIELD'],
    ['a subscription that is an object', withField(13, '{}'), 'INVALID_FIELD'],
  ]
  test.each(faults)('keeps a line with %s as dead, and reads the next', (_, line, reason) => {
    const [dead, next] = decode(`1\n${line}\n${good.line}`)
    expect(dead).toEqual({ kind: 'dead', seq: 7, line: 0, text: line, reason })
    expect(next).toMatchObject({ kind: 'event', line: 1 })
  })

  test('keeps an event of another partition as dead: its order there means nothing here', () => {
    const other = 1 - partitionOf(good.idHash, 2)
    expect(decode(encodeMessage([good.line]), { partition: other, partitions: 2 })).toMatchObject([
      { kind: 'dead', reason: 'WRONG_PARTITION' },
    ])
  })

  test('stops at a newer format instead of giving its events up', () => {
    expect(() => decode('2\n{}')).toThrow(UnknownFormatError)
  })

  test.each([
    ['', 'NOT_A_MESSAGE'],
    ['garbage', 'NOT_A_MESSAGE'],
    ['{"a":1}\nx', 'NOT_A_MESSAGE'],
  ])('keeps the body %j, which is no message, as dead', (body, reason) => {
    expect(decode(body)).toEqual([{ kind: 'dead', seq: 7, line: 0, text: body, reason }])
  })
})
