// API keys as a tenant manages them (contract: Authentication 1 and 2; security section 4). What they are in memory, and how
// they are checked, is shared/access/live-keys.ts.
import Type from 'typebox'
import { defineResource, type Resource, readOnly } from '../../../resource/define-resource.ts'
import { Description, IdText, OneOf, Timestamp } from '../../../resource/shapes.ts'
import { type ApiKey, apiKeys } from './table.ts'

const USERS_MAX = 1_000

export const KeyType = OneOf('STANDARD', 'PROXY')
export const KeyRole = OneOf('ADMINISTRATOR', 'READ_ONLY')
export const OriginalUserIds = Type.Array(IdText('user'), {
  maxItems: USERS_MAX,
  uniqueItems: true,
  description: 'The members a PROXY key may act for with X-ORIGINAL-USER.',
})

export const apiKeyResource: Resource<ApiKey> = defineResource<ApiKey>({
  objectType: 'API_KEY',
  shapeName: 'ApiKey',
  idPrefix: 'akey',
  path: 'api-keys',
  table: apiKeys,
  fields: {
    type: readOnly(KeyType),
    role_type: readOnly(KeyRole),
    description: readOnly(Description),
    active: readOnly(Type.Boolean()),
    original_user_ids: readOnly(OriginalUserIds),
    display_prefix: readOnly(Type.String({ description: 'How the key begins, to tell it from others.' })),
    last_four: readOnly(Type.String({ description: 'How the key ends.' })),
    created_by: readOnly(Type.String({ description: 'The user or the API key that made it.' })),
    last_used_at: readOnly(Timestamp),
    revoked_at: readOnly(Timestamp),
  },
  operations: ['list', 'get'],
  byReference: false,
  filters: {
    active: { kind: 'equals', column: 'active', schema: Type.Enum(['true', 'false']) },
    type: { kind: 'equals', column: 'type', schema: KeyType },
  },
  orderBy: ['description', 'last_used_at'],
  computed: {
    status: OneOf('ACTIVE', 'INACTIVE'),
    api_key: Type.String({ description: 'The key itself; in the answer that made it, and never again.' }),
  },
  derive: ({ active }) => ({ status: active ? 'ACTIVE' : 'INACTIVE' }),
  fixture: {
    create: async seed => ({ description: seed.unique('key'), role_type: 'READ_ONLY' }),
    update: null,
  },
})
