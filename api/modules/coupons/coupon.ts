// Coupons: discounts that a schedule takes on by id or by promotion code (semantics 2). What a coupon gives is fixed once it is
// live: what customers were promised stays.

import Type from 'typebox'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { defineResource, field, PAUSABLE_RULES, type Resource } from '../../resource/define-resource.ts'
import { Description, Name, PausableStatus, Reference, Timestamp } from '../../resource/shapes.ts'
import { requireAll } from '../../resource/store.ts'
import { meterValueResource } from '../catalog/meters/meter-value.ts'
import { productItemResource, productResource } from '../catalog/products/product.ts'
import { productCategoryResource } from '../catalog/products/product-category.ts'
import { checkCouponDiscount, checkCouponDuration, checkRedeemableTime } from './check-coupon.ts'
import { countRedemptions, redemptionsOf, timesOf } from './count-redemptions.ts'
import { CouponDiscount, CouponDuration, CouponLimitedTo, MaximumRedemptions, ShownCouponLimitedTo } from './schema.ts'
import { type Coupon, coupons } from './table.ts'

export const couponResource = defineResource<Coupon>({
  objectType: 'COUPON',
  shapeName: 'Coupon',
  idPrefix: 'coup',
  path: 'coupons',
  table: coupons,
  fields: {
    name: field(Name, { create: 'required' }),
    reference: field(Reference, { create: 'required', change: 'draft' }),
    description: field(Description),
    status: field(PausableStatus),
    discount: field(CouponDiscount, { create: 'required', change: 'draft' }),
    duration: field(CouponDuration, { create: 'required', change: 'draft' }),
    limited_to: field(CouponLimitedTo, { change: 'draft' }),
    start_at: field(Timestamp),
    end_at: field(Timestamp),
    maximum_redemptions: field(MaximumRedemptions),
  },
  operations: ['create', 'list', 'get', 'update', 'activate', 'deactivate', 'deprecate', 'archive'],
  byReference: true,
  statuses: PAUSABLE_RULES,
  orderBy: ['reference', 'name'],
  expand: {
    product_categories: { by: 'product_category_ids', to: () => productCategoryResource, within: '**' },
    products: { by: 'product_ids', to: () => productResource, within: '**' },
    product_items: { by: 'product_item_ids', to: () => productItemResource, within: '**' },
  },
  check: async (uow, row, previous) => {
    checkCouponDiscount(row.discount)
    checkCouponDuration(row.duration)
    checkRedeemableTime(row)
    await checkNamed(uow, row)
    if (previous) await requireRoom(uow, row, previous)
  },
  computed: { number_of_redemptions: Type.Integer(), limited_to: ShownCouponLimitedTo },
  compute: redemptionsOf('coupon_id'),
  fixture: {
    create: async seed => ({
      reference: seed.unique('welcome'),
      name: 'Welcome',
      status: 'ACTIVE',
      discount: { type: 'PERCENTAGE', percentage: '10' },
      duration: { type: 'PERIOD', period: { type: 'MONTH', value: 3 } },
      limited_to: { product_ids: [(await seed.make(productResource)).id] },
      maximum_redemptions: 100,
    }),
    update: { description: 'Ten percent for three months.' },
  },
})

async function checkNamed(uow: Uow, { limited_to, discount }: Coupon): Promise<void> {
  const named: readonly (readonly [Resource, string, readonly string[]])[] = [
    [productCategoryResource, 'product_category_ids', limited_to?.product_category_ids ?? []],
    [productResource, 'product_ids', limited_to?.product_ids ?? []],
    [productItemResource, 'product_item_ids', limited_to?.product_item_ids ?? []],
  ]
  for (const [resource, list, ids] of named) {
    await requireAll(
      uow,
      resource,
      ids.map((id, index) => ({ id, field: `limited_to.${list}.${index}` })),
    )
  }
  if (!discount.usage) return
  const field = 'discount.usage.meter_value_id'
  const [value] = await requireAll(uow, meterValueResource, [{ id: discount.usage.meter_value_id, field }])
  const member = value?.type === 'AMOUNT' ? 'amount' : 'number'
  if (discount.usage[member]) return
  throw new AppError('INVALID_FIELD', `The meter value is a ${value?.type}; give the free usage as its ${member}.`, {
    field: `discount.usage.${member === 'amount' ? 'number' : 'amount'}`,
  })
}

async function requireRoom(uow: Uow, row: Coupon, previous: Coupon): Promise<void> {
  if (row.maximum_redemptions === null || row.maximum_redemptions === previous.maximum_redemptions) return
  const used = (await countRedemptions(uow, 'coupon_id', [row.id])).get(row.id) ?? 0
  if (row.maximum_redemptions >= used) return
  throw new AppError('INVALID_FIELD', `It was redeemed ${timesOf(used)} already; send at least ${used}.`, {
    field: 'maximum_redemptions',
  })
}
