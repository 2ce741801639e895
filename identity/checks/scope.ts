// Scopes: what is asked narrows to what there is (contract: scope handling on authorize). Pure.
import { OAuthError } from '../oauth-error.ts'

export const SCOPES = ['service:read', 'service:write'] as const
export type Scope = (typeof SCOPES)[number]

/** The scopes of an authorization request: unrecognised ones dropped, `service:read` when none is left. */
export function requestedScopes(given: string | undefined): Scope[] {
  const asked = (given ?? '').split(' ')
  const known = SCOPES.filter(scope => asked.includes(scope))
  return known.length === 0 ? ['service:read'] : known
}

/** The scopes of a refresh: those of the grant, or fewer. Throws `invalid_scope` for any other. */
export function scopesOfRefresh(given: string | undefined, granted: readonly string[]): string[] {
  if (given === undefined) return [...granted]
  const asked = given.split(' ').filter(scope => scope !== '')
  const beyond = asked.find(scope => !granted.includes(scope))
  if (asked.length === 0 || beyond !== undefined) {
    throw new OAuthError('invalid_scope', 'scope may name only what was granted; leave it out to keep all of it.')
  }
  return granted.filter(scope => asked.includes(scope))
}
