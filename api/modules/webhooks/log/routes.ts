// The routes of the log of events.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { PageOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { actionRoute, type RouteDeps, readRoute } from '../../../http/route.ts'
import { sliceOf, sliceView } from '../../../list/slice.ts'
import type { RelayedChange } from '../../../workers/outbox-consumer.ts'
import { connectionOf } from '../delivery/test-delivery.ts'
import { payloadOf } from '../request/payload.ts'
import type { Post } from '../request/post.ts'
import { createOpener } from '../request/request.ts'
import { Connection } from '../schema.ts'
import type { SettingsDeps } from '../settings/save-webhook.ts'
import { allWithQueues, type DeliveryView, deliveriesOf } from './deliveries.ts'
import { listAttempts } from './list-attempts.ts'
import { type EventListQuery, getEvent, listEvents } from './list-events.ts'
import { resendEvent } from './resend.ts'
import { AttemptQuery, EventQuery, ResendBody, WebhookAttempt, WebhookEvent } from './schema.ts'

const PATH = '/v1/webhook-events'
const tag = 'webhook-events'
const about = { tag, permission: 'WEBHOOK_EVENT.VIEW', method: 'GET' } as const
const EVENTS = PageOf(WebhookEvent)
const { page: _page, total_number_of_pages: _total, ...CURSOR_MEMBERS } = EVENTS.properties

type Deps = RouteDeps & SettingsDeps & { readonly postWebhook: Post }

export function eventLogRoutes(app: FastifyInstance, deps: Deps): void {
  readRoute(app, deps, {
    ...about,
    summary:
      'List the events of the last 30 days in the order of their commits. To follow them, continue after the last one you read.',
    url: PATH,
    query: EventQuery,
    response: Type.Object(CURSOR_MEMBERS),
    handle: async (uow, { query: given }) => {
      const query = given as EventListQuery
      const { slice, sliced, events, webhook } = await listEvents(uow, query)
      const deliveries = webhook && (await deliveriesOf(uow, events, [webhook]))
      const data = events.map(event => viewOf(event, deliveries?.get(event.id)))
      return sliceView(PATH, query, { slice, sliced, data })
    },
  })
  readRoute(app, deps, {
    ...about,
    summary: 'Read an event, and what became of it at each webhook.',
    url: `${PATH}/:id`,
    params: IdParams,
    response: WebhookEvent,
    handle: (uow, { params }) => readEvent(uow, params.id),
  })
  readRoute(app, deps, {
    ...about,
    summary: 'List the attempts to deliver an event, oldest first.',
    url: `${PATH}/:id/attempts`,
    params: IdParams,
    query: AttemptQuery,
    response: PageOf(WebhookAttempt),
    handle: async (uow, { params, query }) => {
      const slice = sliceOf(query)
      const sliced = await listAttempts(uow, { eventId: params.id, webhookId: query.webhook_id, slice })
      const data = sliced.rows.map(({ platform_id: _platform, environment: _environment, ...attempt }) => ({
        object_type: 'WEBHOOK_ATTEMPT',
        ...attempt,
      }))
      return sliceView(`${PATH}/${encodeURIComponent(params.id)}/attempts`, query, { slice, sliced, data })
    },
  })
  const sending = { post: deps.postWebhook, open: createOpener(deps.dataSecret), clock: deps.database.clock }
  actionRoute(app, deps, {
    tag,
    permission: 'WEBHOOK_EVENT_RESEND.CREATE',
    summary: 'Send an event to a webhook again, at once and outside its queue.',
    method: 'POST',
    url: `${PATH}/:id/resend`,
    params: IdParams,
    body: ResendBody,
    response: Connection,
    status: 200,
    handle: async (context, { params, body }) =>
      connectionOf(await resendEvent(sending, context, { eventId: params.id, webhookId: body.webhook_id })),
  })
}

async function readEvent(uow: ReadUow, id: string) {
  const event = await getEvent(uow, id)
  return viewOf(event, (await deliveriesOf(uow, [event], await allWithQueues(uow))).get(event.id))
}

const viewOf = (event: RelayedChange, deliveries: readonly DeliveryView[] | undefined) => ({
  object_type: 'WEBHOOK_EVENT',
  id: event.id,
  created_at: formatInstant(at(event.created_at)),
  type: event.type,
  environment: event.environment,
  original_request_id: event.request_id,
  payload: payloadOf(event, true),
  ...(deliveries === undefined ? {} : { deliveries }),
})
