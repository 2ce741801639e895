// Webhooks: where a tenant's changes are sent (contract: Webhook). delivery/ sends them.
import Type from 'typebox'
import { isDeclaredEvent } from '../../../shared/contracts/event-types.ts'
import type { ReadUow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { defineResource, field, type Resource, type Row, readOnly } from '../../resource/define-resource.ts'
import { Name, Reference, Timestamp } from '../../resource/shapes.ts'
import { loadPenalties, prepareQueue } from './delivery/queue/queue-of-webhook.ts'
import { Actions, AuthenticationTypeText, Credential, MASK, PenaltyBoxData } from './schema.ts'
import { type Webhook, webhooks } from './table.ts'

/** Members whose form differs between body and column. */
type Given = { readonly password: string | null; readonly api_key: string | null }

/** Create and update have routes of their own (routes.ts), because they seal credentials. */
export const webhookResource: Resource<Webhook> = defineResource<Webhook, Given>({
  objectType: 'WEBHOOK',
  shapeName: 'Webhook',
  idPrefix: 'webh',
  path: 'webhooks',
  table: webhooks,
  fields: {
    reference: field(Reference, { create: 'required', change: 'never' }),
    name: field(Name, { create: 'required' }),
    url: field(
      Type.String({
        minLength: 1,
        maxLength: 2_048,
        description: 'Where events are sent, by HTTPS with TLS 1.2 or newer. It must lead to the public internet.',
      }),
      { create: 'required' },
    ),
    included_actions: field(
      Actions('Types of the events it gets, by their exact names. Empty: all but those of `excluded_actions`.'),
    ),
    excluded_actions: field(
      Actions('Types of the events it does not get. Of no effect while there are `included_actions`.'),
    ),
    active: field(
      Type.Boolean({ description: 'Whether events are sent. What happens while they are not is never sent.' }),
    ),
    include_previous_data: field(
      Type.Boolean({ description: 'Whether events of updates have `previous_data`, the resource before the change.' }),
    ),
    authentication_type: field(AuthenticationTypeText),
    username: field(Type.String({ minLength: 1, maxLength: 255, description: 'Of basic authentication.' })),
    api_header_field: field(
      Type.String({ minLength: 1, maxLength: 128, description: 'The header of the API key; `X-API-KEY` by default.' }),
    ),
    disabled_reason: readOnly(
      Type.String({ description: 'Why the service disabled it. Cleared when `active` is set to true again.' }),
    ),
    secret_rolled_at: readOnly(Timestamp),
  },
  given: {
    password: field(Credential),
    api_key: field(Credential),
  },
  computed: {
    secret_key: Type.String({
      description: 'The key of signatures; only the call that creates it shows it.',
    }),
    signing_protocol: Type.Literal('v1'),
    previous_secret_key: Type.String({ description: 'The previous secret, while it still signs.' }),
    previous_signing_protocol: Type.Literal('v1'),
    previous_secret_valid_until: Timestamp,
    penalty_box_data: PenaltyBoxData,
  },
  compute: viewsOfState,
  operations: ['list', 'get', 'delete'],
  byReference: true,
  orderBy: ['reference', 'name'],
  filters: { active: { kind: 'boolean', column: 'active' } },
  defaults: () => ({
    included_actions: [],
    excluded_actions: [],
    active: true,
    include_previous_data: false,
    authentication_type: 'NONE',
  }),
  check: checkWebhook,
  afterSave: prepareQueue,
  fixture: {
    create: async seed => ({
      reference: seed.unique('webhook'),
      name: 'Deliveries',
      url: 'https://hooks.example.com/millrace',
    }),
    update: { name: 'Renamed' },
  },
})

async function viewsOfState(uow: ReadUow, rows: readonly Webhook[]): Promise<Row[]> {
  const penalties = await loadPenalties(uow, rows)
  return rows.map(row => {
    const until = row.previous_secret_until
    const isRolling = until !== null && Date.parse(until) > uow.now
    return {
      password: row.password_sealed === null ? null : MASK,
      api_key: row.api_key_sealed === null ? null : MASK,
      secret_key: row.secret_sealed === null ? null : MASK,
      signing_protocol: row.secret_sealed === null ? null : 'v1',
      previous_secret_key: isRolling ? MASK : null,
      previous_signing_protocol: isRolling ? 'v1' : null,
      previous_secret_valid_until: isRolling ? until : null,
      penalty_box_data: penalties.get(row.id) ?? null,
    }
  })
}

/** Throws INVALID_FIELD with the position of the first name that is not an event type. */
function checkWebhook(_uow: ReadUow, row: Webhook): void {
  for (const field of ['included_actions', 'excluded_actions'] as const) {
    const index = row[field].findIndex(type => !isDeclaredEvent(type))
    if (index === -1) continue
    const message = `There is no event type ${JSON.stringify(row[field][index])}; GET /v1/webhooks/actions lists them.`
    throw new AppError('INVALID_FIELD', message, { field: `${field}.${index}` })
  }
}
