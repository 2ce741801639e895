// The events of invoices of every kind. The producer of an invoice emits its creation.
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
    'OVERDUE',
    'SEND_BY_EMAIL',
    'EMAIL_SENT',
    'EMAIL_FAILED',
  ],
  BULK_ACTION: ['CREATED', 'UPDATED'],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly invoices: typeof INVOICE_EVENTS
  }
}
