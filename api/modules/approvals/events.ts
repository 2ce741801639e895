// What happens to approval policies and approval requests.
import { CHANGES, defineEvents } from '../../../shared/contracts/event-types.ts'

export const APPROVAL_EVENTS = defineEvents({ APPROVAL_POLICY: CHANGES, APPROVAL_REQUEST: ['CREATED', 'UPDATED'] })

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly approvals: typeof APPROVAL_EVENTS
  }
}
