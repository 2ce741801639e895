// The moment an invoice becomes a document: checks, number, dates, and no change after (semantics 5.1, 5.2).
import { documentNumber, nextCounter, renderPrefix } from '../../../../shared/billing/numbering.ts'
import { localDateOf, type Zone, zoneOf } from '../../../../shared/billing/periods.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import { numberConfigurationOf } from '../../parties/platforms/invoice-settings.ts'
import { loadNumberFields } from '../../parties/platforms/number-fields.ts'
import { loadInvoicingSettings } from '../document/load-parties.ts'
import type { ComputedInvoice } from '../producer.ts'
import { saveInvoice, takeNumber } from '../repository.ts'
import type { InvoiceColumns, InvoiceRow } from '../table.ts'
import { invoiceView } from '../view.ts'

/** What keeps an invoice from going FINAL, as a message; null when nothing does. */
export function finalFault({ content }: Pick<InvoiceColumns, 'content'>): string | null {
  const error = content.validation_result.find(result => result.status === 'ERROR')
  return error?.details ?? null
}

/**
 * Makes a locked DRAFT FINAL: takes the next number and freezes what was computed. Emits INVOICE.UPDATED and
 * INVOICE.STATUS_TO_FINAL. Throws INVALID_OPERATION when a figure is missing.
 */
export async function makeFinal(uow: Uow, row: InvoiceRow, computed: ComputedInvoice): Promise<InvoiceRow> {
  const { columns, lines, inputsHash } = computed
  const fault = finalFault(columns)
  if (fault !== null)
    throw new AppError('INVALID_OPERATION', `The invoice cannot become FINAL: ${fault}`, { field: 'status' })
  const values = {
    ...columns,
    inputs_hash: inputsHash,
    status: 'FINAL' as const,
    on_hold: false,
    finalize_at: null,
    to_be_reprocessed_at: null,
    updated_to_final_at: formatInstant(uow.now),
    invoice_number: await numberOf(uow, row, columns),
  }
  const saved = await saveInvoice(uow, row.id, values, lines)
  const data = invoiceView(saved)
  await emit(uow, { type: 'INVOICE.UPDATED', objectId: row.id, data, previous: invoiceView(row) })
  await emit(uow, { type: 'INVOICE.STATUS_TO_FINAL', objectId: row.id, data, previous: null })
  return saved
}

async function numberOf(
  uow: Uow,
  { customer_id: customerId, billing_entity_id: billingEntityId }: InvoiceRow,
  { invoice_date, timezone, content }: InvoiceColumns,
): Promise<string> {
  if (invoice_date === null) throw new Error('a FINAL invoice has a date')
  const settings = await loadInvoicingSettings(uow)
  const configuration = numberConfigurationOf(settings.invoice_settings.invoice_number_configuration, 'STANDARD')
  const fields = await loadNumberFields(uow, settings.invoice_settings, { customerId, billingEntityId })
  const prefix = renderPrefix(configuration, 'STANDARD', {
    date: localDateOf(at(invoice_date), zoneNamed(timezone)),
    billingEntity: referenceOf(content.billing_entity),
    variable: ({ owner, reference }) =>
      fields.find(field => field.owner === owner && field.reference === reference)?.value ?? null,
  })
  if (prefix.kind === 'missing') {
    throw new AppError('INVALID_OPERATION', `The number needs the custom field ${prefix.variable.reference}.`, {
      field: 'invoice_number',
    })
  }
  const counter = await takeNumber(uow, prefix.counterKey, last => nextCounter(configuration, last))
  return documentNumber(configuration, prefix.text, counter)
}

function referenceOf(entity: Readonly<Record<string, unknown>>): string {
  const { reference } = entity
  if (typeof reference !== 'string') throw new Error('an invoice names its billing entity')
  return reference
}

function zoneNamed(name: string): Zone {
  const zone = zoneOf(name)
  if (zone === null) throw new Error(`an invoice has a zone, and ${name} is none`)
  return zone
}
