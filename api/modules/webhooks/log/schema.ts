// Wire shapes of the log of events.
import Type from 'typebox'
import { ENVIRONMENTS } from '../../../../shared/tenant.ts'
import { Repeatable } from '../../../list/list-spec.ts'
import { OrderDirection, SliceQuery } from '../../../list/slice.ts'
import { IdText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { ATTEMPT_KINDS } from '../table.ts'

export const DELIVERY_STATUSES = ['PENDING', 'SUCCEEDED', 'FAILED'] as const

const WebhookId = Type.String({ minLength: 1, maxLength: 255, description: 'Id or reference of a webhook.' })

const Delivery = Type.Object(
  {
    webhook_id: IdText('webhook'),
    status: Type.Enum([...DELIVERY_STATUSES], {
      description:
        '`SUCCEEDED`: the endpoint has received it. `PENDING`: it waits in the queue. `FAILED`: it was not received, and is sent no more unless you resend or replay it.',
    }),
    attempt_count: Type.Integer({ description: 'How often it was sent.' }),
    last_attempt_at: Nullable(Timestamp),
    last_response_code: Nullable(Type.Integer({ description: 'Null when there was no answer.' })),
  },
  { title: 'WebhookEventDelivery' },
)

export const WebhookEvent = Type.Object(
  {
    object_type: Type.Literal('WEBHOOK_EVENT'),
    id: Type.String({ description: 'What deliveries carry as `X-EVENT-ID`.' }),
    created_at: Timestamp,
    type: Type.String({ description: 'The event type.' }),
    environment: Type.Enum([...ENVIRONMENTS]),
    original_request_id: Nullable(Type.String({ description: 'The API request that caused the event.' })),
    payload: Type.Object(
      {},
      { additionalProperties: true, description: 'The body of a delivery, with `previous_data` where there is any.' },
    ),
    deliveries: Optional(
      Type.Array(Delivery, {
        description: 'One for each webhook that the event is for. In lists only with `webhook_id`.',
      }),
    ),
  },
  { title: 'WebhookEvent' },
)

export const EventQuery = Shape({
  'types[]': Repeatable(Type.String({ maxLength: 128, description: 'Event types, by their exact names.' })),
  created_at: Optional(
    Type.String({ maxLength: 100, description: 'A range [from,to] of times; either may be empty.' }),
  ),
  webhook_id: Optional({ ...WebhookId, description: 'Id or reference of a webhook: the events that are for it.' }),
  status: Optional(
    Type.Enum([...DELIVERY_STATUSES], { description: 'Of the delivery to the webhook of `webhook_id`.' }),
  ),
  order_direction: Optional({ ...OrderDirection, description: '`asc` by default: oldest first.' }),
  limit: SliceQuery.limit,
  starting_after: SliceQuery.starting_after,
  ending_before: SliceQuery.ending_before,
})

export const WebhookAttempt = Type.Object(
  {
    object_type: Type.Literal('WEBHOOK_ATTEMPT'),
    id: Type.String(),
    created_at: Timestamp,
    webhook_id: IdText('webhook'),
    event_id: IdText('event'),
    kind: Type.Enum([...ATTEMPT_KINDS], { description: 'Why it was sent.' }),
    succeeded: Type.Boolean({ description: 'Whether the endpoint answered 2XX within 10 seconds.' }),
    response_code: Nullable(Type.Integer({ description: 'Null when there was no answer.' })),
    cause: Nullable(Type.String({ description: 'Why it failed.' })),
    duration_ms: Type.Integer({ description: 'Milliseconds until the answer.' }),
  },
  { title: 'WebhookAttempt' },
)

export const AttemptQuery = Shape({ webhook_id: Optional(WebhookId), ...SliceQuery })

export const ResendBody = Shape({ webhook_id: WebhookId }, { title: 'WebhookEventResend' })
