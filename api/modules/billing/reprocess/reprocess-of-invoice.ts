// The reprocess that an invoice shows: the next one that reaches it.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { isReached } from './affected-invoices.ts'
import type { Reprocess } from './table.ts'

type Found = {
  readonly id: string
  readonly status: Extract<Reprocess['status'], 'SCHEDULED' | 'IN_PROGRESS'>
  readonly scheduled_at: string
}

/** The next reprocess of the invoice that waits or runs; null when there is none. */
export async function reprocessOfInvoice(uow: ReadUow, { id }: { readonly id: string }) {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<Found>(sql`
    select r.id, r.status, to_char(r.scheduled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as scheduled_at
    from invoices v join reprocesses r on r.platform_id = v.platform_id and r.environment = v.environment
      and r.status in ('SCHEDULED', 'IN_PROGRESS') and ${isReached}
    where v.platform_id = ${platformId} and v.environment = ${environment} and v.id = ${id}
    order by r.scheduled_at, r.id limit 1`)
  const [found] = rows
  return found
    ? { to_be_reprocessed_at: found.scheduled_at, reprocess_status: found.status, reprocess_id: found.id }
    : null
}
