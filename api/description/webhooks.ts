// The `webhooks` of the description: what is sent for each event type, so that generated clients have typed handlers. `data` is the very
// shape that the API answers; event types of one shape share one payload, whose `type` lists them.
import type { EventType } from '../../shared/contracts/event-types.ts'
import { ENVIRONMENTS } from '../../shared/tenant.ts'
import { EVENT_SHAPES } from '../modules/modules.ts'
import type { Resource } from '../resource/define-resource.ts'
import { refTo } from './components.ts'
import type { JsonObject } from './json.ts'

/** What people do with their own account on the identity host. */
const ACCOUNT_CHANGES: ReadonlySet<string> = new Set<EventType>([
  'USER.PASSWORD_CHANGED',
  'USER.AUTHENTICATOR_ADDED',
  'USER.AUTHENTICATOR_REMOVED',
  'USER.PASSKEY_ADDED',
  'USER.PASSKEY_REMOVED',
  'USER.RECOVERY_CODES_REPLACED',
  'USER.SECOND_FACTOR_RESET',
])

const text = (description: string): JsonObject => ({ type: 'string', description })
const object = (required: readonly string[], properties: JsonObject): JsonObject => ({
  type: 'object',
  required: [...required],
  properties,
})

/** Shapes that are in events alone. */
const SHAPES_OF_EVENTS: Readonly<Record<string, JsonObject>> = {
  UserAccountChange: object(['object_type', 'id'], {
    object_type: { type: 'string', enum: ['USER'], description: 'The kind of resource.' },
    id: text('Id of the user.'),
    second_factor_change: text('What changed of the second factor.'),
  }),
  UserInvitationChange: object(['object_type', 'id', 'user_id'], {
    object_type: { type: 'string', enum: ['USER_INVITATION'], description: 'The kind of resource.' },
    id: text('Id of the invitation.'),
    user_id: text('Id of the user who was invited.'),
  }),
  OAuthGrantChange: object(['object_type', 'id', 'client_id', 'user_id'], {
    object_type: { type: 'string', enum: ['OAUTH_GRANT'], description: 'The kind of resource.' },
    id: text('Id of the grant.'),
    client_id: text('The application that was given access.'),
    client_name: text('What the application is called.'),
    user_id: text('The user who gave it.'),
    scopes: { type: 'array', items: { type: 'string' }, description: 'What the application may do.' },
    revoke_reason: text('Why the grant ended.'),
  }),
  WebhookResend: object(['object_type', 'id', 'type', 'webhook_id'], {
    object_type: { type: 'string', enum: ['WEBHOOK_EVENT'], description: 'The kind of resource.' },
    id: text('Id of the event that is sent again.'),
    type: { $ref: '#/components/schemas/EventType', description: 'Its event type.' },
    webhook_id: text('The webhook it is sent to.'),
  }),
}

/** The shape of `data` of each event type. Throws for an object type of no known shape. */
function shapeOf(type: EventType, resources: readonly Resource[]): string {
  if (ACCOUNT_CHANGES.has(type)) return 'UserAccountChange'
  const objectType = type.slice(0, type.indexOf('.'))
  const shape = resources.find(each => each.objectType === objectType)?.shapeName ?? EVENT_SHAPES[objectType]
  if (shape === undefined) throw new Error(`say in eventShapes of its module which shape the data of ${type} has`)
  return shape
}

const payloadName = (shape: string): string => `${shape}EventPayload`

/** The name of the component that describes the payload of an event type. */
export const payloadOfType = (type: EventType, resources: readonly Resource[]): string =>
  payloadName(shapeOf(type, resources))

/** The `webhooks` of the description and the components they name. */
export function webhookSection(
  eventTypes: readonly EventType[],
  resources: readonly Resource[],
): { readonly webhooks: JsonObject; readonly schemas: Readonly<Record<string, JsonObject>> } {
  const byShape = new Map<string, EventType[]>()
  for (const type of eventTypes) {
    const shape = shapeOf(type, resources)
    byShape.set(shape, [...(byShape.get(shape) ?? []), type])
  }
  const payloads = [...byShape].map(([shape, types]): [string, JsonObject] => [
    payloadName(shape),
    payload(shape, types),
  ])
  return {
    webhooks: Object.fromEntries(eventTypes.map(type => [type, operation(type, payloadOfType(type, resources))])),
    schemas: { ...SHAPES_OF_EVENTS, ...Object.fromEntries(payloads) },
  }
}

function payload(shape: string, types: readonly EventType[]): JsonObject {
  const isUpdated = types.some(type => type.endsWith('.UPDATED') || type === 'USER.INVITE_REVOKED')
  const before = {
    ...refTo(shape),
    description: 'The resource before the change, for webhooks with `include_previous_data`.',
  }
  return object(['created_at', 'type', 'environment', 'data'], {
    created_at: { type: 'string', format: 'date-time', description: 'When the event was created.' },
    type: { type: 'string', enum: [...types], description: 'The event type.' },
    original_request_id: text('The API request that caused the event.'),
    environment: { type: 'string', enum: [...ENVIRONMENTS], description: 'Where it happened.' },
    ...(isUpdated ? { previous_data: before } : {}),
    data: { ...refTo(shape), description: 'The resource after the change.' },
    metadata: { type: 'object', additionalProperties: true, description: 'More about some events.' },
  })
}

const operation = (type: EventType, schema: string): JsonObject => ({
  post: {
    operationId: `on_${type.toLowerCase().replace('.', '_')}`,
    summary: type,
    tags: ['webhooks'],
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: refTo(schema) } } },
    responses: { '2XX': { description: 'Received.' } },
  },
})
