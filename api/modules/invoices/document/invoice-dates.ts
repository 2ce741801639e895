// The dates of an invoice (semantics 5.2), as instants: the start of the local day.
import {
  DUE_DATE_TYPES,
  type DueDateConfiguration,
  dueDate,
} from '../../../../shared/billing/invoice-dates/due-date.ts'
import {
  deliveryDate,
  INVOICE_DATE_TYPES,
  type InvoiceDateType,
  invoiceDate,
} from '../../../../shared/billing/invoice-dates/invoice-date.ts'
import {
  type LocalDate,
  localDateOf,
  startOfLocalDay,
  type Zone,
  zoneOf,
} from '../../../../shared/billing/local-days.ts'
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import { formatInstant, type Instant, type Interval } from '../../../../shared/time.ts'
import type { InvoicingSettings } from './parties.ts'

export type InvoiceDates = {
  /**
   * The local date of the invoice, which selects the tax rates. The day of the cutoff while the final date is not
   * known.
   */
  readonly day: LocalDate
  /** Null until FINAL when the date is the day of finalization. */
  readonly invoiceDate: string | null
  readonly dueDate: string | null
  readonly deliveryDate: string
}

export type DatesOf = {
  readonly settings: InvoicingSettings
  readonly zone: Zone
  /** As stored with a subscription. */
  readonly due: { readonly type: string; readonly period?: PeriodLength | null }
  /** The time the invoice is for. */
  readonly service: Interval
  readonly cutoffAt: Instant
  /** Everything is paid ahead, or was and is refunded, so it is dated at the start of what that pays for. */
  readonly onlyAdvance: boolean
  /** Null until the invoice becomes FINAL. */
  readonly finalizedAt: Instant | null
}

/** The zone by which a stored invoice is dated. */
export function zoneNamed(name: string): Zone {
  const zone = zoneOf(name)
  if (zone === null) throw new Error(`an invoice has a zone, and ${name} is none`)
  return zone
}

export function invoiceDates(of: DatesOf): InvoiceDates {
  const { zone, service, cutoffAt, onlyAdvance } = of
  const type = dateTypeOf(of.settings)
  const instant = (day: LocalDate): string => formatInstant(startOfLocalDay(day, zone))
  const delivered = instant(deliveryDate(service, zone))
  if (type === 'WHEN_INVOICE_GOES_TO_FINAL' && of.finalizedAt === null) {
    return { day: localDateOf(cutoffAt, zone), invoiceDate: null, dueDate: null, deliveryDate: delivered }
  }
  const finalizedAt = of.finalizedAt ?? cutoffAt
  const day = invoiceDate({ type, period: service, onlyAdvanceCharges: onlyAdvance, finalizedAt, zone })
  return {
    day,
    invoiceDate: instant(day),
    dueDate: instant(dueDate(dueConfigurationOf(of.due), day)),
    deliveryDate: delivered,
  }
}

function dateTypeOf({ invoice_settings }: InvoicingSettings): InvoiceDateType {
  const given = invoice_settings.invoice_date_determination_type
  return INVOICE_DATE_TYPES.find(type => type === given) ?? 'AT_END_OF_BILLING_PERIOD'
}

function dueConfigurationOf({ type, period }: DatesOf['due']): DueDateConfiguration {
  return { type: DUE_DATE_TYPES.find(known => known === type) ?? 'PERIOD_AFTER_INVOICE_DATE', period: period ?? null }
}
