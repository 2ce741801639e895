// How a tenant learns of changes as they happen: webhooks, their deliveries, and the event log.
import { onSeeded, type Seeded, seededId } from '../../resource/routes/route-fixture.ts'
import { defineModule, type ModuleRouteDeps } from '../define-module.ts'
import { type WebhookJobDeps, webhookJobs } from './delivery/jobs.ts'
import { wakeQueues } from './delivery/queue/wake-queues.ts'
import { WEBHOOK_EVENTS } from './events.ts'
import { type WebhookRouteDeps, webhookRoutes } from './routes.ts'
import { webhookResource } from './webhook.ts'

// Events have no position in the log before the relay has run, so an id of another kind stands for a foreign one.
const aReplay = { params: (seeded: Seeded) => ({ id: seededId(seeded, 'WEBHOOK'), replayId: 'whre_none' }) }
const anEvent = onSeeded('WEBHOOK')

const aWebhook = onSeeded('WEBHOOK')
const body = () => ({ reference: 'tried', name: 'Tried', url: 'https://127.0.0.1/' })

export const webhooks = defineModule<ModuleRouteDeps & WebhookRouteDeps, WebhookJobDeps>({
  name: 'webhooks',
  otherObjectTypes: ['WEBHOOK_EVENT', 'WEBHOOK_REPLAY'],
  events: [WEBHOOK_EVENTS],
  eventShapes: { WEBHOOK_EVENT: 'WebhookResend', WEBHOOK_REPLAY: 'WebhookReplay' },
  resources: [webhookResource],
  routes: webhookRoutes,
  consumers: [wakeQueues],
  jobs: webhookJobs,
  fixtures: {
    'POST /v1/webhooks': { body: () => ({ ...body(), url: 'https://hooks.example.com/' }) },
    'PATCH /v1/webhooks/:id': { ...aWebhook, body: () => ({ name: 'Renamed' }) },
    'PATCH /v1/webhooks/:id/secret-key': { ...aWebhook, body: () => ({}) },
    'DELETE /v1/webhooks/:id/secret-key': aWebhook,
    'POST /v1/webhooks/:id/send-test': aWebhook,
    'POST /v1/webhooks/:id/send-penalty-box-payload': aWebhook,
    'POST /v1/webhooks/test-connection': { body },
    'GET /v1/webhooks/actions': {},
    'POST /v1/webhooks/:id/replay': { ...aWebhook, body: () => ({ from: '2026-01-01T00:00:00Z' }) },
    'GET /v1/webhooks/:id/replays': aWebhook,
    'GET /v1/webhooks/:id/replays/:replayId': aReplay,
    'POST /v1/webhooks/:id/replays/:replayId/cancel': aReplay,
    'GET /v1/webhook-events': {},
    'GET /v1/webhook-events/:id': anEvent,
    'GET /v1/webhook-events/:id/attempts': anEvent,
    'POST /v1/webhook-events/:id/resend': {
      ...anEvent,
      body: seeded => ({ webhook_id: seededId(seeded, 'WEBHOOK') }),
    },
  },
})
