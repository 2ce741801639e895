// What happens to rules of alerts, and the alerts they raise.
import { CHANGES, defineEvents } from '../../../shared/contracts/event-types.ts'

export const ALERT_EVENTS = defineEvents({
  ALERT_RULE: CHANGES,
  ALERT: ['CREATED'],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly alerts: typeof ALERT_EVENTS
  }
}
