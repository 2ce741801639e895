import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientIdUrlFault, hostOfClient, isClientIdUrl } from './client-id-url.ts'

test.each([
  ['https://app.example/oauth/client.json', 'app.example'],
  ['https://app.example/', 'app.example'],
  ['https://app.example:8443/client.json', 'app.example:8443'],
  ['https://app.example/client?version=2', 'app.example'],
  ['https://xn--bcher-kva.example/client', 'xn--bcher-kva.example'],
])('%s is an id, of %s', (clientId, host) => {
  expect([clientIdUrlFault(clientId), hostOfClient(clientId)]).toEqual([null, host])
})

test.each([
  ['https://app.example', 'must have a path'],
  ['https://app.example?client', 'must have a path'],
  ['https:///client', 'written as https://client/'],
  ['https://', 'must be an absolute https address'],
  ['http://app.example/client', 'must be an absolute https address'],
  ['HTTPS://app.example/client', 'must be an absolute https address'],
  ['https://user@app.example/client', 'user name or password'],
  ['https://user:word@app.example/client', 'user name or password'],
  ['https://@app.example/client', 'user name or password'],
  ['https://claude.ai@evil.example/client', 'user name or password'],
  ['https://app.example/client#part', 'fragment'],
  ['https://app.example/client#', 'fragment'],
  ['https://app.example/a/../client', 'dot segments'],
  ['https://app.example/./client', 'dot segments'],
  ['https://app.example/a/%2E%2e/client', 'dot segments'],
  ['https://app.example/a/..', 'dot segments'],
  ['https://127.0.0.1/client', 'by a name'],
  ['https://2130706433/client', 'by a name'],
  ['https://[::1]/client', 'by a name'],
  ['https://8.8.8.8/client', 'by a name'],
  ['https://app.example./client', 'end with a dot'],
  ['https://App.Example/client', 'written as https://app.example/client'],
  ['https://app.example:443/client', 'written as https://app.example/client'],
  ['https://bücher.example/client', 'written as https://xn--bcher-kva.example/client'],
  ['https://app.example/a b', 'written as https://app.example/a%20b'],
  ['https://app.example\\@evil.example/client', 'user name or password'],
  ['https://app.example/client\n', 'written as https://app.example/client'],
  [`https://app.example/${'a'.repeat(500)}`, 'longer than 500 characters'],
])('%j is refused: %s', (clientId, reason) => {
  expect(clientIdUrlFault(clientId)).toContain(reason)
})

test('an id that is accepted reads as one address only, and its host is the one that is asked', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string()), text => {
      const clientId = text.replace(/^http:/, 'https:')
      if (clientIdUrlFault(clientId) !== null) return
      const url = new URL(clientId)
      expect(url.href).toBe(clientId)
      expect([url.protocol, url.username, url.password, url.hash]).toEqual(['https:', '', '', ''])
      expect(hostOfClient(clientId)).toBe(url.host)
    }),
  )
})

test('the id of a registered client is no address', () => {
  expect([isClientIdUrl('clnt_0123456789012345678901'), hostOfClient('clnt_x')]).toEqual([false, null])
})
