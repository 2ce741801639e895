// Signatures of deliveries: those of the contract (Events, Signature headers) and those of the Standard Webhooks
// specification, so that its public libraries can verify a delivery. Pure.
import { createHmac } from 'node:crypto'
import { formatInstant, type Instant } from '../../../../shared/time.ts'

/** The prefix of a secret in the Standard Webhooks specification; the base64 of the key follows it. */
export const SECRET_PREFIX = 'whsec_'

/**
 * The headers that sign `body` as sent at `now` with each of `secrets`, newest first; none without a secret. The
 * contract's signature uses the text of the secret as its key, the other uses the bytes that its base64 encodes.
 */
export function signatureHeaders(
  of: { readonly eventId: string; readonly body: string; readonly now: Instant },
  secrets: readonly string[],
): Record<string, string> {
  if (secrets.length === 0) return {}
  const time = formatInstant(of.now)
  const seconds = String(Math.floor(of.now / 1_000))
  const standard = (secret: string): string =>
    hmac(keyOf(secret), `${of.eventId}.${seconds}.${of.body}`).toString('base64')
  return {
    'X-PAYLOAD-SIGNATURE-TIMESTAMP': time,
    'X-PAYLOAD-SIGNATURE': secrets.map(secret => `v1=${hmac(secret, `${time}.${of.body}`).toString('hex')}`).join(','),
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map(secret => `v1,${standard(secret)}`).join(' '),
  }
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
