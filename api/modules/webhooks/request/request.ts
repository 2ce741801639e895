// One delivery as a request: opens the webhook's credentials and secrets, and signs the body.
import { unseal } from '../../../../shared/secrets/seal.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import type { Webhook } from '../table.ts'
import { signatureHeaders } from './signature.ts'

/** The purpose under which a credential or secret of a webhook is sealed. */
export const SEALED_FOR = 'webhook'

/** The members of a webhook that a request needs. */
export type Endpoint = Pick<
  Webhook,
  | 'url'
  | 'authentication_type'
  | 'username'
  | 'password_sealed'
  | 'api_header_field'
  | 'api_key_sealed'
  | 'secret_sealed'
  | 'previous_secret_sealed'
  | 'previous_secret_until'
>
export type WebhookRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The request that delivers `body`, the event `eventId`, at `now`. Throws when DATA_SECRET is not the one that sealed
 * the webhook's credentials.
 */
export async function requestFor(
  endpoint: Endpoint,
  of: { readonly eventId: string; readonly body: string; readonly now: Instant },
  open: Opener,
): Promise<WebhookRequest> {
  const secrets = await Promise.all(secretsAt(endpoint, of.now).map(open))
  return {
    url: endpoint.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Millrace-Webhooks/1',
      ...(await credentialHeaders(endpoint, open)),
      'X-EVENT-ID': of.eventId,
      'webhook-id': of.eventId,
      ...signatureHeaders(of, secrets),
    },
    body: of.body,
  }
}

/** The sealed secrets that sign at `now`, newest first. */
function secretsAt(endpoint: Endpoint, now: Instant): string[] {
  const { secret_sealed, previous_secret_sealed, previous_secret_until } = endpoint
  const isRolling = previous_secret_until !== null && now < at(previous_secret_until)
  return [secret_sealed, isRolling ? previous_secret_sealed : null].filter(sealed => sealed !== null)
}

async function credentialHeaders(endpoint: Endpoint, open: Opener): Promise<Record<string, string>> {
  const { authentication_type, username, password_sealed, api_header_field, api_key_sealed } = endpoint
  if (authentication_type === 'PASSWORD' && password_sealed !== null) {
    const credentials = Buffer.from(`${username}:${await open(password_sealed)}`).toString('base64')
    return { authorization: `Basic ${credentials}` }
  }
  if (authentication_type === 'API_KEY' && api_header_field !== null && api_key_sealed !== null) {
    return { [api_header_field]: await open(api_key_sealed) }
  }
  return {}
}

/** Opens sealed values. */
export type Opener = (sealed: string) => Promise<string>

const OPENED_MAX = 10_000

/** Opens what `dataSecret` sealed, and caches a few thousand results, because each delivery needs them. */
export function createOpener(dataSecret: string): Opener {
  const opened = new Map<string, string>()
  return async sealed => {
    const known = opened.get(sealed)
    if (known !== undefined) return known
    const text = await unseal(dataSecret, SEALED_FOR, sealed)
    if (opened.size >= OPENED_MAX) opened.clear()
    opened.set(sealed, text)
    return text
  }
}
