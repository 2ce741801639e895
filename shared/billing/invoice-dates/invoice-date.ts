// Which date an invoice has (semantics 5.2).
import type { Instant, Interval } from '../../time.ts'
import { addDays, type LocalDate, lastLocalDay, localDateOf, type Zone } from '../local-days.ts'

export const INVOICE_DATE_TYPES = [
  'AT_END_OF_BILLING_PERIOD',
  'AFTER_END_OF_BILLING_PERIOD',
  'WHEN_INVOICE_GOES_TO_FINAL',
] as const
export type InvoiceDateType = (typeof INVOICE_DATE_TYPES)[number]

export type InvoiceDateInput = {
  readonly type: InvoiceDateType
  /** The billing period in arrears; for an invoice with only advance charges, the period they pay for. */
  readonly period: Interval
  readonly onlyAdvanceCharges: boolean
  readonly finalizedAt: Instant
  readonly zone: Zone
}

/**
 * The invoice date: the last day of the period, the day after it, or the day of finalization, which also applies to a
 * subscription that starts later. An invoice with only advance charges is dated at the start of its period.
 */
export function invoiceDate({ type, period, onlyAdvanceCharges, finalizedAt, zone }: InvoiceDateInput): LocalDate {
  if (type === 'WHEN_INVOICE_GOES_TO_FINAL') return localDateOf(finalizedAt, zone)
  if (onlyAdvanceCharges) return localDateOf(period.start, zone)
  const last = lastLocalDay(period, zone)
  return type === 'AT_END_OF_BILLING_PERIOD' ? last : addDays(last, 1)
}

/** The day the service was complete: the last day of the service period. */
export const deliveryDate = (service: Interval, zone: Zone): LocalDate => lastLocalDay(service, zone)
