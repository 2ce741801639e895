// What happens to coupons and promotion codes.
import { defineEvents } from '../../../shared/contracts/event-types.ts'

export const COUPON_EVENTS = defineEvents({
  COUPON: ['CREATED', 'UPDATED'],
  PROMOTION_CODE: ['CREATED', 'UPDATED'],
})

declare module '../../../shared/contracts/event-types.ts' {
  interface DeclaredEvents {
    readonly coupons: typeof COUPON_EVENTS
  }
}
