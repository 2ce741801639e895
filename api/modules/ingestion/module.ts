// Usage events and files of them: how they come in, and what became of each.
import { eventHash, eventId } from '../../../shared/contracts/usage-event.ts'
import { forwardIngest, type GatewayAddress } from '../../gateway/forward-ingest.ts'
import { onSeeded, type RouteFixture, type RouteFixtures, seededId } from '../../resource/routes/route-fixture.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { amendEventAction } from './events/amend-event.ts'
import { deleteEventAction } from './events/delete-event.ts'
import { ingestDynamically } from './events/ingest-dynamically.ts'
import type { EventsDeps } from './events/list-events.ts'
import { eventRoutes } from './events/routes.ts'
import { INGESTION_EVENTS } from './events.ts'
import { fileProcessingSettingsResource } from './file-processing-settings/file-processing-settings.ts'
import { type DownloadJobDeps, downloadJobs, downloadReactions } from './files/download/download-jobs.ts'
import { fileResource } from './files/file.ts'
import { type FileJobDeps, fileJobs, fileReactions } from './files/process/file-jobs.ts'
import { type FilesDeps, fileRoutes } from './files/routes.ts'
import type { PredictDeps } from './predict/predict.ts'
import { predictions } from './predict/routes.ts'
import { CostPrediction } from './predict/schema.ts'
import type { UsageDeps } from './usage/read-usage.ts'
import { usageRoutes } from './usage/routes.ts'

type Deps = ModuleRouteDeps &
  EventsDeps &
  UsageDeps &
  PredictDeps &
  FilesDeps & {
    /** Where the ingest calls are passed on to; without it they are not there. */
    readonly gateway?: GatewayAddress
  }

const aFile = onSeeded('FILE')
// No seeded object is an event, so an event of a reference that names the tenant's own customer stands for a foreign one.
const anEvent: RouteFixture = {
  params: seeded => ({ id: eventId(eventHash(seededId(seeded, 'CUSTOMER'), 'LIVE', 'event')) }),
}
const eventFixtures = (path: string): RouteFixtures => ({
  [`GET ${path}`]: {},
  [`GET ${path}/:id`]: anEvent,
  [`GET ${path}/:id/event_trace`]: anEvent,
  [`POST ${path}/:id/delete`]: anEvent,
  [`POST ${path}/delete`]: { body: seeded => ({ reference: seededId(seeded, 'CUSTOMER') }) },
  [`POST ${path}/:id/amend`]: { ...anEvent, body: () => ({ meter_values: [] }) },
  [`POST ${path}/amend`]: { body: seeded => ({ reference: seededId(seeded, 'CUSTOMER'), meter_values: [] }) },
})

export const ingestion = defineModule<Deps, EventsDeps & FileJobDeps & DownloadJobDeps>({
  name: 'ingestion',
  otherObjectTypes: ['METER_DATA'],
  events: [INGESTION_EVENTS],
  eventShapes: { METER_DATA: 'MeterDataRecord' },
  resources: [fileProcessingSettingsResource, fileResource],
  routes: async (app, deps) => {
    eventRoutes(app, deps)
    usageRoutes(app, deps)
    const { calculate, ofEvents } = predictions(deps)
    calculate(app)
    await fileRoutes(app, deps)
    const { gateway } = deps
    const judged = {
      ingestDynamically: ingestDynamically(deps),
      predictCosts: ofEvents,
      costPrediction: CostPrediction,
    }
    if (gateway) await forwardIngest(app, { ...deps, gateway, ...judged })
  },
  jobs: [...fileJobs, ...downloadJobs],
  actions: [deleteEventAction, amendEventAction],
  reactions: [...fileReactions, ...downloadReactions],
  fixtures: {
    ...eventFixtures('/v1/events'),
    ...eventFixtures('/v1/ingest/meter-data'),
    'GET /v1/usage/ingestion': {},
    'GET /v1/usage': {
      query: seeded => ({
        meter_value_calculation_id: seededId(seeded, 'METER_VALUE_CALCULATION'),
        customer_id: seededId(seeded, 'CUSTOMER'),
        from: '2026-03-01T00:00:00Z',
        to: '2026-04-01T00:00:00Z',
        bucket: 'DAY',
        timezone: 'Europe/Amsterdam',
      }),
    },
    'POST /v1/events/calculate': {
      body: seeded => ({
        reference: 'e',
        customer_id: seededId(seeded, 'CUSTOMER'),
        meter_id: seededId(seeded, 'METER'),
        meter_values: [],
      }),
    },
    'GET /v1/files/:id/lines': aFile,
    'PUT /v1/files/:id/content': { ...aFile, body: () => 'reference\n', headers: { 'content-type': 'text/csv' } },
    'GET /v1/meters/:id/meter-data-file': onSeeded('METER'),
  },
})
