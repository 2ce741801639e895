// `pause` and `resume` of a subscription.
import type { FastifyInstance } from 'fastify'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { viewOf } from '../../../resource/views.ts'
import { subscriptionResource } from '../subscription.ts'
import { type PauseRequest, pauseSubscription, resumeSubscription } from './pause-subscription.ts'

const PauseBody = Shape(
  { start_at: Optional(Timestamp), end_at: Optional(Nullable(Timestamp)) },
  { title: 'PricingPlanSubscriptionPause' },
)
const onSubscription = {
  tag: subscriptionResource.path,
  permission: 'PRICING_PLAN_SUBSCRIPTION.UPDATE' as const,
  method: 'POST' as const,
  params: IdParams,
  response: subscriptionResource.view,
  status: 200 as const,
}

export function pauseRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    ...onSubscription,
    summary: 'Pause a subscription: it stays ACTIVE and is not billed for a time.',
    url: '/v1/pricing-plan-subscriptions/:id/pause',
    body: PauseBody,
    handle: async (uow, { params, body }) => {
      const request = normalizeTimes(PauseBody, body) as PauseRequest
      return await viewOf(uow, subscriptionResource, await pauseSubscription(uow, params.id, request))
    },
  })
  writeRoute(app, deps, {
    ...onSubscription,
    summary: 'Resume a paused subscription, or take back a pause that lies ahead.',
    url: '/v1/pricing-plan-subscriptions/:id/resume',
    handle: async (uow, { params }) =>
      await viewOf(uow, subscriptionResource, await resumeSubscription(uow, params.id)),
  })
}
