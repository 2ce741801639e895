// What a coupon or a promotion code names stays while it does.
import { containing, namedBy } from '../../resource/rules.ts'
import { meterValueResource } from '../catalog/meters/meter-value.ts'
import { productItemResource, productResource } from '../catalog/products/product.ts'
import { productCategoryResource } from '../catalog/products/product-category.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { coupons, promotionCodes } from './table.ts'

const byCoupon = { table: coupons, noun: 'coupon' } as const
const limitedTo = (list: string) => containing(coupons.limited_to, id => ({ [list]: [id] }))

export const COUPON_GUARDS = [
  namedBy(productCategoryResource, { ...byCoupon, names: limitedTo('product_category_ids') }),
  namedBy(productResource, { ...byCoupon, names: limitedTo('product_ids') }),
  namedBy(productItemResource, { ...byCoupon, names: limitedTo('product_item_ids') }),
  namedBy(meterValueResource, {
    ...byCoupon,
    names: containing(coupons.discount, id => ({ usage: { meter_value_id: id } })),
  }),
  namedBy(customerResource, {
    table: promotionCodes,
    noun: 'promotion code',
    names: containing(promotionCodes.limited_to, id => ({ customer_ids: [id] })),
  }),
] as const
