// Stores an invoice that has only added lines, new or copied.
import type { Uow } from '../../../../shared/database/database.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { emit } from '../../../outbox.ts'
import type { AddedLine } from '../added-lines/price-added-line.ts'
import { insertAdded, loadSold } from '../added-lines/store-added-lines.ts'
import { insertInvoice } from '../changes/insert-invoice.ts'
import type { Parties } from '../document/parties.ts'
import { type ComputedInvoice, storedColumns } from '../producer.ts'
import { getInvoice } from '../repository.ts'
import { lockFunds } from '../settlement/funds.ts'
import type { InvoiceType } from '../settlement/settlement.ts'
import { type InvoiceRow, UNTOUCHED } from '../table.ts'
import { invoiceView } from '../view.ts'
import type { OneOffParties } from './compute-of-lines.ts'
import { computeOneOff, fundsOfOneOff } from './compute-one-off.ts'
import { ONE_OFF_BILLING } from './one-off-producer.ts'
import type { OneOffTerms } from './schema.ts'

export type NewOneOff = {
  readonly loaded: OneOffParties
  readonly terms: OneOffTerms
  readonly lines: readonly AddedLine[]
  readonly type: InvoiceType
  /** The invoice that it is a copy of. */
  readonly originalId: string | null
  readonly notes: readonly string[]
  readonly onHold: boolean
}

/** Stores a DRAFT with its lines; the caller emits its creation. Throws INVALID_FIELD when a line cannot be billed. */
export async function insertOneOff(uow: Uow, of: NewOneOff): Promise<InvoiceRow> {
  const { loaded, terms, lines } = of
  const sold = await loadSold(
    uow,
    lines.flatMap(({ line }) => line.product_item_id ?? []),
    loaded.parties.platform,
  )
  const whole = lines.map(each => ({ ...each, sold: sold.get(each.line.product_item_id ?? '') ?? null }))
  const funds = await lockFunds(uow, { customerIds: [loaded.parties.customer.id], invoiceIds: [] })
  const payers = funds.payers(fundsOfOneOff({ ...loaded, terms, lines: whole }, null))
  const computed = computeOneOff({ ...loaded, terms, lines: whole, payers, now: uow.now, finalizedAt: null })
  const created = await insertDraft(uow, computed, { ...of, parties: loaded.parties, producer: ONE_OFF_BILLING })
  await insertAdded(uow, created.id, lines)
  return created
}

type NewDraft = Pick<NewOneOff, 'type' | 'originalId' | 'notes' | 'onHold'> & {
  readonly parties: Parties
  readonly producer: string
  /** Null where the producer has them elsewhere. */
  readonly terms: OneOffTerms | null
}

/** Stores the row of a DRAFT that no subscription bills; the caller emits its creation. */
export const insertDraft = (uow: Uow, computed: ComputedInvoice, of: NewDraft): Promise<InvoiceRow> =>
  insertInvoice(
    uow,
    {
      ...UNTOUCHED,
      ...storedColumns(computed),
      holds_period: of.originalId === null,
      own_notes: [...of.notes],
      one_off: of.terms,
      original_invoice_id: idOf('invo', of.originalId),
      invoice_number: null,
      status: 'DRAFT',
      producer: of.producer,
      type: of.type,
      billing_type: 'DEFAULT',
      customer_id: idOf('cust', of.parties.customer.id),
      billing_entity_id: idOf('bill', of.parties.billing_entity.id),
      pricing_plan_subscription_id: null,
      on_hold: of.onHold,
      payment_status: 'UNPAID',
      finalize_at: null,
      updated_to_final_at: null,
      to_be_reprocessed_at: null,
    },
    computed.lines,
  )

/** Emits INVOICE.CREATED for a complete invoice, and returns it. */
export async function announce(uow: Uow, id: Id<'invo'>): Promise<InvoiceRow> {
  const created = await getInvoice(uow, id)
  await emit(uow, { type: 'INVOICE.CREATED', objectId: id, data: invoiceView(created, uow.now), previous: null })
  return created
}
