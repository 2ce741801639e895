// The events of persisted usage, of migrations to another plan version, of simulations and of reprocesses.
import { defineEvents } from '../../../shared/contracts/event-types.ts'

export const BILLING_EVENTS = defineEvents({
  PERSIST_DATA: ['CREATED'],
  PRICING_PLAN_VERSION_MIGRATION: ['CREATED', 'UPDATED'],
  PRICING_PLAN_VERSION_SIMULATION: ['CREATED', 'UPDATED'],
  REPROCESS: ['CREATED', 'UPDATED'],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly billing: typeof BILLING_EVENTS
  }
}
