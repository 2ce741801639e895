// Invoices that are not to be issued: VOID while not FINAL, and ARCHIVED to remove them from view (semantics 5.1).
import { type Actor, inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { type InvoiceDeps, producerOf } from '../producer.ts'
import { getInvoice, lockInvoice } from '../repository.ts'
import { type InvoiceRow, isOpenEnded } from '../table.ts'
import { change, invalidMove } from './invoice-change.ts'

type Of = { readonly tenant: Tenant; readonly actor: Actor; readonly id: Id<'invo'> }

/**
 * Makes an OPEN or DRAFT invoice VOID: it gets no number, and no other invoice bills its period. A VOID invoice stays
 * as it is. Throws INVALID_OPERATION for an invoice that is FINAL or ARCHIVED; of this and a concurrent finalization,
 * only one succeeds.
 */
export const voidInvoice = (deps: InvoiceDeps, of: Of): Promise<InvoiceRow> =>
  locked(deps, of, async (uow, row) => {
    if (row.status === 'VOID') return row
    if (row.status === 'FINAL')
      throw invalidMove(row, 'A FINAL invoice cannot become VOID. Credit it: POST /v1/invoices/{id}/credit.')
    if (!isOpenEnded(row)) throw invalidMove(row, `An invoice that is ${row.status} cannot become VOID.`)
    const voided = await change(uow, row, { status: 'VOID', on_hold: false, finalize_at: null })
    await producerOf(deps, voided).closed?.(uow, voided)
    return voided
  })

/**
 * Archives a VOID invoice, or a DRAFT that belongs to no period of a subscription. An ARCHIVED invoice stays as it is.
 * Throws INVALID_OPERATION for any other.
 */
export const archiveInvoice = (deps: InvoiceDeps, of: Of): Promise<InvoiceRow> =>
  locked(deps, of, async (uow, row) => {
    if (row.status === 'ARCHIVED') return row
    const isLoose = row.status === 'DRAFT' && row.period_start === null
    if (row.status !== 'VOID' && !isLoose) {
      const message = `Only a VOID invoice, or a DRAFT without a billing period, can be archived. This one is ${row.status}.`
      throw invalidMove(row, isOpenEnded(row) ? `${message} Make it VOID first: POST /v1/invoices/{id}/void.` : message)
    }
    return await change(uow, row, { status: 'ARCHIVED', on_hold: false, finalize_at: null })
  })

/** Locks the subscription or original of the invoice before the invoice, as everywhere. */
async function locked<T>(
  deps: InvoiceDeps,
  { tenant, actor, id }: Of,
  work: (uow: Uow, row: InvoiceRow) => Promise<T>,
): Promise<T> {
  const found = await readTenant(deps.database, tenant, uow => getInvoice(uow, id))
  return await inTenant(deps.database, tenant, actor, async uow => {
    await producerOf(deps, found).lock(uow, found)
    return await work(uow, await lockInvoice(uow, id))
  })
}
