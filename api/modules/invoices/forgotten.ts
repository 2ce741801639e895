// What follows for invoices when a customer is forgotten. Those that were issued are books and keep who was billed.
import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { afterSave } from '../../resource/rules.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { customerResource } from '../parties/customers/resource.ts'
import type { Customer } from '../parties/customers/table.ts'
import { changed, unchanged } from './changes/pending-invoice.ts'
import { saveTogether } from './changes/save-together.ts'
import { loadInvoices } from './repository.ts'
import type { CustomerView } from './schema.ts'
import { type InvoiceRow, invoices } from './table.ts'

/** An invoice's content with the customer as it is once it is forgotten, and without the custom fields copied from it. */
function withoutPerson({ content }: InvoiceRow, { email, individual, organization }: Customer): InvoiceRow['content'] {
  const { other_custom_fields: copied } = content
  const customer: CustomerView = { ...content.customer, email, individual, organization }
  return {
    ...content,
    customer,
    ...(copied ? { other_custom_fields: copied.filter(({ resource }) => resource.type !== 'CUSTOMER') } : {}),
  }
}

/** Clears who was to be billed from invoices that are VOID or ARCHIVED and were never issued, alone or in a combined one. */
async function clearUnissued(uow: Uow, customer: Customer, previous: Customer | null): Promise<void> {
  if (customer.forgotten_at === null || previous?.forgotten_at) return
  const found = await uow.tx
    .select({ id: invoices.id })
    .from(invoices)
    .where(
      and(
        inThisTenant(uow, invoices),
        eq(invoices.customer_id, customer.id),
        inArray(invoices.status, ['VOID', 'ARCHIVED']),
        isNull(invoices.invoice_number),
        isNull(invoices.combined_into_id),
      ),
    )
    .orderBy(invoices.id)
    .for('update')
  const unissued = await loadInvoices(
    uow,
    found.map(({ id }) => id),
  )
  await saveTogether(
    uow,
    [...unissued.values()].map(row => changed(unchanged(row), uow.now, { content: withoutPerson(row, customer) })),
  )
}

export const INVOICE_EFFECTS = [afterSave(customerResource, clearUnissued)] as const
