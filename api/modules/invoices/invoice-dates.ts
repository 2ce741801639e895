// The dates of an invoice (semantics 5.2), as instants: the start of the local day.
import { DUE_DATE_TYPES, type DueDateConfiguration, dueDate } from '../../../shared/billing/due-date.ts'
import {
  deliveryDate,
  INVOICE_DATE_TYPES,
  type InvoiceDateType,
  invoiceDate,
} from '../../../shared/billing/invoice-date.ts'
import { type LocalDate, localDateOf, startOfLocalDay } from '../../../shared/billing/periods.ts'
import { formatInstant, type Instant } from '../../../shared/time.ts'
import type { BillingInputs } from './billing-inputs.ts'
import { type InvoiceWindow, periodOf, zoneOfInputs } from './windows.ts'

export type InvoiceDates = {
  /** The local day the invoice carries, whose tax rates hold. The day of the cut while the real one is not known. */
  readonly day: LocalDate
  /** Null until FINAL when the date is the day of finalisation. */
  readonly invoiceDate: string | null
  readonly dueDate: string | null
  readonly deliveryDate: string
}

/** `onlyAdvance`: all the invoice asks is paid ahead, so it is dated at the start of what it pays for. */
export function invoiceDates(
  inputs: BillingInputs,
  window: InvoiceWindow,
  options: { readonly onlyAdvance: boolean; readonly finalisedAt: Instant | null },
): InvoiceDates {
  const zone = zoneOfInputs(inputs)
  const type = dateTypeOf(inputs)
  const onlyAdvance = options.onlyAdvance && window.advance !== null
  const service = onlyAdvance && window.advance ? window.advance : periodOf(window)
  const instant = (day: LocalDate): string => formatInstant(startOfLocalDay(day, zone))
  const delivered = instant(deliveryDate(service, zone))
  if (type === 'WHEN_INVOICE_GOES_TO_FINAL' && options.finalisedAt === null) {
    return { day: localDateOf(window.cutAt, zone), invoiceDate: null, dueDate: null, deliveryDate: delivered }
  }
  const finalisedAt = options.finalisedAt ?? window.cutAt
  const day = invoiceDate({ type, period: service, onlyAdvanceCharges: onlyAdvance, finalisedAt, zone })
  return {
    day,
    invoiceDate: instant(day),
    dueDate: instant(dueDate(dueConfigurationOf(inputs), day)),
    deliveryDate: delivered,
  }
}

function dateTypeOf({ platform }: BillingInputs): InvoiceDateType {
  const given = platform.invoice_settings.invoice_date_determination_type
  return INVOICE_DATE_TYPES.find(type => type === given) ?? 'AT_END_OF_BILLING_PERIOD'
}

function dueConfigurationOf({ subscription }: BillingInputs): DueDateConfiguration {
  const { type, period } = subscription.due_date_configuration
  return { type: DUE_DATE_TYPES.find(known => known === type) ?? 'PERIOD_AFTER_INVOICE_DATE', period: period ?? null }
}
