// Discounts that are handed out: coupons, and the codes by which customers redeem them.
import { defineModule } from '../define-module.ts'
import { couponResource } from './coupon.ts'
import { COUPON_EVENTS } from './events.ts'
import { COUPON_GUARDS } from './guards.ts'
import { promotionCodeResource } from './promotion-code.ts'

export const coupons = defineModule({
  name: 'coupons',
  events: [COUPON_EVENTS],
  resources: [couponResource, promotionCodeResource],
  guards: COUPON_GUARDS,
})
