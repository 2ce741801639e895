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
  const actsForUser = originalUsers.length > 0
  return known
    ? allowIngest(keys, known, actsForUser)
    : keys.find(key).then(found => allowIngest(keys, found, actsForUser))
}

const SEND_A_KEY = 'Send an API key in the header X-API-KEY.'
const KEYS_ONLY =
  "The gateway takes API keys in the header X-API-KEY and nothing else; send bearer tokens to the api's own address (base_url), at the same path."

function allowIngest(keys: LiveKeys, identity: ApiKeyIdentity | null, actsForUser: boolean): ApiKeyIdentity {
  if (identity === null) throw new AppError('UNAUTHORISED', 'The API key is not valid.')
  if (actsForUser && identity.originalUserIds !== null) {
    const message =
      "A PROXY key acts for a user at the api's own address (base_url) only; send the events there, at the same path."
    throw new AppError('USER_NOT_ALLOWED', message, { field: 'X-ORIGINAL-USER' })
  }
  if (actsForUser) keys.noteIgnoredUser(identity)
  if (identity.roleType === 'READ_ONLY') throw new AppError('USER_NOT_ALLOWED', 'This API key may only read.')
  return identity
}
