// Everything the api needs to let a bearer token act: is it ours, is its grant alive, what may its user do now.

import type { Power } from '../../shared/access/roles.ts'
import type { Database } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/logger.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { createLiveGrants } from './live-grants.ts'
import { createLivePowers } from './live-powers.ts'
import { createTokenVerifier, keysOf, type VerifyAccessToken } from './verify-access-token.ts'

export type TokenAccess = {
  readonly verify: VerifyAccessToken
  isRevoked(grantId: string): boolean
  powerOf(userId: string, tenant: Tenant): Promise<Power | null>
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
  const powers = createLivePowers({ database, logger, nowMs: () => performance.now() })
  return {
    verify: createTokenVerifier({ keys: keysOf(identityUrl), issuer: identityUrl, audience: baseUrl, nowMs }),
    isRevoked: grants.isRevoked,
    powerOf: powers.powerOf,
    metadataUrl: `${baseUrl}${PROTECTED_RESOURCE_PATH}`,
    close: async () => {
      await Promise.all([grants.close(), powers.close()])
    },
  }
}

export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource'
