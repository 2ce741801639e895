// What of a request is written down.
import { expect, test } from 'vitest'
import { loggedUrl } from './logger.ts'

test.each([
  ['/v1/customers', '/v1/customers'],
  ['/v1/customers?api_key=secret&limit=5', '/v1/customers'],
  ['/v1/customers/cust_0123456789012345678901', '/v1/customers/cust_0123456789012345678901'],
  [`/reset/${'a'.repeat(43)}`, '/reset/…'],
  [`/v1/customers/${'a'.repeat(500)}/wallets?x=${'b'.repeat(500)}`, '/v1/customers/…/wallets'],
  ['', ''],
])('of %s the log says %s', (url, logged) => {
  expect(loggedUrl(url)).toBe(logged)
})
