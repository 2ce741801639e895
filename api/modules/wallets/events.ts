// The events of wallets and their grants.
import { defineEvents } from '../../../shared/contracts/event-types.ts'

export const WALLET_EVENTS = defineEvents({
  WALLET_TYPE: ['CREATED', 'UPDATED'],
  WALLET: ['CREATED', 'UPDATED'],
  WALLET_GRANT: ['CREATED', 'UPDATED'],
  AUTO_TOP_UP_CONFIG: ['CREATED', 'UPDATED'],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly wallets: typeof WALLET_EVENTS
  }
}
