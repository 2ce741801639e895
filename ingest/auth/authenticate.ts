// Who sends, from the headers alone: one X-API-KEY. Nothing a body or query says can change it. Who acts for a user, or comes
// with a bearer token, is judged at the api, which then sends with a key of its own.
import type { ApiKeyIdentity, LiveKeys } from '../../shared/access/live-keys.ts'
import { AppError } from '../../shared/errors.ts'
import type { Head } from '../http/read-head.ts'

/** The identity at once when the key is in memory, a promise of it otherwise. Throws the refusal. */
export function authenticate(keys: LiveKeys, head: Head): ApiKeyIdentity | Promise<ApiKeyIdentity> {
  const [key] = head.apiKeys
  if (key === undefined) throw new AppError('UNAUTHORISED', head.hasAuthorization ? KEYS_ONLY : SEND_A_KEY)
  if (head.apiKeys.length > 1 || key === '') {
    throw new AppError('BAD_REQUEST', 'X-API-KEY must be given once and not be empty.', { field: 'X-API-KEY' })
  }
  if (head.hasAuthorization) {
    throw new AppError('BAD_REQUEST', 'Send X-API-KEY or Authorization, not both.', { field: 'Authorization' })
  }
  const { originalUsers } = head
  if (originalUsers.length > 1 || originalUsers[0] === '') {
    throw new AppError('BAD_REQUEST', 'X-ORIGINAL-USER must be given once and not be empty.', {
      field: 'X-ORIGINAL-USER',
    })
  }
  const known = keys.peek(key)
  return known ? allowIngest(known, head) : keys.find(key).then(found => allowIngest(found, head))
}

const SEND_A_KEY = 'Send an API key in the header X-API-KEY.'
const KEYS_ONLY =
  "The gateway takes API keys in the header X-API-KEY and nothing else; send bearer tokens to the api's own address (base_url), at the same path."

function allowIngest(identity: ApiKeyIdentity | null, head: Head): ApiKeyIdentity {
  if (identity === null) throw new AppError('UNAUTHORISED', 'The API key is not valid.')
  const { platformId, environment } = head
  if (platformId !== null && platformId !== identity.platformId)
    throw new AppError('UNAUTHORISED', 'This API key does not belong to the platform in X-PLATFORM-ID.')
  if (environment !== null && environment !== identity.environment)
    throw new AppError('UNAUTHORISED', `This API key is of ${identity.environment}, not of the one in X-ENVIRONMENT.`)
  if (head.originalUsers.length > 0) {
    const message =
      identity.originalUserIds === null
        ? 'Only an API key of type PROXY acts for a user; this key is of another type. Leave out X-ORIGINAL-USER.'
        : "A PROXY key acts for a user at the api's own address (base_url) only; send the events there, at the same path."
    throw new AppError('USER_NOT_ALLOWED', message, { field: 'X-ORIGINAL-USER' })
  }
  if (identity.roleType === 'READ_ONLY') throw new AppError('USER_NOT_ALLOWED', 'This API key may only read.')
  return identity
}
