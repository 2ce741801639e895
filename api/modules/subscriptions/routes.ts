// The calls on subscriptions and schedules that are more than the shared operations: they act on both together.
import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { listOf } from '../../http/pagination.ts'
import { IdParams } from '../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../http/route.ts'
import { fieldActionsOf, fieldActionsQuery } from '../../resource/changes/field-actions.ts'
import type { Row } from '../../resource/define-resource.ts'
import { Shape } from '../../resource/shapes.ts'
import { normalizeTimes } from '../../resource/timestamps.ts'
import { viewOf } from '../../resource/views.ts'
import { submitWhereRequired } from './approvals/submit-schedule.ts'
import { cancelSubscription } from './ending/cancel-subscription.ts'
import { deleteSchedule } from './schedules/delete-schedule.ts'
import { NeighbourQuery, neighboursOf } from './schedules/neighbour-query.ts'
import { scheduleResource } from './schedules/schedule.ts'
import { activateSchedule, createSchedule, type ScheduleBody, updateSchedule } from './schedules/schedule-commands.ts'
import { CancelBody } from './schema.ts'
import { subscriptionResource } from './subscription.ts'
import { deleteSubscription, updateSubscription } from './subscription-commands.ts'

/** PATCH, DELETE and cancel of subscriptions; everything that changes a schedule. */
export function subscriptionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  registerSubscriptionChanges(app, deps)
  registerScheduleCreation(app, deps)
  registerScheduleChanges(app, deps)
}

const SUBSCRIPTION = '/v1/pricing-plan-subscriptions/:id'
const SCHEDULE = '/v1/pricing-plan-schedules/:id'

const onSubscription = {
  tag: subscriptionResource.path,
  params: IdParams,
  response: subscriptionResource.view,
  status: 200 as const,
}
const onSchedule = {
  tag: scheduleResource.path,
  params: IdParams,
  response: scheduleResource.view,
  status: 200 as const,
}

function registerSubscriptionChanges(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    ...onSubscription,
    permission: 'PRICING_PLAN_SUBSCRIPTION.UPDATE',
    summary:
      'Change a subscription. What is not sent stays; null clears. status ACTIVE activates it with its draft schedules.',
    method: 'PATCH',
    url: SUBSCRIPTION,
    query: Shape(fieldActionsQuery(subscriptionResource)),
    body: subscriptionResource.updateBody,
    handle: async (uow, { params, query, body }) => {
      const patch = normalizeTimes(subscriptionResource.updateBody, body) as Row
      const row = await updateSubscription(uow, params.id, patch, fieldActionsOf(query))
      return await viewOf(uow, subscriptionResource, row)
    },
  })
  writeRoute(app, deps, {
    ...onSubscription,
    permission: 'PRICING_PLAN_SUBSCRIPTION.DELETE',
    summary: 'Delete a subscription that is still DRAFT, with its schedules.',
    method: 'DELETE',
    url: SUBSCRIPTION,
    handle: async (uow, { params }) =>
      await viewOf(uow, subscriptionResource, await deleteSubscription(uow, params.id)),
  })
  writeRoute(app, deps, {
    ...onSubscription,
    permission: 'PRICING_PLAN_SUBSCRIPTION.UPDATE',
    summary:
      'Cancel a subscription: now, at the end of its billing period, or on a date. UNDO takes a pending cancellation back.',
    method: 'POST',
    url: `${SUBSCRIPTION}/cancel`,
    body: CancelBody,
    handle: async (uow, { params, body }) => {
      const request = normalizeTimes(CancelBody, body) as Static<typeof CancelBody>
      return await viewOf(uow, subscriptionResource, await cancelSubscription(uow, params.id, request))
    },
  })
}

function registerScheduleCreation(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag: scheduleResource.path,
    permission: 'PRICING_PLAN_SCHEDULE.CREATE',
    summary: 'Create a draft schedule: the plan version a subscription is on, and from when to when.',
    method: 'POST',
    url: '/v1/pricing-plan-schedules',
    query: NeighbourQuery,
    body: scheduleResource.createBody,
    response: scheduleResource.view,
    status: 201,
    handle: async (uow, { query, body }) => {
      const given = normalizeTimes(scheduleResource.createBody, body) as ScheduleBody
      const row = await createSchedule(uow, given, neighboursOf(query))
      return await viewOf(uow, scheduleResource, row, listOf(query['expand[]'] as string | string[] | undefined))
    },
  })
}

function registerScheduleChanges(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    ...onSchedule,
    permission: 'PRICING_PLAN_SCHEDULE.UPDATE',
    summary:
      'Change a draft schedule, or what of an active one may change: its end, its start before it begins, and its terms for time not yet billed.',
    method: 'PATCH',
    url: SCHEDULE,
    query: NeighbourQuery,
    body: scheduleResource.updateBody,
    handle: async (uow, { params, query, body }) => {
      const patch = normalizeTimes(scheduleResource.updateBody, body) as Partial<ScheduleBody>
      const row = await updateSchedule(uow, params.id, patch, neighboursOf(query))
      return await viewOf(uow, scheduleResource, row, listOf(query['expand[]'] as string | string[] | undefined))
    },
  })
  writeRoute(app, deps, {
    ...onSchedule,
    permission: 'PRICING_PLAN_SCHEDULE.DELETE',
    summary: 'Delete a draft schedule, or the last active one before it begins: the one before it runs on.',
    method: 'DELETE',
    url: SCHEDULE,
    handle: async (uow, { params }) => await viewOf(uow, scheduleResource, await deleteSchedule(uow, params.id)),
  })
  writeRoute(app, deps, {
    ...onSchedule,
    permission: 'PRICING_PLAN_SCHEDULE.UPDATE',
    summary:
      'Activate a draft schedule, or submit it for approval where a policy says so; those before it must be active.',
    method: 'POST',
    url: `${SCHEDULE}/activate`,
    handle: async (uow, { params }) =>
      await viewOf(uow, scheduleResource, await activateSchedule(uow, params.id, { instead: submitWhereRequired })),
  })
}
