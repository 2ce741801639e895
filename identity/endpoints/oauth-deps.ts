// What the OAuth endpoints are given.
import type { FindClient } from '../client-documents/find-client.ts'
import type { IdentityDeps } from '../deps.ts'
import type { RateLimits } from '../http/rate-limits.ts'
import type { Keystore } from '../keys/keystore.ts'

export type OAuthDeps = IdentityDeps & {
  readonly keystore: Keystore
  readonly limits: RateLimits
  readonly findClient: FindClient
}
