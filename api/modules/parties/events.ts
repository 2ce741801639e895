// What happens to platforms, their entities and their customers.
import { CHANGES, defineEvents } from '../../../shared/contracts/event-types.ts'

export const PARTY_EVENTS = defineEvents({
  CUSTOMER: CHANGES,
  CONTACT: CHANGES,
  PLATFORM: ['UPDATED'],
  BILLING_ENTITY: ['CREATED', 'UPDATED'],
  PAYMENT_ACCEPTOR: CHANGES,
  EXCHANGE_RATE: ['CREATED', 'UPDATED'],
  TAX_RATE: CHANGES,
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly parties: typeof PARTY_EVENTS
  }
}
