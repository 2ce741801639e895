// POST …/refresh: computes an invoice that is not FINAL from its current parties, prices and usage.
import { type Actor, readTenant } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { type InvoiceDeps, producerOf, storedColumns } from '../producer.ts'
import { getInvoice, lockInvoice } from '../repository.ts'
import type { InvoiceRow } from '../table.ts'
import { change, invalidMove } from './invoice-change.ts'

/**
 * How long a refresh waits for usage just sent. It does not guarantee that all of it is counted; a later refresh counts
 * the rest.
 */
const SETTLE_MS = 2_000

/** Every kind of refresh computes the whole invoice, so an OPEN or DRAFT invoice never keeps an outdated figure. */
export async function refreshInvoice(
  deps: InvoiceDeps,
  tenant: Tenant,
  actor: Actor,
  id: Id<'invo'>,
): Promise<InvoiceRow> {
  const found = await readTenant(deps.database, tenant, uow => getInvoice(uow, id))
  checkOpen(found)
  const producer = producerOf(deps, found)
  await producer.settle(SETTLE_MS)
  return await producer.recompute({ tenant, actor, row: found, mayClose: false }, async (uow, current) => {
    const row = await lockInvoice(uow, id)
    checkOpen(row)
    if (!current) throw invalidMove(row, 'The subscription no longer has the period of this invoice.', 'types')
    const computed = current.compute(null)
    return await change(uow, row, storedColumns(computed), computed.lines)
  })
}

function checkOpen(row: InvoiceRow): void {
  if (row.status !== 'OPEN' && row.status !== 'DRAFT')
    throw invalidMove(row, `An invoice that is ${row.status} cannot be refreshed.`, 'types')
}
