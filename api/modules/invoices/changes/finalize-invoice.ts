// PATCH status FINAL: finalizes a DRAFT by hand, at any time after its period has ended.
import type { Actor } from '../../../../shared/database/database.ts'
import { readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { GivenFields } from '../../../resource/custom-fields/values.ts'
import { type InvoiceDeps, producerOf } from '../producer.ts'
import { getInvoice, lockInvoice } from '../repository.ts'
import type { InvoiceRow } from '../table.ts'
import { engineOf, withTaxAnswers } from '../tax/answers/with-answers.ts'
import { makeFinal } from './finalize.ts'
import { invalidMove } from './invoice-change.ts'
import { setCustomFields } from './set-custom-fields.ts'
import { setNotes } from './set-notes.ts'

/** What is saved in the same transaction, so that the invoice does not become FINAL without it. */
export type SavedWith = { readonly fields?: GivenFields | null; readonly notes?: readonly string[] | null | undefined }

const SETTLE_MS = 10_000
const RETRY_AFTER_S = 5

/**
 * Makes the invoice FINAL, and saves custom fields and notes with it. An invoice that is already FINAL changes only in
 * those, so concurrent calls give one number. Waits until all usage accepted so far is counted: SERVICE_UNAVAILABLE
 * when that takes too long, or when the tax engine does not say what tax applies. Throws INVALID_OPERATION for an invoice that is VOID or ARCHIVED, or whose period has not
 * ended.
 */
export const finalizeInvoice = (deps: InvoiceDeps, of: Finalizing, saved: SavedWith = {}): Promise<InvoiceRow> =>
  withTaxAnswers(engineOf(deps), of.tenant, () => finalizeNow(deps, of, saved))

type Finalizing = { readonly tenant: Tenant; readonly actor: Actor; readonly id: Id<'invo'> }

async function finalizeNow(
  deps: InvoiceDeps,
  { tenant, actor, id }: Finalizing,
  { fields = null, notes }: SavedWith,
): Promise<InvoiceRow> {
  const found = await readTenant(deps.database, tenant, uow => getInvoice(uow, id))
  if (found.status === 'FINAL' && fields === null) return found
  const producer = producerOf(deps, found)
  if (!(await producer.settle(SETTLE_MS))) {
    throw new AppError(
      'SERVICE_UNAVAILABLE',
      'Usage that was accepted is still being counted; send the request again.',
      {
        retryAfterSeconds: RETRY_AFTER_S,
      },
    )
  }
  const issued = await producer.recompute({ tenant, actor, row: found, mayClose: true }, async (uow, current) => {
    const row = await lockInvoice(uow, id)
    if (row.status === 'FINAL') return await setNotes(uow, await setCustomFields(uow, row, fields), notes)
    if (row.status === 'VOID' || row.status === 'ARCHIVED')
      throw invalidMove(row, `An invoice that is ${row.status} cannot become FINAL.`)
    if (!current) throw invalidMove(row, 'The subscription no longer has the period of this invoice.')
    if (current.cutoffAt > uow.now)
      throw invalidMove(row, 'The period of this invoice has not ended; it cannot become FINAL yet.')
    const changed = await setNotes(uow, await setCustomFields(uow, row, fields), notes)
    const saved = await makeFinal(uow, changed, current, deps.failpoint)
    await producer.closed?.(uow, saved)
    await deps.failpoint?.('invoices.before-commit')
    return saved
  })
  await deps.failpoint?.('invoices.after-commit')
  return issued
}
