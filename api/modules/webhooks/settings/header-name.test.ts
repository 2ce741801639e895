import { expect, test } from 'vitest'
import { headerNameFault, isHeaderValue } from './header-name.ts'

test.each(['X-API-KEY', 'Authorization', 'x-my_key', 'Api-Key!'])('%s may carry the API key', name => {
  expect(headerNameFault(name)).toBeNull()
})

test.each([
  'Host',
  'host',
  'Content-Length',
  'content-type',
  'Transfer-Encoding',
  'Connection',
  'Keep-Alive',
  'TE',
  'Upgrade',
  'Expect',
  'Proxy-Authorization',
  'X-Forwarded-For',
  'X-PAYLOAD-SIGNATURE',
  'x-payload-signature-timestamp',
  'X-EVENT-ID',
  'webhook-id',
  'Webhook-Signature',
  'X Key',
  'X-Key:',
  'X-Key\r\nHost',
  'X-Clé',
  '',
  'a'.repeat(129),
])('%j may not', name => {
  expect(headerNameFault(name)).not.toBeNull()
})

test.each([
  ['key', true],
  ['Bearer a.b-c_d==', true],
  ['', false],
  [' key', false],
  ['key ', false],
  ['a\r\nX-Other: b', false],
  ['a\nb', false],
  ['a\u0000b', false],
  ['a\tb', false],
  ['clé', false],
  ['\u007f', false],
])('%j in a header: %s', (value, ok) => {
  expect(isHeaderValue(value)).toBe(ok)
})
