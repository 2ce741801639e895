// Queries of payments beyond those of any resource.
import { and, asc, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../shared/database/database.ts'
import type { Id } from '../../../shared/ids.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { type Payment, payments as p } from './table.ts'

/** The payments of an invoice that count, oldest first. */
export const authorizedOf = (uow: ReadUow, invoiceId: Id<'invo'>): Promise<Payment[]> =>
  uow.tx
    .select()
    .from(p)
    .where(and(inThisTenant(uow, p), eq(p.invoice_id, invoiceId), eq(p.result, 'AUTHORIZED')))
    .orderBy(asc(p.timestamp), asc(p.id))

/** All payments of an invoice, those that were reversed too. */
export const paymentsOf = (uow: ReadUow, invoiceId: Id<'invo'>): Promise<Payment[]> =>
  uow.tx
    .select()
    .from(p)
    .where(and(inThisTenant(uow, p), eq(p.invoice_id, invoiceId)))
    .orderBy(asc(p.created_at), asc(p.id))
