// The events of persisted usage, of simulations and of reprocesses.
import { defineEvents } from '../../../shared/contracts/event-types.ts'

export const BILLING_EVENTS = defineEvents({
  PERSIST_DATA: ['CREATED'],
  PRICING_PLAN_VERSION_SIMULATION: ['CREATED', 'UPDATED'],
  REPROCESS: ['CREATED', 'UPDATED'],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly billing: typeof BILLING_EVENTS
  }
}
