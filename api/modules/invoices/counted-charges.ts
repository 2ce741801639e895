// What of the charges of an invoice is kept when it is closed: what was rated, what is asked for it, and whose it is. Pure.
import type { AmountType, InvoiceAmounts } from '../../../shared/billing/amount-pipeline.ts'
import { toldAt } from '../../../shared/billing/told-state.ts'
import { type Decimal, plain, ZERO } from '../../../shared/decimal.ts'
import type { Interval } from '../../../shared/time.ts'
import type { Charge } from './charges.ts'
import type { ClosedCharge, ClosedPart } from './closed-usage.ts'
import type { CustomerPart, PartsOfCharges } from './customer-parts.ts'
import type { RatedCharge } from './rate-charge.ts'

/** By charge, what its line says; nothing for what has no line. */
type Printed = (charge: Charge) => Decimal

/** What the lines of an invoice say. */
export function printedAmounts(amounts: InvoiceAmounts, amountType: AmountType): Printed {
  const lines = new Map(amounts.lines.map(line => [line.key, line]))
  return ({ key }) => {
    const line = lines.get(key)
    const printed = amountType === 'INCLUDING_TAX' ? line?.amountIncludingTax : line?.amountExcludingTax
    return printed?.quantity ?? ZERO
  }
}

/** What is kept of the metered charges when the invoice is closed; also of those that came to nothing. */
export function countedCharges(
  rated: readonly RatedCharge[],
  printed: Printed,
  parts: PartsOfCharges | null,
): ClosedCharge[] {
  return rated.flatMap(({ charge, rated: { volume }, exact }): ClosedCharge[] => {
    const { schedule, item, config, productItem, service, usage } = charge
    if (!usage) return []
    return [
      {
        unit: charge.unit,
        schedule_id: schedule.id,
        item_id: item.id,
        config_id: config.id,
        product_item_id: productItem.id,
        pricing_type: config.pricing_type,
        billing_period: { ...charge.billingPeriod },
        service: [service.start, service.end],
        usage: [usage.start, usage.end],
        number: plain(volume.quantity),
        count: plain(volume.count),
        exact: plain(exact),
        printed: plain(printed(charge)),
        ...toldIn(charge, usage),
        ...(parts ? { parts: (parts.get(charge.key) ?? []).map(closedPart) } : {}),
      },
    ]
  })
}

function toldIn({ told }: Charge, usage: Interval): Pick<ClosedCharge, 'told'> {
  const state = toldAt(told, usage)
  return state ? { told: { id: state.id, usage: plain(state.usage) } } : {}
}

const closedPart = ({ customerId, volume, exact, printed }: CustomerPart): ClosedPart => ({
  customer_id: customerId,
  number: plain(volume.quantity),
  count: plain(volume.count),
  exact: plain(exact),
  printed: plain(printed),
})
