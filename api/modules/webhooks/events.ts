// What happens to webhooks themselves, and what is sent by them again because someone wanted it.
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
