// The audit trail, read-only: it is written with the changes themselves and never by a call.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { actionsOf, type EventType, objectTypesOf } from '../../../../shared/contracts/event-types.ts'
import { ENVIRONMENTS } from '../../../../shared/tenant.ts'
import { PageOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import { filterQuery, type ListQuery, orderQuery } from '../../../list/list-spec.ts'
import { SliceQuery, sliceView } from '../../../list/slice.ts'
import { Nullable, Shape, Timestamp } from '../../../resource/shapes.ts'
import { AUDIT_LIST, getAuditRecord, listAuditRecords } from './list-audit-records.ts'
import type { AuditRecord } from './table.ts'

const auditRecordView = (eventTypes: readonly EventType[]) =>
  Type.Object(
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
      target_environment: Type.Enum([...ENVIRONMENTS]),
      target_resource_type: Type.Enum(objectTypesOf(eventTypes)),
      target_id: Type.String(),
      action: Type.Enum(actionsOf(eventTypes)),
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

export function auditRoutes(app: FastifyInstance, deps: RouteDeps, eventTypes: readonly EventType[]): void {
  const view = auditRecordView(eventTypes)
  const targetType = Type.Optional(Type.Enum(objectTypesOf(eventTypes)))
  readRoute(app, deps, {
    ...about,
    summary: 'List the audit records: who changed what, newest first.',
    url: PATH,
    query: Shape({ ...filterQuery(AUDIT_LIST), target_type: targetType, ...orderQuery(AUDIT_LIST), ...SliceQuery }),
    response: PageOf(view),
    handle: async (uow, { query: given }) => {
      const query = given as ListQuery
      const { slice, sliced } = await listAuditRecords(uow, query)
      return sliceView(PATH, query, { slice, sliced, data: sliced.rows.map(viewOfRecord) })
    },
  })
  readRoute(app, deps, {
    ...about,
    summary: 'Read an audit record.',
    url: `${PATH}/:id`,
    params: IdParams,
    response: view,
    handle: async (uow, { params }) => viewOfRecord(await getAuditRecord(uow, params.id)),
  })
}
