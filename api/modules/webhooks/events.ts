// Events of webhooks themselves, and of what users send again through them.
import { CHANGES, defineEvents } from '../../../shared/contracts/event-types.ts'

export const WEBHOOK_EVENTS = defineEvents({
  WEBHOOK: CHANGES,
  WEBHOOK_EVENT: ['RESENT'],
  WEBHOOK_REPLAY: ['CREATED', 'CANCELLED'],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly webhooks: typeof WEBHOOK_EVENTS
  }
}
