// POST /v1/ingest/persist-data, the only route for persisted states.
import type { FastifyInstance } from 'fastify'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { recordPersistedUsage } from './record-persisted-usage.ts'
import { PersistDataBody, PersistDataView } from './schema.ts'

export function persistDataRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag: 'events',
    permission: 'METER_DATA.CREATE',
    summary: 'Set the state of a persistent calculation at a moment.',
    method: 'POST',
    url: '/v1/ingest/persist-data',
    body: PersistDataBody,
    response: PersistDataView,
    status: 201,
    handle: (uow, { body }) => recordPersistedUsage(uow, normalizeTimes(PersistDataBody, body) as PersistDataBody),
  })
}
