// What a client ID metadata document says of its client, checked as a registration is. Pure.
import { checkClientName } from '../checks/client-name.ts'
import { usableRedirectUris } from '../checks/redirect-uri.ts'
import { OAuthError } from '../oauth-error.ts'

export type ClientDocument = { readonly name: string; readonly redirectUris: readonly string[] }

/** The document is there and cannot be accepted. The message says what its author has to change. */
export class InvalidDocument extends Error {}

/**
 * Reads the document that was found at `clientId`. Throws InvalidDocument (draft-ietf-oauth-client-id-metadata-document, section
 * 4.1). Members we do not know may be anything; those that carry or imply a shared secret are refused. Redirect addresses that
 * cannot be registered here are left out, since one document serves every authorization server; one must remain.
 */
export function readDocument(text: string, clientId: string, schemes: readonly string[]): ClientDocument {
  const metadata = parse(text)
  if (metadata['client_id'] !== clientId)
    throw new InvalidDocument('client_id must be the address of the document itself')
  for (const name of ['client_secret', 'client_secret_expires_at'])
    if (metadata[name] !== undefined) throw new InvalidDocument(`${name} must not be there: the document is public`)
  const method = metadata['token_endpoint_auth_method'] ?? 'none'
  if (method !== 'none')
    throw new InvalidDocument('token_endpoint_auth_method must be none: this server knows public clients only')
  requireListed(metadata, 'grant_types', 'authorization_code')
  requireListed(metadata, 'response_types', 'code')
  try {
    const redirectUris = usableRedirectUris(metadata['redirect_uris'], schemes)
    return { redirectUris, name: checkClientName(metadata['client_name']) }
  } catch (error) {
    throw error instanceof OAuthError ? new InvalidDocument(error.message.replace(/\.$/, '')) : error
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new InvalidDocument('it is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidDocument('it must be a JSON object')
  return Object.assign(Object.create(null), value)
}

/** A list that is there must name what we do; one that is left out says nothing. */
function requireListed(metadata: Readonly<Record<string, unknown>>, name: string, needed: string): void {
  const value = metadata[name]
  if (value === undefined) return
  if (!Array.isArray(value) || !value.includes(needed)) throw new InvalidDocument(`${name} must list ${needed}`)
}
