// Wire shapes of webhooks.
import Type from 'typebox'
import { IdText, Nullable, Optional, Shape, Timestamp } from '../../resource/shapes.ts'
import { AUTHENTICATION_TYPES } from './table.ts'

/** Placeholder for a credential or a secret that is set: the value is never shown again. */
export const MASK = '********'

const ACTIONS_MAX = 500

export const Actions = (description: string) =>
  Type.Array(Type.String({ maxLength: 128 }), { maxItems: ACTIONS_MAX, uniqueItems: true, description })

export const AuthenticationTypeText = Type.Enum([...AUTHENTICATION_TYPES])

/** The credential that the receiver requires. Its limits are those of HTTP header values. */
export const Credential = Type.String({ minLength: 1, maxLength: 1_024 })

export const PenaltyBoxData = Shape(
  {
    retry_count: Type.Integer({ description: 'Failed attempts in a row.' }),
    retry_at: Nullable(Timestamp),
    cause: Type.String({ description: 'Why the last attempt failed.' }),
    event_id: Optional(Nullable(IdText('webhook event that blocks the queue'))),
    payload: Optional(
      Nullable(
        Type.String({
          description:
            'What blocks the queue, as it is sent. Null for an event of a webhook: read it by its event_id; and without the permission WEBHOOK_EVENT.VIEW.',
        }),
      ),
    ),
  },
  { title: 'PenaltyBoxData' },
)

export const SecretBody = Shape(
  {
    previous_secret_valid_hours: Optional(
      Type.Integer({
        minimum: 0,
        maximum: 24,
        description: 'Hours for which the previous secret also signs; 24 by default.',
      }),
    ),
  },
  { title: 'WebhookSecretRoll' },
)

export const Connection = Type.Object(
  {
    successful: Type.Boolean({ description: 'Whether the endpoint answered 2XX within 10 seconds.' }),
    message: Type.String({ description: 'What the endpoint answered, or why there was no answer.' }),
  },
  { title: 'WebhookConnection' },
)
