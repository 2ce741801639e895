// Who redeemed a coupon or a promotion code.
import { eq } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { listOf, PageOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import { listPage } from '../../../list/list-page.ts'
import { filterQuery, type ListQuery, type ListSpec, orderQuery, Repeatable } from '../../../list/list-spec.ts'
import { SliceQuery } from '../../../list/slice.ts'
import type { Resource, Row } from '../../../resource/define-resource.ts'
import { Included, Nullable, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { findMany, getOne } from '../../../resource/store.ts'
import { expansionForbidden, viewsOf } from '../../../resource/views.ts'
import { couponResource } from '../../coupons/coupon.ts'
import { promotionCodeResource } from '../../coupons/promotion-code.ts'
import { couponRedemptions } from '../../coupons/table.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptionResource } from '../subscription.ts'
import { PromotionCodeDetails } from './schema.ts'

const expanded = (shape: string) => Optional(Nullable(Included(shape)))
const Redemption = Type.Object(
  {
    id: Type.String(),
    coupon_id: Type.String(),
    promotion_code_details: Optional(Nullable(PromotionCodeDetails)),
    redeemed_at: Timestamp,
    customer_id: Type.String(),
    customer: expanded('Customer'),
    pricing_plan_subscription_id: Type.String(),
    pricing_plan_subscription: expanded('PricingPlanSubscription'),
  },
  { title: 'CouponRedemption' },
)

const SPEC: ListSpec = {
  table: couponRedemptions,
  filters: {
    customer_id: { kind: 'equals', column: 'customer_id' },
    pricing_plan_subscription_id: { kind: 'equals', column: 'pricing_plan_subscription_id' },
  },
  names: { customer_id: () => customerResource, pricing_plan_subscription_id: () => subscriptionResource },
  orderBy: ['redeemed_at'],
  searchable: [],
  ranges: [],
}
const Query = Shape({
  ...filterQuery(SPEC),
  ...orderQuery(SPEC),
  ...SliceQuery,
  'expand[]': Repeatable(
    OneOf('customer', 'customer_id', 'pricing_plan_subscription', 'pricing_plan_subscription_id', 'ALL'),
  ),
})
type Redeemed = typeof couponRedemptions.$inferSelect

export function redemptionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const of: readonly (readonly [Resource, 'coupon_id' | 'promotion_code_id', `${string}.VIEW`, string])[] = [
    [couponResource, 'coupon_id', 'COUPON.VIEW', 'List who redeemed a coupon, latest first.'],
    [
      promotionCodeResource,
      'promotion_code_id',
      'PROMOTION_CODE.VIEW',
      'List who redeemed a promotion code, latest first.',
    ],
  ]
  for (const [resource, by, permission, summary] of of) {
    readRoute(app, deps, {
      tag: resource.path,
      permission,
      summary,
      method: 'GET',
      url: `/v1/${resource.path}/:id/redemptions`,
      params: IdParams,
      query: Query,
      response: PageOf(Redemption),
      handle: async (uow, { params, query }) => {
        const { id } = await getOne(uow, resource, params.id)
        const expand = listOf((query as ListQuery)['expand[]'])
        return await listPage<Redeemed>(uow, SPEC, {
          path: `/v1/${resource.path}/${encodeURIComponent(params.id)}/redemptions`,
          query,
          conditions: [eq(couponRedemptions[by], idOf('coup', id))],
          views: rows => redemptionViews(uow, rows, expand),
        })
      },
    })
  }
}

async function redemptionViews(uow: ReadUow, rows: readonly Redeemed[], expand: readonly string[]): Promise<Row[]> {
  const views = rows.map(
    (row): Row => ({
      id: row.id,
      coupon_id: row.coupon_id,
      promotion_code_details:
        row.promotion_code_id === null ? null : { promotion_code_id: row.promotion_code_id, code: row.code ?? '' },
      redeemed_at: row.redeemed_at,
      customer_id: row.customer_id,
      pricing_plan_subscription_id: row.pricing_plan_subscription_id,
    }),
  )
  const targets: readonly (readonly ['customer' | 'pricing_plan_subscription', Resource])[] = [
    ['customer', customerResource],
    ['pricing_plan_subscription', subscriptionResource],
  ]
  for (const [name, target] of targets) {
    const isNamed = expand.includes(name) || expand.includes(`${name}_id`)
    const permission = `${target.objectType}.VIEW`
    const may = uow.actor.may?.(permission) !== false
    if (isNamed && !may) throw expansionForbidden(name, permission)
    if (!isNamed && !(expand.includes('ALL') && may)) continue
    const ids = rows.map(row => row[`${name}_id`])
    const found = await viewsOf(uow, target, await findMany(uow, target, ids))
    const byId = new Map(found.map(view => [view['id'], view]))
    for (const view of views) view[name] = byId.get(view[`${name}_id`]) ?? null
  }
  return views
}
