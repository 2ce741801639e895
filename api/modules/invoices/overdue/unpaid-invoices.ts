// The FINAL invoices with an open amount: those that may be overdue.
import { type SQL, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'

/**
 * A condition on the invoices `v`: FINAL, with an open amount. Written like the condition of the indexes. A trigger sets
 * `nothing_due` from the amounts: if an index named them, each new amount of an OPEN invoice would change every index.
 */
export const IS_OPEN = sql`v.status = 'FINAL' and v.payment_status in ('UNPAID', 'PARTIALLY_PAID') and not v.nothing_due`

export type UnpaidInvoice = {
  readonly id: string
  readonly customer_id: string
  readonly due_date: string
  readonly timezone: string
}

type Wanted = {
  readonly dueBefore: Instant
  /** A further condition on the invoices `v`. */
  readonly where: SQL
  readonly limit: number
  /** `update` when the caller changes them. */
  readonly hold: 'share' | 'update'
}

/** The invoices due first, locked until commit: a concurrent payment is applied either before or after. */
export async function unpaidInvoices(uow: Uow, { dueBefore, where, limit, hold }: Wanted): Promise<UnpaidInvoice[]> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<Omit<UnpaidInvoice, 'due_date'> & { due_ms: string }>(sql`
    select v.id, v.customer_id, v.timezone, (extract(epoch from v.due_date) * 1000)::bigint::text as due_ms
    from invoices v
    where v.platform_id = ${platformId} and v.environment = ${environment} and ${IS_OPEN}
      and v.due_date < ${formatInstant(dueBefore)}::timestamptz and ${where}
    order by v.due_date, v.id limit ${limit}
    for ${sql.raw(hold)} of v`)
  return rows.map(({ due_ms, ...row }) => ({ ...row, due_date: formatInstant(instantOf(Number(due_ms))) }))
}
