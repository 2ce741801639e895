// Reads of the audit trail, in the order the changes were made.
import { and, asc, count, desc, eq, gte, lt, type SQL } from 'drizzle-orm'
import type { ReadUow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { dateRange } from '../../http/pagination.ts'
import { type AuditRecord, auditRecords } from './table.ts'

export type AuditFilter = {
  readonly user_id?: string | undefined
  readonly target_id?: string | undefined
  readonly target_type?: string | undefined
  readonly created_at?: string | undefined
}

const ofThisTenant = (uow: ReadUow): SQL | undefined =>
  and(eq(auditRecords.platform_id, uow.tenant.platformId), eq(auditRecords.environment, uow.tenant.environment))

/** One page of the records that match, and how many match in all. */
export async function listAuditRecords(
  uow: ReadUow,
  filter: AuditFilter,
  page: { readonly descending: boolean; readonly limit: number; readonly offset: number },
): Promise<{ rows: AuditRecord[]; total: number }> {
  const created = filter.created_at === undefined ? null : dateRange('created_at', filter.created_at)
  const where = and(
    ofThisTenant(uow),
    filter.user_id === undefined ? undefined : eq(auditRecords.user_id, filter.user_id),
    filter.target_id === undefined ? undefined : eq(auditRecords.target_id, filter.target_id),
    filter.target_type === undefined ? undefined : eq(auditRecords.target_resource_type, filter.target_type),
    created?.from ? gte(auditRecords.created_at, created.from) : undefined,
    created?.before ? lt(auditRecords.created_at, created.before) : undefined,
  )
  // Many changes share a second; their positions do not, and follow the order in which they were committed.
  const order = (page.descending ? desc : asc)(auditRecords.position)
  const rows = await uow.tx
    .select()
    .from(auditRecords)
    .where(where)
    .orderBy(order)
    .limit(page.limit)
    .offset(page.offset)
  const [counted] = await uow.tx.select({ total: count() }).from(auditRecords).where(where)
  return { rows, total: counted?.total ?? 0 }
}

/** The record with this id. Throws RESOURCE_NOT_FOUND. */
export async function getAuditRecord(uow: ReadUow, id: string): Promise<AuditRecord> {
  const [row] = await uow.tx
    .select()
    .from(auditRecords)
    .where(and(ofThisTenant(uow), eq(auditRecords.id, id)))
  if (row) return row
  throw new AppError('RESOURCE_NOT_FOUND', `There is no AUDIT_RECORD ${JSON.stringify(id)}.`, {
    resourceType: 'AUDIT_RECORD',
  })
}
