// A correction is withdrawn as a whole: when its credit note or its new invoice is made VOID or ARCHIVED, so is the
// other, unless that is FINAL already. Its credit note is issued with its new invoice, never alone: otherwise a refund at
// the end of the subscription would miss what the new invoice charges again.
import type { Uow } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { afterSave } from '../../../resource/rules.ts'
import { change, invalidMove } from '../../invoices/changes/invoice-change.ts'
import { lockInvoice } from '../../invoices/repository.ts'
import { INVOICE } from '../../invoices/settlement/funds.ts'
import { isCreditNote } from '../../invoices/settlement/settlement.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { correctionWith, saveCorrection } from '../late/corrected/store-corrections.ts'

const isGone = ({ status }: Pick<InvoiceRow, 'status'>): boolean => status === 'VOID' || status === 'ARCHIVED'

async function withdraw(uow: Uow, row: InvoiceRow, previous: InvoiceRow | null): Promise<void> {
  if (row.original_invoice_id === null || !isGone(row) || previous === null || isGone(previous)) return
  const correction = await correctionWith(uow, row.id)
  if (correction?.status !== 'PREPARED') return
  await saveCorrection(uow, correction, { status: 'WITHDRAWN' })
  const { new_invoice_id, credit_invoice_id } = correction
  const other = await lockInvoice(uow, idOf('invo', row.id === new_invoice_id ? credit_invoice_id : new_invoice_id))
  if (other.status === 'DRAFT') await change(uow, other, { status: 'VOID', on_hold: false, finalize_at: null })
}

async function refuseCreditAlone(uow: Uow, row: InvoiceRow, previous: InvoiceRow | null): Promise<void> {
  if (!isCreditNote(row) || row.status !== 'FINAL' || previous?.status === 'FINAL') return
  const correction = await correctionWith(uow, row.id)
  if (correction?.status !== 'PREPARED') return
  throw invalidMove(
    row,
    `It is the credit note of a correction. Make the new invoice ${correction.new_invoice_id} FINAL, which issues both, or make this one VOID, which withdraws both.`,
  )
}

export const CORRECTION_EFFECTS = [
  afterSave<InvoiceRow>(INVOICE, withdraw),
  afterSave<InvoiceRow>(INVOICE, refuseCreditAlone),
] as const
