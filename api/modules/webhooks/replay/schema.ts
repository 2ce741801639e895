// Wire shapes of replays.
import Type from 'typebox'
import { IdText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { REPLAY_SCOPES, REPLAY_STATUSES } from '../table.ts'

/** Default pace of a replay, in events per second. */
export const EVENTS_PER_SECOND = 50

const Scope = Type.Enum([...REPLAY_SCOPES], {
  description:
    '`ALL`: every event that the webhook takes. `FAILED`: those that it has not received, and later events of the same objects.',
})
const Pace = { description: 'The most that is sent in a second. The endpoint gets one event at a time.' }

export const ReplayBody = Shape(
  {
    from: Optional(Type.String({ ...Timestamp, description: 'Events made at this time or later.' })),
    from_event_id: Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'This event and those after it. Instead of `from`.' }),
    ),
    scope: Optional(Scope),
    events_per_second: Optional(Type.Integer({ minimum: 1, maximum: 100, ...Pace })),
  },
  { title: 'WebhookReplayStart' },
)
export type ReplayRequest = Type.Static<typeof ReplayBody>

export const ReplayView = Type.Object(
  {
    object_type: Type.Literal('WEBHOOK_REPLAY'),
    id: Type.String({ description: 'Id of the replay.' }),
    created_at: Timestamp,
    webhook_id: IdText('webhook'),
    scope: Scope,
    events_per_second: Type.Integer(Pace),
    status: Type.Enum([...REPLAY_STATUSES], {
      description: '`CANCELLED`: by a call, or because the webhook was switched off or disabled.',
    }),
    events_sent: Type.Integer({ description: 'How many the endpoint has received so far.' }),
    events_remaining: Nullable(
      Type.Integer({
        description:
          'How many are still to be examined, all of which are sent with scope `ALL`. Null when there are too many to count.',
      }),
    ),
    finished_at: Nullable(Timestamp),
  },
  { title: 'WebhookReplay' },
)

export const ReplayParams = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 255 }),
    replayId: Type.String({ minLength: 1, maxLength: 64 }),
  },
  { additionalProperties: false },
)
