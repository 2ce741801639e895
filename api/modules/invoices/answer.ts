// The response of every call about one invoice: the same whether it reads or changes the invoice.
import { type Database, type ReadUow, readTenant } from '../../../shared/database/database.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { linksOf } from './credits/linked-invoices.ts'
import { getInvoice } from './repository.ts'
import type { InvoiceView } from './schema.ts'
import type { InvoiceRow } from './table.ts'
import { invoiceView, WHOLE_INVOICE } from './view.ts'

/** The whole invoice, with its linked documents. */
export const wholeInvoice = async (uow: ReadUow, row: InvoiceRow): Promise<InvoiceView> =>
  invoiceView(row, uow.now, WHOLE_INVOICE, await linksOf(uow, row))

/** The same for an invoice that was saved in transactions of its own, as it is stored now. */
export const answerOf = (
  of: { readonly database: Database; readonly tenant: Tenant },
  { id }: { readonly id: string },
) => readTenant(of.database, of.tenant, async uow => wholeInvoice(uow, await getInvoice(uow, id)))
