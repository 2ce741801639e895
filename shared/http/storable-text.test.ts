import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { refuseUnreadableQuery, refuseUnstorableText } from './storable-text.ts'

const fieldOf = (value: unknown): string | null | undefined => {
  try {
    refuseUnstorableText(value)
    return null
  } catch (error) {
    if (error instanceof AppError) return error.details.field
    throw error
  }
}

describe('text that cannot be stored', () => {
  test.each([
    ['a NUL', { name: 'a\u0000b' }, 'name'],
    ['a high surrogate alone', { name: 'a\ud800b' }, 'name'],
    ['a low surrogate alone', { name: '\udc00' }, 'name'],
    ['a pair the wrong way round', { name: '\udc00\ud800' }, 'name'],
    ['deep in a list', { a: [{ b: 'x' }, { b: ['\u0000'] }] }, 'a.1.b.0'],
    ['the name of a member', { a: { 'b\u0000': 1 } }, 'a'],
    ['nothing', { a: ['x', null, 1, true, { b: 'é 😀 \u0001 \ufffd \t' }] }, null],
    ['five thousand lists in each other', JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)), null],
    ['a stream', Readable.from(['\u0000']), null],
    ['bytes', Buffer.from([0]), null],
    ['no body', undefined, null],
  ])('%s', (_what, value, field) => {
    expect(fieldOf(value)).toBe(field)
  })

  test('is all that is refused: exactly what UTF-8 and PostgreSQL cannot keep', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const kept = !text.includes('\u0000') && Buffer.from(text, 'utf8').toString('utf8') === text
        expect(fieldOf({ text }) === null).toBe(kept)
      }),
    )
  })
})

test.each([
  ['/v1/customers?reference=%ff', false],
  ['/v1/customers?reference=%ED%A0%80', false],
  ['/v1/customers?reference=100%', false],
  ['/v1/customers?reference=a&x%zz=1', false],
  ['/v1/customers?reference=100%25&x=%C3%A9+b', true],
  ['/v1/customers?reference=é', true],
  ['/v1/customers/%ff', true], // the router's matter
])('the query of %s can be read: %s', (url, isReadable) => {
  const read = () => refuseUnreadableQuery(url)
  if (isReadable) expect(read).not.toThrow()
  else expect(read).toThrow('percent-encoded UTF-8')
})
