// What invoices need stays as they need it.
import { and, eq, inArray } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { beforeSave } from '../../resource/rules.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { customerResource } from '../parties/customers/resource.ts'
import type { Customer } from '../parties/customers/table.ts'
import { invoices } from './table.ts'

/** Throws INVALID_OPERATION when a customer is about to be forgotten and an invoice of it is still to be issued. */
async function refuseForgettingBilled(uow: Uow, customer: Customer, previous: Customer | null): Promise<void> {
  if (customer.forgotten_at === null || previous?.forgotten_at) return
  const [open] = await uow.tx
    .select({ id: invoices.id, status: invoices.status })
    .from(invoices)
    .where(
      and(
        inThisTenant(uow, invoices),
        eq(invoices.customer_id, customer.id),
        inArray(invoices.status, ['OPEN', 'DRAFT']),
      ),
    )
    .limit(1)
  if (!open) return
  const message = `Its invoice ${open.id} is ${open.status} and must still name it; make it FINAL or VOID first.`
  throw new AppError('INVALID_OPERATION', message, { resourceId: open.id, resourceType: 'INVOICE' })
}

export const INVOICE_GUARDS = [beforeSave(customerResource, refuseForgettingBilled)] as const
