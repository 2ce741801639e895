import type { FastifyInstance } from 'fastify'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { viewOf } from '../../../resource/views.ts'
import { subscriptionGroupResource } from './group.ts'
import { createGroup, updateGroup } from './save-group.ts'

const onGroups = { tag: subscriptionGroupResource.path, response: subscriptionGroupResource.view }

/** Registers POST and PATCH, which also act on subscriptions. */
export function subscriptionGroupRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const url = `/v1/${subscriptionGroupResource.path}`
  writeRoute(app, deps, {
    ...onGroups,
    permission: 'PRICING_PLAN_SUBSCRIPTION_GROUP.CREATE',
    summary: 'Create a subscription group.',
    method: 'POST',
    url,
    status: 201,
    body: subscriptionGroupResource.createBody,
    handle: async (uow, { body }) => await viewOf(uow, subscriptionGroupResource, await createGroup(uow, body as Row)),
  })
  writeRoute(app, deps, {
    ...onGroups,
    permission: 'PRICING_PLAN_SUBSCRIPTION_GROUP.UPDATE',
    summary: 'Change a subscription group, and which subscriptions are in it.',
    method: 'PATCH',
    url: `${url}/:id`,
    status: 200,
    params: IdParams,
    body: subscriptionGroupResource.updateBody,
    handle: async (uow, { params, body }) =>
      await viewOf(uow, subscriptionGroupResource, await updateGroup(uow, params.id, body as Row)),
  })
}
