// Who decides: a person. An API key acts for a user only where it is of type PROXY.
import type { Actor } from '../../../../shared/database/database.ts'

/** The user who acts; null for an API key that acts for itself, and for the service. */
export function actingUser({ id, credentialId, impersonatedUserId }: Actor): string | null {
  if (impersonatedUserId) return impersonatedUserId
  // A key is its own credential, and a user comes with a token.
  return credentialId && id !== credentialId ? id : null
}
