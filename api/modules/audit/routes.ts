// The audit trail, read-only: it is written with the changes themselves and never by a call.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { PageOf, PageQuery, pageOf, pageView } from '../../http/pagination.ts'
import { type RouteDeps, readRoute } from '../../http/route.ts'
import { Nullable, Shape, Timestamp } from '../../resource/shapes.ts'
import { getAuditRecord, listAuditRecords } from './list-audit-records.ts'
import type { AuditRecord } from './table.ts'

const Text = Type.Optional(Type.String({ maxLength: 255 }))

const AuditRecordView = Type.Object(
  {
    object_type: Type.Literal('AUDIT_RECORD'),
    id: Type.String(),
    user_id: Nullable(
      Type.String({ description: 'Who made the change: a user, or an API key; null for the service itself.' }),
    ),
    user_name: Nullable(
      Type.String({ description: 'What they were called then: e-mail of the user, description of the API key.' }),
    ),
    impersonated_user_id: Nullable(Type.String({ description: 'The user a PROXY key acted for.' })),
    impersonated_user_name: Nullable(Type.String()),
    credential_id: Nullable(
      Type.String({ description: 'What the call came with: the API key, or the OAuth grant its token belongs to.' }),
    ),
    ip: Nullable(Type.String({ description: 'Where the call came from.' })),
    target_platform_id: Type.String(),
    target_environment: Type.String(),
    target_resource_type: Type.String(),
    target_id: Type.String(),
    action: Type.String(),
    message: Type.String(),
    changed_fields: Type.Array(Type.String()),
    request_id: Nullable(Type.String()),
    idempotency_key: Nullable(Type.String()),
    created_at: Timestamp,
    sequence: Type.Integer({ description: 'Its place in the chain, from 1, without gaps.' }),
    previous_hash: Type.String(),
    hash: Type.String({ description: 'SHA-256 of this record and the hash of the one before it.' }),
  },
  { title: 'AuditRecord' },
)

const viewOfRecord = ({ platform_id, environment, position: _position, ...rest }: AuditRecord) => ({
  object_type: 'AUDIT_RECORD',
  target_platform_id: platform_id,
  target_environment: environment,
  ...rest,
})

const PATH = '/v1/audit-records'
const about = { permission: 'AUDIT_RECORD.VIEW', tag: 'audit-records', method: 'GET' } as const

export function auditRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    ...about,
    summary: 'List the audit records: who changed what, newest first.',
    url: PATH,
    query: Shape({
      user_id: Text,
      target_id: Text,
      target_type: Text,
      created_at: Type.Optional(Type.String({ maxLength: 100 })),
      order_by: Type.Optional(Type.Enum(['created_at'])),
      order_direction: Type.Optional(Type.Enum(['asc', 'desc', 'ASC', 'DESC'])),
      ...PageQuery,
    }),
    response: PageOf(AuditRecordView),
    handle: async (uow, { query }) => {
      const page = pageOf({
        ...(query.page ? { page: query.page } : {}),
        ...(query.limit ? { limit: query.limit } : {}),
      })
      const { rows, total } = await listAuditRecords(uow, query, {
        descending: query.order_direction?.toLowerCase() !== 'asc',
        limit: page.limit,
        offset: (page.page - 1) * page.limit,
      })
      const given = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))
      return pageView(`${PATH}?${new URLSearchParams(given)}`, page, rows.map(viewOfRecord), total)
    },
  })
  readRoute(app, deps, {
    ...about,
    summary: 'Read one audit record.',
    url: `${PATH}/:id`,
    params: Shape({ id: Type.String({ minLength: 1, maxLength: 255 }) }),
    response: AuditRecordView,
    handle: async (uow, { params }) => viewOfRecord(await getAuditRecord(uow, params.id)),
  })
}
