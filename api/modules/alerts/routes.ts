// The creation of alerts; reading them is as with any resource (alert.ts).
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type RouteDeps, writeRoute } from '../../http/route.ts'
import { IdText, Nullable, Optional, Shape } from '../../resource/shapes.ts'
import { normalizeTimes } from '../../resource/timestamps.ts'
import { alertResource } from './alert.ts'
import { type AlertRequest, createAlert } from './create-alert.ts'
import { AlertData, AlertType } from './schema.ts'

const CreateBody = Shape({
  platform_id: IdText('platform: your own'),
  alert_rule_id: IdText('alert rule'),
  customer_id: IdText('customer'),
  type: AlertType,
  data_trigger_reference: Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'What set the rule off. A repeat with the same one is answered with the alert that is there.',
      }),
    ),
  ),
  alert_data: AlertData,
})

export function alertRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag: alertResource.path,
    permission: 'ALERT.CREATE',
    summary: 'Report an alert for one of your alert rules.',
    method: 'POST',
    url: `/v1/${alertResource.path}`,
    body: CreateBody,
    response: alertResource.view,
    status: 201,
    handle: (uow, { body }) => createAlert(uow, normalizeTimes(CreateBody, body) as AlertRequest),
  })
}
