// What discounts of an amount took off on other invoices: such a discount is deducted once for a period, also where a fee ahead
// and usage afterwards are on two invoices. Pure.
import type { AmountType, RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import type { ClauseLevel, Discount } from '../../../../shared/billing/steps/clauses.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { at, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import type { LineValues } from '../../invoices/lines/table.ts'
import { partsIn } from '../charges/paid-parts.ts'
import { type RefundedCharge, refundedDiscount } from './refunded-charges.ts'

/** What a line of type DISCOUNT took off charges of one period. */
export type Deducted = {
  readonly invoiceId: string
  /** The clause of a schedule that made the line. */
  readonly clause: string
  /** Epoch milliseconds, `[start, end)`. */
  readonly service: readonly [number, number]
  /** Without and with tax, above zero. */
  readonly net: string
  readonly gross: string
  /** What the charges have in common, by the level of a clause; null where they differ. */
  readonly of: Readonly<Record<ClauseLevel, string | null>>
}

/** The members of a line by which it is known. */
export type DeductingLine = Pick<
  LineValues,
  | 'kind'
  | 'source'
  | 'service_start'
  | 'service_end'
  | 'amount_excluding_tax'
  | 'amount_including_tax'
  | 'pricing_item_config_id'
  | 'pricing_item_id'
  | 'pricing_id'
  | 'product_item_id'
  | 'product_id'
  | 'product_category_id'
>

/** What discounts on prices took off, by the lines of an invoice. */
export const deductedIn = (invoiceId: string, lines: readonly DeductingLine[]): Deducted[] =>
  lines.flatMap(line => {
    const { kind, source, service_start: start, service_end: end } = line
    if (kind !== 'DISCOUNT' || source['step'] !== 'DISCOUNT' || start === null || end === null) return []
    return [
      {
        invoiceId,
        clause: String(source['clause']),
        service: [at(start), at(end)] as const,
        net: positive(line.amount_excluding_tax),
        gross: positive(line.amount_including_tax),
        of: {
          CONFIG: line.pricing_item_config_id,
          ITEM: line.pricing_item_id,
          PRICING: line.pricing_id,
          PRODUCT_ITEM: line.product_item_id,
          PRODUCT: line.product_id,
          CATEGORY: line.product_category_id,
        },
      },
    ]
  })

const positive = (text: string): string => plain(decimal(text).neg())

type Of = {
  readonly amountType: AmountType
  readonly currency: string
  readonly rounding: RoundingMode
  /** What the refunds on this invoice give back. */
  readonly givenBack: readonly RefundedCharge[]
  /** The keys of what other invoices charge ahead. */
  readonly billed: ReadonlySet<string>
}

/**
 * The discounts, each with what other invoices deducted by it, less what refunds give back of that. A clause that is another one by
 * now took nothing.
 */
export const withTaken = (
  discounts: readonly Discount[],
  deducted: readonly Deducted[],
  { amountType, givenBack, billed, ...rounded }: Of,
): readonly Discount[] =>
  deducted.length === 0
    ? discounts
    : discounts.map(discount => {
        const { id, of, value } = discount
        if (of === null || value.kind !== 'AMOUNT') return discount
        const own = deducted.filter(
          each => each.clause === id && (each.of[of.level] === null || of.ids.includes(each.of[of.level] ?? '')),
        )
        const taken = own.map(by => {
          const quantity = decimal(amountType === 'INCLUDING_TAX' ? by.gross : by.net)
          return {
            time: timeOf(by, billed),
            amount: quantity.minus(refundedDiscount({ quantity, by, beside: own }, discount, givenBack, rounded)),
          }
        })
        return taken.length === 0 ? discount : { ...discount, taken }
      })

/** The time of what a discount took off, to the end of the period where charges of a part of it were what it lowered. */
function timeOf({ service: [start, end] }: Deducted, billed: ReadonlySet<string>): Interval {
  const part = [...partsIn(billed).values()].find(({ service }) => service.start === start && service.end === end)
  return interval(instantOf(start), part?.periodEnd ?? instantOf(end))
}
