// The routes of webhooks beyond the shared operations.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type EventType, objectTypesOf } from '../../../shared/contracts/event-types.ts'
import { readTenant } from '../../../shared/database/database.ts'
import { pageOf } from '../../http/pagination.ts'
import { IdParams } from '../../http/params.ts'
import { actionRoute, type RouteDeps, readRoute, writeRoute } from '../../http/route.ts'
import { OrderDirection, SliceQuery } from '../../list/slice.ts'
import { Shape } from '../../resource/shapes.ts'
import { getOne } from '../../resource/store.ts'
import { viewOf } from '../../resource/views.ts'
import { sendPenaltyBox } from './delivery/penalty-box.ts'
import { connectionOf, refuseDisabled, sendTest } from './delivery/test-delivery.ts'
import { eventLogRoutes } from './log/routes.ts'
import { replayRoutes } from './replay/routes.ts'
import type { Post } from './request/post.ts'
import { createOpener, type Endpoint } from './request/request.ts'
import { Connection, SecretBody } from './schema.ts'
import { removeSecret, rollSecret } from './settings/roll-secret.ts'
import {
  createWebhook,
  type SettingsDeps,
  unsavedWebhook,
  updateWebhook,
  type WebhookBody,
} from './settings/save-webhook.ts'
import { webhookResource } from './webhook.ts'

export type WebhookRouteDeps = RouteDeps &
  SettingsDeps & { readonly eventTypes: readonly EventType[]; readonly postWebhook: Post }

const PATH = '/v1/webhooks'
const tag = webhookResource.path
const response = webhookResource.view

export function webhookRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  settingsRoutes(app, deps)
  secretRoutes(app, deps)
  testRoutes(app, deps)
  eventLogRoutes(app, deps)
  replayRoutes(app, deps)
  readRoute(app, deps, {
    tag,
    permission: 'WEBHOOK.VIEW',
    summary: 'List the event types that webhooks can include or exclude, by object type.',
    method: 'GET',
    url: `${PATH}/actions`,
    query: Shape({
      page: SliceQuery.page,
      limit: SliceQuery.limit,
      order_by: Type.Optional(Type.Literal('object_type')),
      order_direction: OrderDirection,
    }),
    response: Type.Object({ data: Type.Array(WebhookAction) }),
    handle: async (_uow, { query }) => {
      const all = actionsByObject(deps.eventTypes)
      if (query.order_direction?.toLowerCase() === 'desc') all.reverse()
      // They are few: all of them, unless the query chooses a part.
      if (query.page === undefined && query.limit === undefined) return { data: all }
      const { page, limit } = pageOf(query)
      return { data: all.slice((page - 1) * limit, page * limit) }
    },
  })
}

const WebhookAction = Type.Object(
  {
    object_type: Type.String({ description: 'The kind of resource.' }),
    actions: Type.Array(Type.String(), { description: 'Its event types, by the names that webhooks take.' }),
  },
  { title: 'WebhookAction' },
)

function actionsByObject(types: readonly EventType[]) {
  return objectTypesOf(types).map(object_type => ({
    object_type,
    actions: types.filter(type => type.startsWith(`${object_type}.`)),
  }))
}

function settingsRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  writeRoute(app, deps, {
    tag,
    permission: 'WEBHOOK.CREATE',
    summary: 'Create a webhook.',
    method: 'POST',
    url: PATH,
    body: webhookResource.createBody,
    response,
    status: 201,
    handle: async (uow, { body }) => viewOf(uow, webhookResource, await createWebhook(deps, uow, body as WebhookBody)),
  })
  writeRoute(app, deps, {
    tag,
    permission: 'WEBHOOK.UPDATE',
    summary: 'Change a webhook. Fields that are not sent stay; null clears.',
    method: 'PATCH',
    url: `${PATH}/:id`,
    params: IdParams,
    body: webhookResource.updateBody,
    response,
    status: 200,
    handle: async (uow, { params, body }) =>
      viewOf(uow, webhookResource, await updateWebhook(deps, uow, params.id, body as WebhookBody)),
  })
}

function secretRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  const about = { tag, url: `${PATH}/:id/secret-key`, params: IdParams, response, status: 200 } as const
  writeRoute(app, deps, {
    ...about,
    permission: 'WEBHOOK_SECRET.UPDATE',
    summary: 'Create the secret that signs deliveries, or roll it. Only this response shows it.',
    method: 'PATCH',
    body: SecretBody,
    repeatOf: answer => ({ ...(answer as object), secret_key: null }),
    handle: (uow, { params, body }) => rollSecret(deps.dataSecret, uow, params.id, body.previous_secret_valid_hours),
  })
  writeRoute(app, deps, {
    ...about,
    permission: 'WEBHOOK_SECRET.DELETE',
    summary: 'Remove the secret: deliveries are no longer signed.',
    method: 'DELETE',
    handle: (uow, { params }) => removeSecret(uow, params.id),
  })
}

function testRoutes(app: FastifyInstance, deps: WebhookRouteDeps): void {
  const sending = { post: deps.postWebhook, open: createOpener(deps.dataSecret) }
  const now = () => deps.database.clock.now()
  actionRoute(app, deps, {
    tag,
    permission: 'WEBHOOK.UPDATE',
    summary: 'Send a test event to a webhook, at once and outside its queue.',
    method: 'POST',
    url: `${PATH}/:id/send-test`,
    params: IdParams,
    response: Connection,
    status: 200,
    handle: async ({ tenant, actor, database }, { params }) => {
      const { webhook, data } = await readTenant(database, tenant, async uow => {
        const found = await getOne(uow, webhookResource, params.id)
        return { webhook: found, data: await viewOf(uow, webhookResource, found) }
      })
      refuseDisabled(webhook)
      return await sendTest(sending, webhook, { ...tenant, data, requestId: actor.requestId, now: now() })
    },
  })
  actionRoute(app, deps, {
    tag,
    permission: 'WEBHOOK.UPDATE',
    summary: 'Send the event that blocks the queue of a webhook, at once.',
    method: 'POST',
    url: `${PATH}/:id/send-penalty-box-payload`,
    params: IdParams,
    response: Connection,
    status: 200,
    handle: async (context, { params }) =>
      connectionOf(await sendPenaltyBox({ ...sending, clock: deps.database.clock }, context, params.id)),
  })
  actionRoute(app, deps, {
    tag,
    permission: 'WEBHOOK.CREATE',
    summary: 'Send a test event to a webhook that is not saved yet. Nothing is saved.',
    method: 'POST',
    url: `${PATH}/test-connection`,
    body: webhookResource.createBody,
    response: Connection,
    status: 200,
    handle: async ({ tenant, actor }, { body: given }) => {
      const body = given as WebhookBody
      const endpoint: Endpoint = { ...UNSAVED, ...(await unsavedWebhook(deps, body)) }
      const { password: _password, api_key: _key, ...plain } = body
      const data = { object_type: 'WEBHOOK', ...plain, authentication_type: endpoint.authentication_type }
      return await sendTest(sending, endpoint, { ...tenant, data, requestId: actor.requestId, now: now() })
    },
  })
}

const UNSAVED: Endpoint = {
  url: '',
  authentication_type: 'NONE',
  username: null,
  password_sealed: null,
  api_header_field: null,
  api_key_sealed: null,
  secret_sealed: null,
  previous_secret_sealed: null,
  previous_secret_until: null,
}
