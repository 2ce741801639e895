import { expect, test } from 'vitest'
import { maxAgeSeconds } from './freshness.ts'

test.each([
  [undefined, 3_600],
  ['', 3_600],
  ['public', 3_600],
  ['max-age=600', 600],
  ['public, Max-Age="7200", immutable', 7_200],
  ['max-age=0', 300],
  ['max-age=60', 300],
  ['max-age=31536000', 86_400],
  ['max-age=9999999999', 86_400],
  ['max-age=-1', 3_600],
  ['max-age=1e9', 3_600],
  ['no-store', 300],
  ['no-cache="set-cookie", max-age=7200', 300],
  ['s-maxage=7200', 3_600],
])('%j keeps a document for %d seconds', (header, seconds) => {
  expect(maxAgeSeconds(header)).toBe(seconds)
})
