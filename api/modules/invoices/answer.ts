// What a call about one invoice answers: the same whether it reads the invoice or changes it.
import { type Database, type ReadUow, readTenant } from '../../../shared/database/database.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { linksOf } from './credits/linked-invoices.ts'
import { getInvoice } from './repository.ts'
import type { InvoiceView } from './schema.ts'
import type { InvoiceRow } from './table.ts'
import { invoiceView, WHOLE_INVOICE } from './view.ts'

/** The whole invoice, with the documents that it belongs with. */
export const wholeInvoice = async (uow: ReadUow, row: InvoiceRow): Promise<InvoiceView> =>
  invoiceView(row, WHOLE_INVOICE, await linksOf(uow, row))

/** The same of what was saved in transactions of its own, as it is stored now. */
export const answerOf = (
  of: { readonly database: Database; readonly tenant: Tenant },
  { id }: { readonly id: string },
) => readTenant(of.database, of.tenant, async uow => wholeInvoice(uow, await getInvoice(uow, id)))
