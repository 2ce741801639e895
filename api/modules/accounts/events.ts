// What happens to keys, users, roles and teams through the api. What users do to their own accounts is beside it (shared/access).
import { CHANGES, defineEvents } from '../../../shared/contracts/event-types.ts'

export const ACCESS_EVENTS = defineEvents({
  API_KEY: ['CREATED', 'UPDATED'],
  USER: ['INVITED', 'UPDATED', 'INVITE_REVOKED', 'DELETED'],
  ROLE: CHANGES,
  TEAM: CHANGES,
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly accounts: typeof ACCESS_EVENTS
  }
}
