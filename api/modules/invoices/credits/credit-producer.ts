// The producer of credit notes. What a note credits is fixed when it is created; the names it shows, and its date, are
// fixed when it is FINAL.
import { localDateOf, startOfLocalDay } from '../../../../shared/billing/local-days.ts'
import { type Database, inTenant, type Uow } from '../../../../shared/database/database.ts'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import type { Id } from '../../../../shared/ids.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { settle } from '../changes/pay-invoice.ts'
import { loadBillingEntity, loadCustomer, loadInvoicingSettings } from '../document/load-parties.ts'
import { zoneOfParties } from '../document/parties.ts'
import { linesOfInvoice } from '../lines/store-lines.ts'
import type { ComputedInvoice, InvoiceProducer, Recomputation } from '../producer.ts'
import { lockInvoice } from '../repository.ts'
import type { InvoiceContent } from '../schema.ts'
import { walletPaidAmount } from '../settlement/settlement.ts'
import type { InvoiceRow } from '../table.ts'
import { creditsOf, lockOriginal } from './linked-invoices.ts'
import type { CreditTerms } from './schema.ts'

/** Its name, as stored with the credit notes it makes. */
export const CREDIT_BILLING = 'CREDIT'

/** The producer of credit notes. They become FINAL only when a user requests it. */
export const creditProducer = (database: Database): InvoiceProducer => ({
  name: CREDIT_BILLING,
  finalizesByItself: false,
  settle: async () => true,
  lock: async (uow, row) => void (await lockOriginal(uow, row)),
  recompute: ({ tenant, actor, row, prepare }, save) =>
    inTenant(database, tenant, actor, async uow => {
      await lockOriginal(uow, row)
      await prepare?.(uow)
      return await save(uow, await recomputeCreditNote(uow, row.id))
    }),
  released: async () => {},
})

/** A credit note as it can be saved now. The caller holds the lock of its original. */
export async function recomputeCreditNote(uow: Uow, id: Id<'invo'>): Promise<Recomputation> {
  const row = await lockInvoice(uow, id)
  const { columns, lines, day } = await computed(uow, row)
  return {
    cutoffAt: at(row.created_at),
    compute: finalizedAt => ({
      columns: finalizedAt === null ? columns : { ...columns, invoice_date: day, due_date: day },
      lines,
      inputsHash: '',
      usageCountedUntil: null,
    }),
    close: async closing => {
      const original = await lockOriginal(closing, row)
      const finals = (await creditsOf(closing, original.id)).filter(({ status }) => status === 'FINAL')
      const credited_amount = plain(sum(finals.map(({ amount_including_tax }) => decimal(amount_including_tax).neg())))
      const wallet_amount = plain(walletPaidAmount({ ...original, credited_amount }))
      await settle(closing, original, { credited_amount, wallet_amount })
    },
  }
}

/** The current names and addresses, where the credit note shows them. */
export async function partiesOnCredit(
  uow: Uow,
  row: Pick<InvoiceRow, 'customer_id' | 'billing_entity_id'>,
  { credit_details_source }: Pick<CreditTerms, 'credit_details_source'>,
): Promise<Partial<Pick<InvoiceContent, 'customer' | 'billing_entity'>>> {
  if (credit_details_source === 'ORIGINAL') return {}
  const customer = await loadCustomer(uow, row.customer_id)
  const billingEntity = await loadBillingEntity(uow, row.billing_entity_id)
  return {
    customer: { object_type: 'CUSTOMER', ...customer },
    billing_entity: { object_type: 'BILLING_ENTITY', ...billingEntity },
  }
}

async function computed(
  uow: Uow,
  row: InvoiceRow,
): Promise<Pick<ComputedInvoice, 'columns' | 'lines'> & { day: string }> {
  const zone = zoneOfParties({
    platform: await loadInvoicingSettings(uow),
    customer: { timezone: row.timezone },
    billing_entity: { timezone: null },
  })
  const parties = await partiesOnCredit(uow, row, row.credit ?? { credit_details_source: 'ORIGINAL' })
  const rows = await linesOfInvoice(uow, row.id)
  const lines = rows.map(({ platform_id: _platform, environment: _environment, invoice_id: _invoice, ...line }) => line)
  const { period_start, period_end, advance_only, cutoff_at, usage_from, invoice_date, delivery_date, due_date } = row
  const { billing_currency, timezone, amount_excluding_tax, tax_amount, amount_including_tax, sales_tax_percentage } =
    row
  return {
    columns: {
      ...{ period_start, period_end, advance_only, cutoff_at, usage_from, invoice_date, delivery_date, due_date },
      ...{ billing_currency, timezone, amount_excluding_tax, tax_amount, amount_including_tax, sales_tax_percentage },
      content: { ...row.content, ...parties },
    },
    lines,
    day: formatInstant(startOfLocalDay(localDateOf(uow.now, zone), zone)),
  }
}
