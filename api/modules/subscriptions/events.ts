// What happens to subscriptions and their schedules.
import { CHANGES, defineEvents } from '../../../shared/contracts/event-types.ts'

export const SUBSCRIPTION_EVENTS = defineEvents({
  PRICING_PLAN_SUBSCRIPTION: [...CHANGES, 'ACTIVATED', 'CANCELLED'],
  PRICING_PLAN_SCHEDULE: CHANGES,
  SEAT_ASSIGNMENT: CHANGES,
  PRICING_PLAN_SUBSCRIPTION_GROUP: CHANGES,
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly subscriptions: typeof SUBSCRIPTION_EVENTS
  }
}
