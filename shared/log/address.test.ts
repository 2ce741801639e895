import { expect, test } from 'vitest'
import { brokerAddress } from './address.ts'

test.each([
  ['nats://127.0.0.1:4222', { servers: ['127.0.0.1:4222'] }],
  ['a:1,nats://b:2', { servers: ['a:1', 'b:2'] }],
  ['nats://me:p%40ss@a:1, nats://b:2', { servers: ['a:1', 'b:2'], user: 'me', pass: 'p@ss' }],
])('%s', (url, expected) => expect(brokerAddress(url)).toEqual(expected))
