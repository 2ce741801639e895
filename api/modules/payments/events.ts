// What happens to recorded payments. That an invoice is paid by one is an event of the invoice.
import { defineEvents } from '../../../shared/contracts/event-types.ts'

export const PAYMENT_EVENTS = defineEvents({ PAYMENT: ['CREATED', 'UPDATED'] })

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly payments: typeof PAYMENT_EVENTS
  }
}
