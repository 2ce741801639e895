// How subscriptions come to be in other ways than one by one, and how they are undone.
import type { FastifyInstance } from 'fastify'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { Nullable, Optional, Reference, Shape } from '../../../resource/shapes.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { upsertOptions, upsertQuery } from '../../../resource/upsert/upsert-query.ts'
import { viewOf } from '../../../resource/views.ts'
import { subscriptionResource } from '../subscription.ts'
import { upsertSubscription } from '../subscription-commands.ts'
import { CouponDiscountBehaviour } from '../succession/routes.ts'
import { copySubscription } from './copy-subscription.ts'
import { voidSubscription } from './void-subscription.ts'

const PATH = '/v1/pricing-plan-subscriptions'
const CopyBody = Shape({
  reference: Optional(Nullable(Reference)),
  coupon_discount_behaviour: CouponDiscountBehaviour,
})

const onSubscriptions = { tag: subscriptionResource.path, response: subscriptionResource.view }

/** PUT, copy and void. */
export function lifecycleRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    ...onSubscriptions,
    permission: 'PRICING_PLAN_SUBSCRIPTION.UPDATE',
    summary: 'Create a subscription, or update the one with this reference. status ACTIVE activates it.',
    method: 'PUT',
    url: PATH,
    status: 201,
    query: upsertQuery(subscriptionResource),
    body: subscriptionResource.createBody,
    handle: async (uow, { query, body }, setStatus) => {
      const given = normalizeTimes(subscriptionResource.createBody, body) as Row
      const { row, created } = await upsertSubscription(uow, given, upsertOptions(query))
      if (!created) setStatus(200)
      return await viewOf(uow, subscriptionResource, row)
    },
  })
  writeRoute(app, deps, {
    ...onSubscriptions,
    permission: 'PRICING_PLAN_SUBSCRIPTION.CREATE',
    summary: 'Copy a subscription with its schedules. The copy is a DRAFT.',
    method: 'POST',
    url: `${PATH}/:id/copy`,
    status: 200,
    params: IdParams,
    body: CopyBody,
    handle: async (uow, { params, body }) =>
      await viewOf(uow, subscriptionResource, await copySubscription(uow, params.id, body)),
  })
  writeRoute(app, deps, {
    ...onSubscriptions,
    permission: 'PRICING_PLAN_SUBSCRIPTION.UPDATE',
    summary: 'Void a subscription that should never have been. Its invoices that are not FINAL are voided with it.',
    method: 'POST',
    url: `${PATH}/:id/void`,
    status: 200,
    params: IdParams,
    handle: async (uow, { params }) => await viewOf(uow, subscriptionResource, await voidSubscription(uow, params.id)),
  })
}
