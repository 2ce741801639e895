// The protocol's decisions as pure functions: what is stored and what is asked in, what happens out. The stores carry them
// out under row locks; a property test drives them through every order of events.
import type { OAuthErrorName } from '../oauth-error.ts'

/** Seconds. The lifetimes of everything the authorization server hands out. */
export const LIFETIMES = {
  request: 5 * 60,
  code: 60,
  accessToken: 10 * 60,
  refreshIdle: 30 * 86_400,
  refreshAbsolute: 90 * 86_400,
  /** How long a rotated token may be shown again by a client that lost the answer. */
  lostAnswer: 60,
} as const

/** A wrong verifier does not consume a code, but nobody may guess. */
export const WRONG_VERIFIERS_MAX = 3

export type StoredGrant = {
  readonly clientId: string
  readonly resource: string
  readonly revoked: boolean
  readonly expired: boolean
  /** Whether the user is ACTIVE and still a member of at least one of the grant's platforms. */
  readonly reachesSomething: boolean
}
export type StoredCode = {
  readonly redirectUri: string
  readonly redirectUriGiven: boolean
  /** Whether the client still has this address: its document may have changed since the consent. */
  readonly isStillListed: boolean
  readonly expired: boolean
  readonly used: boolean
  readonly wrongTries: number
}
export type CodeRequest = {
  readonly clientId: string
  readonly redirectUri: string | undefined
  readonly resource: string
  readonly verifierMatches: boolean
}

export type Refusal = { readonly kind: 'refuse'; readonly error: OAuthErrorName; readonly message: string }
export type CodeDecision =
  | { readonly kind: 'issue' }
  | (Refusal & { readonly consequence: 'nothing' | 'count-try' | 'revoke-grant' })

const CODE_REFUSED = 'The code is not valid: it is unknown, used, expired, or was made for another request.'

/**
 * One redemption of a code (security 1.2, items 23 to 25). A caller who knows everything but comes second has shown that the
 * code leaked: the grant ends. A caller who does not know the verifier learns nothing and ends nothing.
 */
export function decideCode(code: StoredCode, grant: StoredGrant, asked: CodeRequest): CodeDecision {
  const refuse = (consequence: 'nothing' | 'count-try' | 'revoke-grant'): CodeDecision => ({
    kind: 'refuse',
    error: 'invalid_grant',
    message: CODE_REFUSED,
    consequence,
  })
  const sameAddress = asked.redirectUri === (code.redirectUriGiven ? code.redirectUri : undefined)
  const spelledOut = !code.redirectUriGiven && asked.redirectUri === code.redirectUri
  if (asked.clientId !== grant.clientId || asked.resource !== grant.resource) return refuse('nothing')
  if (!sameAddress && !spelledOut) return refuse('nothing')
  if (code.wrongTries >= WRONG_VERIFIERS_MAX) return refuse('nothing')
  if (!asked.verifierMatches) return refuse(code.used || code.expired ? 'nothing' : 'count-try')
  if (code.used) return refuse('revoke-grant')
  if (code.expired || grant.revoked || grant.expired || !grant.reachesSomething || !code.isStillListed)
    return refuse('nothing')
  return { kind: 'issue' }
}

export type StoredRefreshToken = {
  readonly expired: boolean
  /** Of a token that was rotated before: how long ago, and whether its successor has been used since. */
  readonly rotated: { readonly secondsAgo: number; readonly successorUsed: boolean } | null
}
export type RefreshRequest = { readonly clientId: string; readonly resource: string }

export type RefreshDecision =
  | { readonly kind: 'rotate' }
  | { readonly kind: 'same-successor' }
  | (Refusal & { readonly consequence: 'nothing' | 'revoke-reused' | 'revoke-empty' })

const REFRESH_REFUSED = 'The refresh token is not valid: it is unknown, expired, revoked, or was replaced.'

/**
 * One refresh (security 1.2, items 28 to 31). A rotated token shown again is a lost answer while its successor is unused and
 * a minute has not passed; otherwise someone else has it, and the whole family ends.
 */
export function decideRefresh(token: StoredRefreshToken, grant: StoredGrant, asked: RefreshRequest): RefreshDecision {
  const refuse = (consequence: 'nothing' | 'revoke-reused' | 'revoke-empty'): RefreshDecision => ({
    kind: 'refuse',
    error: 'invalid_grant',
    message: REFRESH_REFUSED,
    consequence,
  })
  if (asked.clientId !== grant.clientId || asked.resource !== grant.resource) return refuse('nothing')
  if (grant.revoked || grant.expired) return refuse('nothing')
  if (token.rotated) {
    const lostAnswer = token.rotated.secondsAgo <= LIFETIMES.lostAnswer && !token.rotated.successorUsed
    if (!lostAnswer) return refuse('revoke-reused')
  } else if (token.expired) {
    return refuse('nothing')
  }
  if (!grant.reachesSomething) return refuse('revoke-empty')
  return { kind: token.rotated ? 'same-successor' : 'rotate' }
}
