// Everything the api needs to take a bearer token: is it ours, is its grant alive. What its user may do now is permission-cache.ts.
import type { Database } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/process/logger.ts'
import { createLiveGrants } from './live-grants.ts'
import { createTokenVerifier, keysOf, type VerifyAccessToken } from './verify-access-token.ts'

export type TokenAccess = {
  readonly verify: VerifyAccessToken
  isRevoked(grantId: string): boolean
  /** Where a client without a token learns how to get one. */
  readonly metadataUrl: string
  close(): Promise<void>
}

/** Loads what is revoked and follows it. `database` acts in the role that reads keys. */
export async function openTokenAccess(options: {
  readonly database: Database
  readonly logger: Logger
  /** The issuer, byte for byte, which is also where its keys are. */
  readonly identityUrl: string
  readonly baseUrl: string
  readonly nowMs: () => number
}): Promise<TokenAccess> {
  const { database, logger, identityUrl, baseUrl, nowMs } = options
  const grants = createLiveGrants({ database, logger })
  await grants.load()
  return {
    verify: createTokenVerifier({ keys: keysOf(identityUrl), issuer: identityUrl, audience: baseUrl, nowMs }),
    isRevoked: grants.isRevoked,
    metadataUrl: `${baseUrl}${PROTECTED_RESOURCE_PATH}`,
    close: grants.close,
  }
}

export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource'
