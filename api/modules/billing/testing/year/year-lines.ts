// Lines in the form in which a year that was billed is compared with the slow model.
import { decimal, plain } from '../../../../../shared/decimal.ts'
import { at } from '../../../../../shared/time.ts'
import { scheduleOfClause } from '../../rating/clauses-of.ts'
import type { Closed } from './bill-year.ts'

/** A line in the form in which both sides are compared: kind, price or coupon, schedule, time and cents. */
export type YearLine = {
  readonly kind: string
  readonly price: string
  readonly phase: string
  readonly start: number
  readonly end: number
  readonly cents: number
}

/** The lines of an invoice that are not zero. */
export const linesOfYear = ({ invoice }: Closed): YearLine[] =>
  invoice.lines.flatMap(line => {
    const cents = Number(plain(decimal(line.amount_excluding_tax).times('100')))
    if (cents === 0) return []
    const phase = line.pricing_plan_schedule_id ?? ''
    const coupon = couponNamed(line.source)
    // It may be of several schedules.
    if (coupon !== null) return [{ kind: 'COUPON', price: coupon, phase: '-', start: 0, end: 0, cents }]
    const clause = clauseNamed(line.source)
    if (clause?.startsWith('commitment.') || clause?.startsWith('discount.totals.'))
      return [
        {
          kind: line.kind,
          price: clause,
          phase: scheduleOfClause(String(line.source['clause'])),
          start: 0,
          end: 0,
          cents,
        },
      ]
    const kind = line.source['refund_of_invoice_id'] === undefined ? line.kind : 'REFUND'
    const start = line.service_start === null ? 0 : at(line.service_start)
    const end = line.service_end === null ? 0 : at(line.service_end)
    return [{ kind, price: clause ?? line.pricing_item_config_id ?? '', phase, start, end, cents }]
  })

/** Where the discount or the minimum of the whole invoice that made a line stands in its schedule; null for any other line. */
export const clauseNamed = ({ clause }: Readonly<Record<string, unknown>>): string | null =>
  /^\S+ (discount\.\w+\.\d+|commitment\.totals\.\d+)$/.exec(String(clause ?? ''))?.[1] ?? null

/** The id of the coupon that made a line; null for any other line. */
export const couponNamed = ({ clause }: Readonly<Record<string, unknown>>): string | null =>
  /^\S+ coupon_discount\.\w+\.(\S+)$/.exec(String(clause ?? ''))?.[1] ?? null
