// The routes of replays.
import type { FastifyInstance } from 'fastify'
import { PageOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { SliceQuery, sliceOf, sliceView } from '../../../list/slice.ts'
import { Shape } from '../../../resource/shapes.ts'
import { cancelReplay } from '../delivery/running-replay.ts'
import { webhookResource } from '../webhook.ts'
import { getReplay, listReplays, viewOfReplay } from './read-replays.ts'
import { ReplayBody, ReplayParams, ReplayView } from './schema.ts'
import { startReplay } from './start-replay.ts'

const PATH = '/v1/webhooks/:id'
const tag = webhookResource.path
const RESEND = 'WEBHOOK_EVENT_RESEND.CREATE'

export function replayRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag,
    permission: RESEND,
    summary: 'Send the events of a webhook again, in order, from a time or an event on.',
    method: 'POST',
    url: `${PATH}/replay`,
    params: IdParams,
    body: ReplayBody,
    response: ReplayView,
    status: 201,
    handle: async (uow, { params, body }) => viewOfReplay(uow, await startReplay(uow, params.id, body)),
  })
  readRoute(app, deps, {
    tag,
    permission: 'WEBHOOK.VIEW',
    summary: 'List the replays of a webhook, newest first.',
    method: 'GET',
    url: `${PATH}/replays`,
    params: IdParams,
    query: Shape(SliceQuery),
    response: PageOf(ReplayView),
    handle: async (uow, { params, query }) => {
      const slice = sliceOf(query)
      const sliced = await listReplays(uow, params.id, slice)
      const data: object[] = []
      for (const replay of sliced.rows) data.push(await viewOfReplay(uow, replay))
      return sliceView(`/v1/webhooks/${encodeURIComponent(params.id)}/replays`, query, { slice, sliced, data })
    },
  })
  const about = { tag, params: ReplayParams, response: ReplayView } as const
  readRoute(app, deps, {
    ...about,
    permission: 'WEBHOOK.VIEW',
    summary: 'Read a replay and its progress.',
    method: 'GET',
    url: `${PATH}/replays/:replayId`,
    handle: async (uow, { params }) => viewOfReplay(uow, await getReplay(uow, params.id, params.replayId)),
  })
  writeRoute(app, deps, {
    ...about,
    permission: RESEND,
    summary: 'Cancel a replay.',
    method: 'POST',
    url: `${PATH}/replays/:replayId/cancel`,
    status: 200,
    handle: async (uow, { params }) => {
      const { status, webhook_id } = await getReplay(uow, params.id, params.replayId)
      if (status === 'RUNNING') await cancelReplay(uow, webhook_id)
      return await viewOfReplay(uow, await getReplay(uow, params.id, params.replayId))
    },
  })
}
