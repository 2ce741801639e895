// Access tokens: JWTs for one resource, ten minutes long, with the permissions of a grant in them and no name of a person (RFC 9068).
import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { LIFETIMES } from '../grants/decide.ts'
import type { SigningKey } from '../keys/keystore.ts'

/** One platform in one environment, as tokens write it. */
export type TokenPlatform = { readonly id: string; readonly environment: 'TEST' | 'LIVE' }

export type AccessTokenContent = {
  readonly issuer: string
  readonly resource: string
  readonly clientId: string
  readonly userId: string
  readonly grantId: string
  readonly scopes: readonly string[]
  readonly platforms: readonly TokenPlatform[]
  /** By the database's clock, in whole seconds. */
  readonly issuedAt: number
}

/** A signed access token. */
export const issueAccessToken = (signing: SigningKey, content: AccessTokenContent): Promise<string> =>
  new SignJWT({
    client_id: content.clientId,
    scope: content.scopes.join(' '),
    platforms: content.platforms,
    gid: content.grantId,
  })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: signing.kid })
    .setIssuer(content.issuer)
    .setSubject(content.userId)
    .setAudience(content.resource)
    .setJti(randomUUID())
    .setIssuedAt(content.issuedAt)
    .setExpirationTime(content.issuedAt + LIFETIMES.accessToken)
    .sign(signing.key)
