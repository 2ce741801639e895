// The row of an invoice line: what it refers to and its amount, for code that reads lines without documents. Pure.
import { plain } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import type { LineValues } from '../lines/table.ts'
import type { LaidLine } from './lay-out.ts'

/**
 * The row of a line at this position of the invoice. Amounts are those of the line: rounded, or exact when nothing is
 * rounded (semantics 0.5).
 */
export function lineValues({ id, draft, priced }: LaidLine, order: number): LineValues {
  const { of, service } = draft
  return {
    line_id: id,
    line_order: order,
    kind: draft.kind,
    pricing_plan_subscription_id: idOf('ppsu', of.subscriptionId),
    pricing_plan_schedule_id: idOf('ppsc', of.scheduleId),
    product_category_id: idOf('proc', of.categoryId),
    product_id: idOf('prod', of.productId),
    product_item_id: idOf('proi', of.productItemId),
    pricing_id: idOf('prcg', of.pricingId),
    pricing_item_id: idOf('prii', of.pricingItemId),
    pricing_item_config_id: idOf('pico', of.configId),
    service_start: formatInstant(service.start),
    service_end: formatInstant(service.end),
    amount_excluding_tax: plain(priced.amountExcludingTax.quantity),
    tax_amount: plain(priced.taxAmount.quantity),
    amount_including_tax: plain(priced.amountIncludingTax.quantity),
    tax_category: priced.taxCategory,
    source: draft.source,
  }
}
