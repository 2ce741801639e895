// What happens to an invoice, whatever it is for. Its creation is its producer's to emit.
import { defineEvents } from '../../../shared/contracts/event-types.ts'

export const INVOICE_EVENTS = defineEvents({
  INVOICE: [
    'CREATED',
    'UPDATED',
    'STATUS_TO_OPEN',
    'STATUS_TO_DRAFT',
    'STATUS_TO_FINAL',
    'STATUS_TO_VOID',
    'STATUS_TO_ARCHIVED',
    'PAID',
  ],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly invoices: typeof INVOICE_EVENTS
  }
}
