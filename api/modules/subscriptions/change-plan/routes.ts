// `change-plan` of a subscription.
import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { viewOf } from '../../../resource/views.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import { changePlan } from './change-plan.ts'
import { ChangePlanBody } from './schema.ts'

export function changePlanRoute(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag: subscriptionResource.path,
    permission: 'PRICING_PLAN_SUBSCRIPTION.UPDATE',
    summary: 'Move a subscription to another plan of its pricing plan group, or to another billing period of its plan.',
    method: 'POST',
    url: '/v1/pricing-plan-subscriptions/:id/change-plan',
    params: IdParams,
    body: ChangePlanBody,
    response: scheduleResource.view,
    status: 201,
    handle: async (uow, { params, body }) => {
      const request = normalizeTimes(ChangePlanBody, body) as Static<typeof ChangePlanBody>
      return await viewOf(uow, scheduleResource, await changePlan(uow, params.id, request))
    },
  })
}
