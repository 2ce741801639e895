// How the new invoice of a correction is computed again and made FINAL. Its credit note becomes FINAL with it, so that
// the same usage is never owed twice.
import { inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import { at } from '../../../../shared/time.ts'
import { inTimeOf } from '../../../test-clock/test-clock.ts'
import { addedLinesOf } from '../../invoices/added-lines/store-added-lines.ts'
import { makeFinal } from '../../invoices/changes/finalize.ts'
import { recomputeCreditNote } from '../../invoices/credits/credit-producer.ts'
import type { InvoiceProducer, Recomputation } from '../../invoices/producer.ts'
import { lockInvoice } from '../../invoices/repository.ts'
import type { Payers } from '../../invoices/settlement/funds.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { lockSubscription } from '../../subscriptions/billing-time/next-billing.ts'
import { closedUsageOf, saveClosedUsage } from '../late/closed-usage.ts'
import { REBILL_BILLING, rebillColumns } from '../late/corrected/rebill.ts'
import { correctionWith, saveCorrection } from '../late/corrected/store-corrections.ts'
import type { Correction } from '../late/corrected/table.ts'
import { billedByLaterInvoices } from '../late/later-invoices.ts'
import { pinnedRequest } from '../pinned/pinned.ts'
import { savePins } from '../pinned/store-pinned.ts'
import { type BillingDeps, countedUntil } from '../run/compute-invoice.ts'
import { payersOf, type RepricedInvoice, repriceInvoice } from './reprice-invoice.ts'

/** The producer of the new invoices of corrections. They become FINAL only when a user requests it. */
export const rebillProducer = (deps: BillingDeps): InvoiceProducer => ({
  name: REBILL_BILLING,
  finalizesByItself: false,
  settle: timeoutMs => deps.usage.settle(timeoutMs),
  lock: async (uow, row) => await lockCorrection(uow, await correctionOf(uow, row.id)),
  recompute: ({ tenant, actor, row, mayClose, prepare }, save) =>
    inTimeOf(deps.database, tenant, [row.customer_id], async () => {
      const correction = await readTenant(deps.database, tenant, uow => correctionOf(uow, row.id))
      const until = await countedUntil(deps)
      const again = await repriceInvoice(deps, tenant, idOf('invo', correction.original_invoice_id))
      return await inTenant(deps.database, tenant, actor, async uow => {
        await lockCorrection(uow, correction)
        await prepare?.(uow)
        const current = await lockInvoice(uow, row.id)
        if (mayClose && current.status === 'DRAFT') await issueCredit(uow, correction)
        const added = await addedLinesOf(uow, row.id, again.inputs.platform)
        // After the credit note is FINAL, if it becomes so: what it gave back is there again.
        const replacedId = idOf('invo', correction.original_invoice_id)
        const payers = await payersOf(uow, again, { replacedId, invoiceId: row.id })
        const value = await save(uow, recomputationOf(current, { correction, again, payers, added, until }))
        await saveCorrection(uow, correction, { positions: again.positions })
        await deps.failpoint?.('invoices.before-commit')
        return value
      })
    }),
  released: async () => {},
})

/** Throws when the invoice is not the new one of a correction. */
async function correctionOf(uow: Parameters<typeof correctionWith>[0], id: string): Promise<Correction> {
  const found = await correctionWith(uow, id)
  if (found?.new_invoice_id !== id) throw new Error(`the invoice ${id} corrects nothing`)
  return found
}

async function lockCorrection(uow: Uow, of: Correction): Promise<void> {
  await lockSubscription(uow, idOf('ppsu', of.pricing_plan_subscription_id))
  await lockInvoice(uow, idOf('invo', of.original_invoice_id))
}

/**
 * Makes the credit note FINAL unless it is. Throws INVALID_OPERATION when a later invoice billed the late usage
 * meanwhile: both together would bill it twice.
 */
async function issueCredit(uow: Uow, of: Correction): Promise<void> {
  const closed = await closedUsageOf(uow, of.pricing_plan_subscription_id)
  if (billedByLaterInvoices(closed).has(of.original_invoice_id)) {
    const message =
      'A later invoice has billed late usage of the invoice that it corrects. Make this one VOID: POST /v1/invoices/{id}/void.'
    throw new AppError('INVALID_OPERATION', message, {
      field: 'status',
      resourceId: of.new_invoice_id,
      resourceType: 'INVOICE',
    })
  }
  const note = await lockInvoice(uow, idOf('invo', of.credit_invoice_id))
  // A credit note that a user made VOID withdrew the correction, and this invoice with it.
  if (note.status !== 'DRAFT') return
  // Before the credit note is saved: alone it is refused.
  await saveCorrection(uow, of, { status: 'ISSUED' })
  await makeFinal(uow, note, await recomputeCreditNote(uow, note.id))
}

type Current = {
  readonly correction: Correction
  readonly again: RepricedInvoice
  readonly payers: Payers
  readonly added: Awaited<ReturnType<typeof addedLinesOf>>
  readonly until: Awaited<ReturnType<typeof countedUntil>>
}

function recomputationOf(row: InvoiceRow, { correction, again, payers, added, until }: Current): Recomputation {
  const { priced, request } = again.price(added, payers)
  return {
    cutoffAt: at(row.created_at),
    compute: finalizedAt => ({
      columns: rebillColumns(priced, finalizedAt),
      lines: priced.lines,
      // What the charges of the original granted stays granted.
      inputsHash: '',
      usageCountedUntil: priced.counted.length > 0 ? until : null,
    }),
    close: async uow => {
      const { inputs, positions } = again
      await saveClosedUsage(uow, [{ inputs, invoiceId: row.id, positions, charges: priced.counted }])
      await savePins(uow, [{ invoiceId: row.id, inputs, request: pinnedRequest(request) }])
      await saveCorrection(uow, correction, { status: 'ISSUED' })
    },
  }
}
