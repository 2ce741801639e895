// The events of a user's own account, which the identity host writes into the audit trail of every tenant the user belongs to.
import { defineEvents } from '../contracts/event-types.ts'

export const ACCOUNT_EVENTS = defineEvents({
  USER: [
    'PASSWORD_CHANGED',
    'AUTHENTICATOR_ADDED',
    'AUTHENTICATOR_REMOVED',
    'PASSKEY_ADDED',
    'PASSKEY_REMOVED',
    'RECOVERY_CODES_REPLACED',
    // By an administrator through the api, or by the operator.
    'SECOND_FACTOR_RESET',
  ],
  USER_INVITATION: ['ACCEPTED'],
  OAUTH_GRANT: ['CREATED', 'REVOKED'],
})

declare module '../contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly account: typeof ACCOUNT_EVENTS
  }
}
