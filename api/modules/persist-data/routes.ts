// POST /v1/ingest/persist-data, the one call on told states.
import type { FastifyInstance } from 'fastify'
import { type RouteDeps, writeRoute } from '../../http/route.ts'
import { normalizeTimes } from '../../resource/timestamps.ts'
import { PersistDataBody, PersistDataView } from './schema.ts'
import { tellState } from './tell-state.ts'

export function persistDataRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag: 'events',
    permission: 'METER_DATA.CREATE',
    summary: 'Tell the state that a calculation with persist has at a moment; usage is counted on from there.',
    method: 'POST',
    url: '/v1/ingest/persist-data',
    body: PersistDataBody,
    response: PersistDataView,
    status: 201,
    handle: (uow, { body }) => tellState(uow, normalizeTimes(PersistDataBody, body) as PersistDataBody),
  })
}
