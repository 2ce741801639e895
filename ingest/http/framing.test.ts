import { expect, test } from 'vitest'
import { checkFraming, FramingError } from './framing.ts'
import type { UwsRequest } from './load-uws.ts'

const requestWith = (headers: readonly (readonly [string, string])[]): UwsRequest => ({
  getQuery: () => undefined,
  forEach: visit => {
    for (const [name, value] of headers) visit(name, value)
  },
})
const some = (count: number) => Array.from({ length: count }, (_, index) => [`x-h${index}`, 'y'] as const)

test('fifty headers are read, one more is refused as a fault of the framing', () => {
  expect(() => checkFraming(requestWith(some(50)))).not.toThrow()
  expect(() => checkFraming(requestWith(some(51)))).toThrow(FramingError)
  expect(() => checkFraming(requestWith(some(51)))).toThrow('Send at most 50 headers.')
})
