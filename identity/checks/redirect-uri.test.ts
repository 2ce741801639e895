// security section 8, rows 1 to 3, and section 1.2, items 7, 8 and 11.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkRedirectUris, matchesRedirectUri } from './redirect-uri.ts'

test.each([
  'https://app.example/callback',
  'https://app.example:8443/callback?tenant=1',
  'http://127.0.0.1:33418/callback',
  'http://127.0.0.1/callback',
  'http://[::1]:8000/',
  'http://localhost:3000',
  'http://localhost/callback',
])('%s may be registered', uri => {
  expect(checkRedirectUris([uri], [])).toEqual([uri])
})

test.each([
  ['nothing', []],
  ['no array', 'https://app.example'],
  ['too many', Array.from({ length: 11 }, (_, index) => `https://app.example/${index}`)],
  ['a number', [7]],
  ['an empty text', ['']],
  ['too long', [`https://app.example/${'a'.repeat(2_000)}`]],
  ['a relative one', ['/callback']],
  ['a fragment', ['https://app.example/#here']],
  ['an empty fragment', ['https://app.example/#']],
  ['a user', ['https://app.example@evil.com/']],
  ['a user and password', ['https://a:b@evil.com/']],
  ['an empty user', ['https://@evil.com/']],
  ['a wildcard', ['https://*.example.com/']],
  ['a backslash', ['https://app.example\\@evil.com']],
  ['a line end', ['https://app.example/\nx']],
  ['a tab', ['java\tscript:alert(1)']],
  ['javascript', ['javascript:alert(1)']],
  ['JavaScript', ['JavaScript:alert(1)']],
  ['data', ['data:text/html,x']],
  ['file', ['file:///etc/passwd']],
  ['blob', ['blob:https://app.example/1']],
  ['vbscript', ['vbscript:x']],
  ['HTTPS in capitals', ['HTTPS://app.example/']],
  ['http elsewhere', ['http://app.example/callback']],
  ['a host that starts like us', ['http://127.0.0.1.evil.com/cb']],
  ['localhost as a label', ['http://localhost.evil/cb']],
  ['a mapped address', ['http://[::ffff:127.0.0.1]/cb']],
  ['another loopback', ['http://127.0.0.2/cb']],
  ['this machine in decimal', ['http://2130706433/cb']],
  ['this machine in short', ['http://127.1/cb']],
  ['a trailing dot', ['http://localhost./cb']],
  ['an impossible port', ['http://127.0.0.1:70000/cb']],
  ['a port of zero', ['http://127.0.0.1:0/cb']],
  ['a dot segment', ['https://app.example/a/../b']],
  ['an encoded dot segment', ['https://app.example/a/%2e%2E/b']],
  ['a parameter code', ['https://app.example/?code=1']],
  ['a parameter state', ['https://app.example/?state=1']],
  ['a parameter iss', ['https://app.example/?iss=1']],
  ['a parameter error', ['https://app.example/?error=1']],
  ['an application scheme nobody allowed', ['com.example.app:/callback']],
  ['a good one and a bad one', ['https://app.example/', 'http://app.example/']],
])('%s is refused', (_name, uris) => {
  expect(() => checkRedirectUris(uris, [])).toThrow(expect.objectContaining({ error: 'invalid_redirect_uri' }))
})

test('an application scheme may be registered where the operator allows it', () => {
  expect(checkRedirectUris(['com.example.app:/callback'], ['com.example.app'])).toHaveLength(1)
})

test.each([
  ['https://app.example/cb', 'https://app.example/cb', true],
  ['https://app.example/cb', 'https://app.example/cb/', false],
  ['https://app.example/cb', 'https://app.example/cb?x=1', false],
  ['https://app.example/cb', 'https://app.example.evil.com/cb', false],
  ['https://app.example/cb', 'https://app.example@evil.com/cb', false],
  ['https://app.example/cb', 'https://app.example/x/../cb', false],
  ['https://app.example/cb', 'https://app.example/%63b', false],
  ['https://app.example/cb', 'https://app.example:443/cb', false],
  ['https://app.example/cb', 'https://APP.example/cb', false],
  ['https://app.example/cb', 'http://app.example/cb', false],
  ['http://localhost/callback', 'http://localhost:49152/callback', true],
  ['http://127.0.0.1:1/callback', 'http://127.0.0.1:2/callback', true],
  ['http://[::1]/callback', 'http://[::1]:9/callback', true],
  ['http://localhost/callback', 'http://127.0.0.1:49152/callback', false],
  ['http://localhost/callback', 'http://localhost:49152/other', false],
  ['http://localhost/callback', 'http://localhost:49152/callback?x=1', false],
  ['http://localhost/callback', 'http://localhost:99999/callback', false],
  ['http://localhost/callback', 'http://localhost:1@evil.com/callback', false],
  ['http://localhost/callback', 'https://localhost:49152/callback', false],
])('registered %s, asked %s: %s', (registered, asked, expected) => {
  expect(matchesRedirectUri(asked, [registered])).toBe(expected)
})

test('what is accepted leads to https or to this machine, by the browser’s own reading', () => {
  const piece = fc.constantFrom(
    'https://',
    'http://',
    'localhost',
    '127.0.0.1',
    '[::1]',
    'evil.com',
    '@',
    ':80',
    '/',
    '\\',
    '..',
    '%2e',
    '?',
    '#',
    'a',
    '.',
    ':',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
      const uri = pieces.join('')
      let accepted = true
      try {
        checkRedirectUris([uri], [])
      } catch {
        accepted = false
      }
      if (!accepted) return
      const url = new URL(uri)
      expect(url.username + url.password + url.hash).toBe('')
      if (url.protocol !== 'https:') expect(['127.0.0.1', '[::1]', 'localhost']).toContain(url.hostname)
    }),
    { numRuns: 5_000 },
  )
})
