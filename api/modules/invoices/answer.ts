// The response of every call about one invoice: the same whether it reads or changes the invoice.
import { type Database, type ReadUow, readTenant } from '../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../shared/decimal.ts'
import type { Id } from '../../../shared/ids.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { creditTypeIdsIn, creditTypesOf } from '../catalog/credit-types/shown-credit-types.ts'
import { meterValuesOf } from '../catalog/meters/shown-meter-values.ts'
import { creditedPeriods, linesOfContent } from './credits/credit-left.ts'
import { creditsOf, linksOf } from './credits/linked-invoices.ts'
import { getInvoice } from './repository.ts'
import { reprocessOf } from './reprocess-of.ts'
import type { InvoiceView } from './schema.ts'
import { acceptorsOf, paymentActions } from './settlement/payment-actions.ts'
import { isCreditNote } from './settlement/settlement.ts'
import type { InvoiceRow } from './table.ts'
import { invoiceView, WHOLE_INVOICE, wholePeriods } from './view.ts'

/** The whole invoice, with its linked documents, how to pay it, and the periods that were credited in full. */
export async function wholeInvoice(uow: ReadUow, row: InvoiceRow): Promise<InvoiceView> {
  const view = invoiceView(row, uow.now, WHOLE_INVOICE, await linksOf(uow, row))
  const acceptors = isCreditNote(row) ? [] : await acceptorsOf(uow, view)
  return {
    ...view,
    payment_acceptor_ids: acceptors.map(({ id }) => id),
    payment_actions: paymentActions(view, acceptors),
    ...(await closedPeriods(uow, row)),
    ...(await creditTypes(uow, row)),
    ...(await meterValues(uow, row)),
    ...(await reprocessOf(uow, row)),
  }
}

async function creditTypes(uow: ReadUow, { content }: InvoiceRow): Promise<Pick<InvoiceView, 'credit_types'>> {
  const [own = []] = await creditTypesOf(uow, [creditTypeIdsIn(content.periods)])
  return own.length === 0 ? {} : { credit_types: own }
}

async function meterValues(uow: ReadUow, { content }: InvoiceRow): Promise<Pick<InvoiceView, 'meter_values'>> {
  const own = await meterValuesOf(uow, new Set(linesOfContent(content).flatMap(line => line.meter_value?.id ?? [])))
  return own.length === 0 ? {} : { meter_values: own }
}

async function closedPeriods(uow: ReadUow, row: InvoiceRow): Promise<Pick<InvoiceView, 'closed_periods'>> {
  if (decimal(row.credited_amount).eq(ZERO)) return {}
  const credits = (await creditsOf(uow, row.id)).filter(({ status }) => status === 'FINAL')
  const closed = creditedPeriods(
    row.content,
    credits.map(({ content }) => content),
  )
  return closed.length === 0 ? {} : { closed_periods: wholePeriods({ ...row.content, periods: closed }) }
}

/** The same for an invoice that was saved in transactions of its own, as it is stored now. */
export const answerOf = (
  of: { readonly database: Database; readonly tenant: Tenant },
  { id }: { readonly id: Id<'invo'> },
) => readTenant(of.database, of.tenant, async uow => wholeInvoice(uow, await getInvoice(uow, id)))
