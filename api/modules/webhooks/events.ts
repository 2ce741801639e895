// What happens to webhooks themselves.
import { CHANGES, defineEvents } from '../../../shared/contracts/event-types.ts'

export const WEBHOOK_EVENTS = defineEvents({ WEBHOOK: CHANGES })

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly webhooks: typeof WEBHOOK_EVENTS
  }
}
