import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook as StandardWebhook, WebhookVerificationError } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import { SECRET_PREFIX, signatureHeaders } from './signature.ts'

const NOW = instantOf(Date.parse('2026-03-11T10:00:07.900Z'))
const secretOf = (bytes: Uint8Array): string => `${SECRET_PREFIX}${Buffer.from(bytes).toString('base64')}`
const [SECRET, OLD] = [secretOf(new Uint8Array(32).fill(7)), secretOf(new Uint8Array(32).fill(9))]
const of = { eventId: 'evnt_1', body: '{"a":1}', now: NOW }

test('a secret signs the time, a dot and the body, in lower-case hex', () => {
  const hex = createHmac('sha256', SECRET).update('2026-03-11T10:00:07Z.{"a":1}').digest('hex')
  expect(signatureHeaders(of, [SECRET])).toMatchObject({
    'X-PAYLOAD-SIGNATURE-TIMESTAMP': '2026-03-11T10:00:07Z',
    'X-PAYLOAD-SIGNATURE': `v1=${hex}`,
    'webhook-timestamp': '1773223207',
  })
})

test('while a secret is rolled both sign, the new one first', () => {
  const both = signatureHeaders(of, [SECRET, OLD])
  const [first, second] = [SECRET, OLD].map(secret => signatureHeaders(of, [secret]))
  expect(both['X-PAYLOAD-SIGNATURE']).toBe(`${first?.['X-PAYLOAD-SIGNATURE']},${second?.['X-PAYLOAD-SIGNATURE']}`)
  expect(both['webhook-signature']).toBe(`${first?.['webhook-signature']} ${second?.['webhook-signature']}`)
})

test('without a secret nothing is signed', () => {
  expect(signatureHeaders(of, [])).toEqual({})
})

test('the public verifier of Standard Webhooks accepts every body with either secret, and nothing that was changed', () => {
  vi.useFakeTimers({ now: NOW })
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  fc.assert(
    fc.property(bytes, bytes, fc.json(), (newer, older, body) => {
      const secrets = [secretOf(newer), secretOf(older)]
      const headers = { 'webhook-id': 'evnt_1', ...signatureHeaders({ ...of, body }, secrets) }
      for (const secret of secrets) expect(new StandardWebhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
      const stranger = new StandardWebhook(secretOf(new Uint8Array(32).fill(1)))
      expect(() => stranger.verify(body, headers)).toThrow(WebhookVerificationError)
      const other = new StandardWebhook(secrets[0] ?? '')
      expect(() => other.verify(`${body} `, headers)).toThrow(WebhookVerificationError)
      expect(() => other.verify(body, { ...headers, 'webhook-id': 'evnt_2' })).toThrow(WebhookVerificationError)
    }),
    { numRuns: 50 },
  )
  vi.useRealTimers()
})
