// Who sends, from the headers alone: one X-API-KEY. Nothing a body or query says can change it.
import type { ApiKeyIdentity, LiveKeys } from '../../shared/access/live-keys.ts'
import { AppError } from '../../shared/errors.ts'
import type { Head } from '../http/read-head.ts'

/** The identity at once when the key is in memory, a promise of it otherwise. Throws the refusal. */
export function authenticate(keys: LiveKeys, head: Head): ApiKeyIdentity | Promise<ApiKeyIdentity> {
  const [key] = head.apiKeys
  if (key === undefined) throw new AppError('UNAUTHORISED', 'Send an API key in the header X-API-KEY.')
  if (head.apiKeys.length > 1 || key === '') {
    throw new AppError('BAD_REQUEST', 'X-API-KEY must be given once and not be empty.', { field: 'X-API-KEY' })
  }
  if (head.hasAuthorization) {
    throw new AppError('BAD_REQUEST', 'Send X-API-KEY or Authorization, not both.', { field: 'Authorization' })
  }
  const known = keys.peek(key)
  return known ? allowIngest(known) : keys.find(key).then(found => allowIngest(found))
}

function allowIngest(identity: ApiKeyIdentity | null): ApiKeyIdentity {
  if (identity === null) throw new AppError('UNAUTHORISED', 'The API key is not valid.')
  if (identity.roleType === 'READ_ONLY') throw new AppError('USER_NOT_ALLOWED', 'This API key may only read.')
  return identity
}
