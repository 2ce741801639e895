// Reads of the audit trail, in the order the changes were made.
import { and, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { listSlice } from '../../../list/list-slice.ts'
import { filterConditions, type ListQuery, type ListSpec, orderOf } from '../../../list/list-spec.ts'
import { type Slice, type Sliced, sliceOf } from '../../../list/slice.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type AuditRecord, auditRecords } from './table.ts'

export const AUDIT_LIST: ListSpec = {
  table: auditRecords,
  filters: {
    user_id: { kind: 'equals', column: 'user_id' },
    target_id: { kind: 'equals', column: 'target_id' },
    target_type: { kind: 'equals', column: 'target_resource_type' },
    created_at: { kind: 'range', column: 'created_at' },
  },
  orderBy: ['created_at'],
  searchable: [],
  ranges: [],
}

/** One part of the records that match. */
export async function listAuditRecords(
  uow: ReadUow,
  query: ListQuery,
): Promise<{ slice: Slice; sliced: Sliced<AuditRecord> }> {
  const slice = sliceOf(query)
  // Many changes share a second; their positions do not, and follow the order in which they were committed.
  const order = { ...orderOf(AUDIT_LIST, query), by: 'position' }
  const conditions = await filterConditions(uow, AUDIT_LIST, query)
  return { slice, sliced: await listSlice<AuditRecord>(uow, AUDIT_LIST, { conditions, order, slice }) }
}

/** The record with this id. Throws RESOURCE_NOT_FOUND. */
export async function getAuditRecord(uow: ReadUow, id: string): Promise<AuditRecord> {
  const [row] = await uow.tx
    .select()
    .from(auditRecords)
    .where(and(inThisTenant(uow, auditRecords), eq(auditRecords.id, id)))
  if (row) return row
  throw new AppError('RESOURCE_NOT_FOUND', `There is no AUDIT_RECORD ${JSON.stringify(id)}.`, {
    resourceType: 'AUDIT_RECORD',
  })
}
