// INVOICE.OVERDUE: emitted once per invoice, when its due date has passed and part of it is open. The same transaction
// records that it was emitted, so crashes and concurrent runs never emit it twice.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Database, inTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import { idsOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { emitAll } from '../../../outbox.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { loadInvoices } from '../repository.ts'
import { invoices } from '../table.ts'
import { invoiceView } from '../view.ts'
import { isPastDue } from './payment-overdue.ts'
import { unpaidInvoices } from './unpaid-invoices.ts'

/** Invoices per transaction, and transactions per run; the next run finds the rest. */
const INVOICES_MAX = 100
const ROUNDS_MAX = 20

export type OverdueDeps = { readonly database: Database; readonly failpoint?: Failpoints | undefined }

/** A condition on the invoices `v`: their customer uses this test clock, or none. */
export const usesTestClock = (clockId: string | null): SQL => {
  const clocks = sql`select from test_clock_customers m where m.platform_id = v.platform_id
    and m.environment = v.environment and m.customer_id = v.customer_id`
  return clockId === null
    ? sql`(v.environment = 'LIVE' or not exists (${clocks}))`
    : sql`exists (${clocks} and m.test_clock_id = ${clockId})`
}

/**
 * Emits INVOICE.OVERDUE for the invoices of a tenant that have become overdue; returns how many. With `clockId` only
 * for customers of that test clock, at whose time it is called; with null only for customers without a test clock. Safe
 * to run twice or concurrently.
 */
export async function announceOverdue(
  { database, failpoint }: OverdueDeps,
  tenant: Tenant,
  clockId: string | null,
): Promise<number> {
  let announced = 0
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const found = await inTenant(database, tenant, SERVICE, async uow => {
      const ids = await announceRound(uow, clockId)
      await failpoint?.('invoices.before-overdue-commit')
      return ids.length
    })
    announced += found
    if (found < INVOICES_MAX) break
  }
  return announced
}

async function announceRound(uow: Uow, clockId: string | null): Promise<string[]> {
  const unpaid = await unpaidInvoices(uow, {
    dueBefore: uow.now,
    where: sql`v.overdue_at is null and ${usesTestClock(clockId)}`,
    limit: INVOICES_MAX,
    hold: 'update',
  })
  const ids = unpaid.filter(invoice => isPastDue(invoice, uow.now)).map(({ id }) => id)
  if (ids.length === 0) return ids
  // Not a change of the document: updated_at stays, and INVOICE.UPDATED is not emitted.
  await uow.tx
    .update(invoices)
    .set({ overdue_at: formatInstant(uow.now) })
    .where(and(inThisTenant(uow, invoices), anyOf(invoices.id, idsOf('invo', ids)), eq(invoices.status, 'FINAL')))
  const rows = await loadInvoices(uow, ids)
  await emitAll(
    uow,
    ids.flatMap(id => {
      const row = rows.get(id)
      return row
        ? [{ type: 'INVOICE.OVERDUE' as const, objectId: id, data: invoiceView(row, uow.now), previous: null }]
        : []
    }),
  )
  return ids
}
