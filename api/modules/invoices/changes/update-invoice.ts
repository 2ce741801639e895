// PATCH of an invoice: hold and release, FINAL by hand, paid or unpaid (contract: States and transitions).
import { type Actor, inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { checkActions, type FieldActions } from '../../../resource/changes/field-actions.ts'
import type { GivenCustomField } from '../../../resource/custom-fields/schema.ts'
import type { GivenFields } from '../../../resource/custom-fields/values.ts'
import { CUSTOM_FIELDS } from '../../../resource/define-resource.ts'
import { loadInvoicingSettings } from '../document/load-parties.ts'
import { type InvoiceDeps, type InvoiceProducer, producerOf } from '../producer.ts'
import { getInvoice, lockInvoice } from '../repository.ts'
import type { InvoiceRow } from '../table.ts'
import { finalizeInvoice } from './finalize-invoice.ts'
import { graceEnd } from './grace.ts'
import { change, invalidMove } from './invoice-change.ts'
import { checkPayable, markPaid, type PaymentMark } from './pay-invoice.ts'
import { setCustomFields } from './set-custom-fields.ts'
import { checkNotes, setNotes } from './set-notes.ts'
import { voidInvoice } from './void-invoice.ts'

export type InvoicePatch = {
  readonly status?: 'FINAL' | 'VOID'
  readonly notes?: readonly string[] | null
  readonly on_hold?: boolean
  readonly payment_status?: 'UNPAID' | 'PAID' | 'PARTIALLY_PAID' | 'OVERPAID'
  readonly paid?: boolean
  readonly custom_fields?: readonly GivenCustomField[] | null
}

type Payment = PaymentMark | null

/** Applies a PATCH. Everything is validated before any part of it is applied. */
export async function updateInvoice(
  deps: InvoiceDeps,
  of: { readonly tenant: Tenant; readonly actor: Actor; readonly id: Id<'invo'>; readonly actions?: FieldActions },
  patch: InvoicePatch,
): Promise<InvoiceRow> {
  const { tenant, actor, id } = of
  if (patch.status === 'VOID') {
    const other = Object.keys(patch).find(name => name !== 'status')
    if (other !== undefined)
      throw new AppError(
        'INVALID_FIELD',
        'An invoice that becomes VOID accepts no other change in the same request; send status alone.',
        {
          field: other,
        },
      )
    return await voidInvoice(deps, { tenant, actor, id })
  }
  const payment = paymentOf(patch)
  const found = await readTenant(deps.database, tenant, uow => getInvoice(uow, id))
  if (patch.status === 'FINAL' && patch.on_hold === true)
    throw invalidMove(found, 'An invoice on hold is not FINAL; send one of the two.', 'on_hold')
  if (payment !== null && patch.status !== 'FINAL') checkPayable(found)
  if (patch.notes !== undefined) checkNotes(found)
  const fields = fieldsOf(patch, of.actions ?? {})
  let row = found
  let left = fields
  if (patch.status === 'FINAL' && found.status !== 'FINAL') {
    // Saved with the invoice, so that it does not become FINAL without them.
    row = await finalizeInvoice(deps, { tenant, actor, id }, { fields, notes: patch.notes })
    left = null
  }
  const notes = patch.status === 'FINAL' ? undefined : patch.notes
  if (patch.on_hold === undefined && payment === null && left === null && notes === undefined) return row
  const producer = producerOf(deps, found)
  return await inTenant(deps.database, tenant, actor, async uow => {
    await producer.lock(uow, found)
    let locked = await setNotes(uow, await setCustomFields(uow, await lockInvoice(uow, id), left), notes)
    if (patch.on_hold !== undefined) locked = await hold(uow, producer, { row: locked, onHold: patch.on_hold })
    return payment === null ? locked : await markPaid(uow, locked, payment)
  })
}

/**
 * The custom fields in the patch; null for none. Throws MISSING_FIELD or INVALID_FIELD for an action that does not
 * apply to its field.
 */
function fieldsOf(patch: InvoicePatch, actions: FieldActions): GivenFields | null {
  checkActions(patch, actions)
  const { custom_fields } = patch
  const action = actions[CUSTOM_FIELDS]
  if (custom_fields === undefined && action === undefined) return null
  return { given: custom_fields === undefined ? undefined : (custom_fields ?? []), action }
}

/** The payment status in the patch. `paid` and `payment_status` are two names for one thing and must agree. */
function paymentOf({ payment_status, paid }: InvoicePatch): Payment {
  if (payment_status === 'PARTIALLY_PAID' || payment_status === 'OVERPAID') {
    throw new AppError(
      'INVALID_FIELD',
      `${payment_status} follows from what is paid and cannot be set; only PAID and UNPAID can.`,
      {
        field: 'payment_status',
      },
    )
  }
  if (payment_status !== undefined && paid !== undefined && (payment_status === 'PAID') !== paid) {
    throw new AppError('INVALID_FIELD', `paid ${paid} does not agree with payment_status ${payment_status}.`, {
      field: 'paid',
    })
  }
  if (payment_status !== undefined) return payment_status
  return paid === undefined ? null : paid ? 'PAID' : 'UNPAID'
}

/** A release restarts the grace period (semantics 5.1). */
async function hold(
  uow: Uow,
  producer: InvoiceProducer,
  { row, onHold }: { readonly row: InvoiceRow; readonly onHold: boolean },
): Promise<InvoiceRow> {
  if (row.on_hold === onHold) return row
  if (row.status !== 'OPEN' && row.status !== 'DRAFT')
    throw invalidMove(row, `An invoice that is ${row.status} cannot be put on hold.`, 'on_hold')
  const settings = await loadInvoicingSettings(uow)
  const finalizeAt =
    !onHold && row.status === 'DRAFT' && producer.finalizesByItself ? formatInstant(graceEnd(settings, uow.now)) : null
  if (!onHold) await producer.released(uow, row)
  return await change(uow, row, { on_hold: onHold, finalize_at: finalizeAt })
}
