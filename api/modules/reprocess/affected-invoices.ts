// Which invoices a reprocess computes again, and the marks on them.
import { type SQL, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../shared/database/database.ts'
import type { Reprocess } from './table.ts'

/** What is asked of a reprocess here. */
export type Reach = Pick<Reprocess, 'type' | 'invoice_id' | 'customer_id' | 'start_at'>

/**
 * The OPEN and DRAFT invoices of a reprocess. Of a range only the start tells any apart: usage is collected by an invoice
 * that ends after it, and with a price of a longer period that may be one that also starts after the range. A FINAL invoice
 * is never among them.
 */
export function affectedBy(uow: ReadUow, reach: Reach): SQL {
  const { platformId, environment } = uow.tenant
  return sql`v.platform_id = ${platformId} and v.environment = ${environment} and v.status in ('OPEN', 'DRAFT')
    ${reach.invoice_id === null ? sql`` : sql`and v.id = ${reach.invoice_id}`}
    ${reach.customer_id === null ? sql`` : sql`and v.customer_id = ${reach.customer_id}`}
    ${reach.start_at === null ? sql`` : sql`and v.period_end > ${reach.start_at}::timestamptz`}`
}

/** Marks the invoices as due. It is what is planned for them and no change of theirs, so no notice is given of it. */
export async function markInvoices(uow: Uow, reprocess: Reach & Pick<Reprocess, 'scheduled_at'>): Promise<number> {
  const { rowCount } = await uow.tx.execute(sql`
    update invoices v set to_be_reprocessed_at =
      least(coalesce(v.to_be_reprocessed_at, 'infinity'), ${reprocess.scheduled_at}::timestamptz)
    where ${affectedBy(uow, reprocess)}`)
  return rowCount ?? 0
}
