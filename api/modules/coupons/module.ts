// Discounts that are handed out: coupons, and the codes by which customers redeem them.
import { FILE_SECTIONS } from '../../resource/file-sections.ts'
import { extend } from '../../resource/rules.ts'
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
  extensions: [
    extend(FILE_SECTIONS, { section: 'coupons', resource: couponResource }),
    extend(FILE_SECTIONS, { section: 'promotion_codes', resource: promotionCodeResource }),
  ],
})
