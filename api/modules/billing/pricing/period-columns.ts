// What a priced invoice says of the period that it is for.
import { at, type Instant, instantOf, interval } from '../../../../shared/time.ts'
import type { LineValues } from '../../invoices/lines/table.ts'
import { type CouponedCharge, textOfCouponed } from '../charges/couponed-charges.ts'
import { textsOfCutoff } from '../charges/invoices-of-charges.ts'
import { textOfPart } from '../charges/paid-parts.ts'

/** The columns of an invoice that name the period of its subscription. */
export type PeriodColumns = {
  readonly period_start: string
  readonly period_end: string
  readonly advance_only: boolean
  readonly cutoff_at: string
  readonly usage_from: string | null
}

/**
 * The keys of the charges that lines of an invoice bill in advance, and which of them are for a part of their period or do not begin at its
 * cutoff, and what coupons left of them.
 */
export const advanceChargesIn = (lines: readonly LineValues[], cutoffAt: Instant): string[] =>
  lines.flatMap(({ source, service_start: start, service_end: end }) => {
    if (source['in_advance'] !== true) return []
    const key = String(source['key'])
    const [periodEnd, paused] = [source['period_end'], source['paused']] as [Part['period_end'], Part['paused']]
    const counted = source['counted'] as CouponedCharge['counted'] | undefined
    const cutoffs = start === null ? [] : textsOfCutoff({ key, start: at(start) }, cutoffAt)
    const keys = [key, ...(counted ? [textOfCouponed({ key, counted })] : []), ...cutoffs]
    const isPart = start !== null && end !== null && (periodEnd != null || paused != null)
    if (!isPart) return keys
    return [
      ...keys,
      textOfLine({ key, start: at(start), end: at(end), period_end: periodEnd ?? null, paused: paused ?? null }),
    ]
  })

/** What a line that bills a part of a period in advance stores of it; times are epoch milliseconds. */
export type Part = {
  readonly key: string
  readonly start: number
  readonly end: number
  readonly period_end: number | null
  readonly paused: readonly (readonly [number, number])[] | null
}

/** The text of a part among the keys of charges. */
export const textOfLine = ({ key, start, end, period_end, paused }: Part): string =>
  textOfPart({
    key,
    service: interval(instantOf(start), instantOf(end)),
    periodEnd: instantOf(period_end ?? end),
    paused: (paused ?? []).map(([from, until]) => interval(instantOf(from), instantOf(until))),
  })
