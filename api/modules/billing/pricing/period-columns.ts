// What a priced invoice says of the period that it is for.
import type { LineValues } from '../../invoices/lines/table.ts'

/** The columns of an invoice that name the period of its subscription. */
export type PeriodColumns = {
  readonly period_start: string
  readonly period_end: string
  readonly advance_only: boolean
  readonly cutoff_at: string
  readonly usage_from: string | null
}

/** The keys of the charges that lines bill in advance. */
export const advanceChargesIn = (lines: readonly LineValues[]): string[] =>
  lines.flatMap(({ source }) => (source['in_advance'] === true ? [String(source['key'])] : []))
