// The moment an invoice becomes a document: checks, number, dates, and no change after (semantics 5.1, 5.2).
import { documentNumber, nextCounter, renderPrefix } from '../../../shared/billing/numbering.ts'
import { localDateOf } from '../../../shared/billing/periods.ts'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { formatInstant } from '../../../shared/time.ts'
import { emit } from '../../outbox.ts'
import { numberConfigurationOf } from '../platforms/invoice-settings.ts'
import type { BillingInputs } from './billing-inputs.ts'
import type { BuiltInvoice } from './build-invoice.ts'
import { saveClosedUsage } from './closed-usage.ts'
import type { ComputedInvoice } from './compute-invoice.ts'
import { type NewInvoice, saveInvoice, takeNumber } from './repository.ts'
import type { InvoiceRow } from './table.ts'
import { invoiceView } from './view.ts'
import { at, zoneOfInputs } from './windows.ts'

/** What keeps an invoice from going FINAL, as a message; null when nothing does. */
export function finalFault(built: BuiltInvoice): string | null {
  const error = built.content.validation_result.find(result => result.status === 'ERROR')
  return error?.details ?? null
}

/**
 * Makes a locked DRAFT FINAL: takes the next number, freezes what was computed and keeps what it counted. Emits INVOICE.UPDATED and
 * INVOICE.STATUS_TO_FINAL. Throws INVALID_OPERATION when a figure is missing.
 */
export async function makeFinal(
  uow: Uow,
  of: {
    readonly inputs: BillingInputs
    readonly row: InvoiceRow
    readonly computed: ComputedInvoice
    readonly stamp: string
  },
): Promise<InvoiceRow> {
  const { inputs, row, computed, stamp } = of
  const { built, positions, counted } = computed
  if (positions === null) throw new Error('an invoice closes only when it is known what it counts')
  const fault = finalFault(built)
  if (fault !== null)
    throw new AppError('INVALID_OPERATION', `The invoice cannot become FINAL: ${fault}`, { field: 'status' })
  const values: Partial<NewInvoice> = {
    ...built,
    fingerprint: stamp,
    status: 'FINAL',
    on_hold: false,
    finalize_at: null,
    to_be_reprocessed_at: null,
    updated_to_final_at: formatInstant(uow.now),
    invoice_number: await numberOf(uow, inputs, built),
  }
  const saved = await saveInvoice(uow, row.id, values)
  await saveClosedUsage(uow, { inputs, invoiceId: row.id, positions, charges: counted })
  const data = invoiceView(saved)
  await emit(uow, { type: 'INVOICE.UPDATED', objectId: row.id, data, previous: invoiceView(row) })
  await emit(uow, { type: 'INVOICE.STATUS_TO_FINAL', objectId: row.id, data, previous: null })
  return saved
}

async function numberOf(uow: Uow, inputs: BillingInputs, built: BuiltInvoice): Promise<string> {
  if (built.invoice_date === null) throw new Error('a FINAL invoice has a date')
  const configuration = numberConfigurationOf(inputs.platform.invoice_settings.invoice_number_configuration, 'STANDARD')
  const prefix = renderPrefix(configuration, 'STANDARD', {
    date: localDateOf(at(built.invoice_date), zoneOfInputs(inputs)),
    billingEntity: inputs.billing_entity.reference,
    variable: () => null, // custom fields are refused in a prefix until there are any
  })
  if (prefix.kind === 'missing') {
    throw new AppError('INVALID_OPERATION', `The number needs the custom field ${prefix.variable.reference}.`, {
      field: 'invoice_number',
    })
  }
  const counter = await takeNumber(uow, prefix.counterKey, last => nextCounter(configuration, last))
  return documentNumber(configuration, prefix.text, counter)
}
