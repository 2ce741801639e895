import { expect, test } from 'vitest'
import { parseUrl } from './parse-url.ts'

test('a name with letters of its own is an address, however often it is read', () => {
  for (let round = 0; round < 20_000; round++) {
    if (parseUrl('https://bücher.example/a')?.href !== 'https://xn--bcher-kva.example/a')
      expect.unreachable(`round ${round}`)
  }
})

test.each(['', 'bücher.example', '/a', 'https://', 'https://a b/'])('%j is none', text => {
  expect(parseUrl(text)).toBe(null)
})
