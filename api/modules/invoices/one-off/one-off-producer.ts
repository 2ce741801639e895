// The producer of one-off invoices, which bill the lines that users add.
import type { Database, Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { addedLinesOf } from '../added-lines/store-added-lines.ts'
import type { InvoiceProducer, Recomputation } from '../producer.ts'
import { lockInvoice } from '../repository.ts'
import { lockFunds, NO_PAYERS } from '../settlement/funds.ts'
import { saveInputs } from '../snapshot/invoice-snapshot.ts'
import { computeOneOff, fundsOfOneOff, loadOneOffParties } from './compute-one-off.ts'
import { plainProducer } from './plain-producer.ts'

/** Its name, as stored with the invoices it makes. */
export const ONE_OFF_BILLING = 'ONE_OFF'

/** The producer of one-off invoices. */
export const oneOffProducer = (database: Database): InvoiceProducer =>
  plainProducer(database, { name: ONE_OFF_BILLING, asItIs: recomputeOneOff })

/** A one-off invoice as it can be saved now. */
export async function recomputeOneOff(uow: Uow, invoiceId: Id<'invo'>): Promise<Recomputation> {
  const row = await lockInvoice(uow, invoiceId)
  const { one_off: terms } = row
  if (terms === null) throw new Error(`the invoice ${row.id} has no terms`)
  const loaded = await loadOneOffParties(uow, {
    customerId: row.customer_id,
    billingEntityId: row.billing_entity_id,
    terms,
  })
  const lines = await addedLinesOf(uow, row.id, loaded.parties.platform)
  const funds = await lockFunds(uow, { customerIds: [row.customer_id], invoiceIds: [row.id] })
  const payers = lines.length === 0 ? NO_PAYERS : funds.payers(fundsOfOneOff({ ...loaded, terms, lines }, row.id))
  const inputsAt = (finalizedAt: Instant | null) => ({ ...loaded, terms, lines, payers, now: uow.now, finalizedAt })
  return {
    cutoffAt: at(row.created_at),
    compute: finalizedAt => computeOneOff(inputsAt(finalizedAt)),
    close: closing => saveInputs(closing, row.id, inputsAt(closing.now)),
  }
}
