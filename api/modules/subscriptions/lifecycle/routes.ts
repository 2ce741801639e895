// How subscriptions come to be in other ways than one by one, and how they are undone.
import type { FastifyInstance } from 'fastify'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { Nullable, Optional, Reference, Shape } from '../../../resource/shapes.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { upsertOptions, upsertQuery } from '../../../resource/upsert-query.ts'
import { viewOf, viewsOf } from '../../../resource/views.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { entitlementsOf } from '../entitlements/entitlements-of.ts'
import { type InitRequest, initSubscription } from '../init/init-subscription.ts'
import { InitAnswer, InitBody } from '../init/schema.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import { upsertSubscription } from '../subscription-commands.ts'
import { copySubscription } from './copy-subscription.ts'
import { voidSubscription } from './void-subscription.ts'

const PATH = '/v1/pricing-plan-subscriptions'
const CopyBody = Shape({ reference: Optional(Nullable(Reference)) })

const onSubscriptions = { tag: subscriptionResource.path, response: subscriptionResource.view }

/** PUT, init, copy and void. */
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
    response: InitAnswer,
    permission: 'PRICING_PLAN_SUBSCRIPTION.CREATE',
    summary: 'Create a subscription with its schedules in one call: from a template, or in full and with its customer.',
    method: 'POST',
    url: `${PATH}/init`,
    status: 200,
    body: InitBody,
    handle: async (uow, { body }) => {
      const made = await initSubscription(uow, normalizeTimes(InitBody, body) as InitRequest)
      const subscription = await viewOf(uow, subscriptionResource, made.subscription)
      const { customer } = made
      const visible = customer !== null && uow.actor.may?.('CUSTOMER.VIEW') !== false
      return {
        ...subscription,
        customer: visible ? await viewOf(uow, customerResource, customer) : null,
        pricing_plan_subscription: subscription,
        pricing_plan_schedules: await viewsOf(uow, scheduleResource, made.schedules),
        pricing_plan_subscription_start_at: made.schedules[0]?.start_at ?? null,
        entitlements_summary: visible ? await entitlementsOf(uow, customer.id) : null,
      }
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
