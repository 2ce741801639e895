// How an invoice shows the customers whose events are in a usage line: one sub line each (semantics 1.3).
import { type Decimal, plain } from '../../../../shared/decimal.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import { customerName, type NamedCustomer } from '../../invoices/document/parties.ts'
import type { CustomerView, MoneyView, SubLineView } from '../../invoices/schema.ts'
import { meterValueView } from '../rating/price-details.ts'
import type { RatedCharge } from '../rating/rate-charge.ts'
import { type BillingInputs, usingCustomer } from '../terms/billing-inputs.ts'
import type { CustomerPart, PartsOfCharges } from './customer-parts.ts'

type Parties = Pick<BillingInputs, 'customer' | 'forwarded_from' | 'sub_line_customers'>

/**
 * One sub line per customer, the subscription's own first, then by id. They sum to the line. `show` writes its printed
 * amounts.
 */
export function customerSubLines(
  { sub_line_customers, ...parties }: Parties,
  { charge }: RatedCharge,
  of: { readonly parts: readonly CustomerPart[]; readonly show: (quantity: Decimal) => MoneyView },
): SubLineView[] {
  // Parts are of the converted amount.
  const currency = charge.billingCurrency
  const names = new Map(sub_line_customers.map(each => [each.id, customerName(each)]))
  const isOwn = (part: CustomerPart): boolean => part.customerId === usingCustomer(parties).id
  const ordered = [...of.parts.filter(isOwn), ...of.parts.filter(part => !isOwn(part))]
  return ordered.map(({ customerId, share, byEvents, volume, before, exact, printed }, index): SubLineView => {
    const meterValue = meterValueView(charge, volume)
    const meterValueBefore = before && meterValueView(charge, before.volume)
    return {
      sub_line_order: index,
      description: names.get(customerId) ?? customerId,
      processing_only_customer_resource_id: customerId,
      processing_only_customer_id: customerId,
      details: {
        amount: of.show(printed),
        pricing_currency: currency,
        pricing_amount: amountView(amount(exact, currency)),
        ...(meterValue ? { meter_value: meterValue } : {}),
        meter_value_share_of_total: plain(share),
        description: `${plain(share)} of the ${byEvents ? 'events' : 'usage'}`,
        ...(before && meterValueBefore
          ? {
              previously_billed: {
                pricing_amount: amountView(amount(before.total, currency)),
                meter_value: meterValueBefore,
              },
            }
          : {}),
      },
    }
  })
}

/** The customers of the sub lines other than the subscription's own, by id. */
export function customersOnLines(
  { sub_line_customers, ...parties }: Parties,
  lines: readonly RatedCharge[],
  parts: PartsOfCharges,
): CustomerView[] {
  const ids = new Set(lines.flatMap(({ charge }) => (parts.get(charge.key) ?? []).map(part => part.customerId)))
  return sub_line_customers.filter(({ id }) => ids.has(id) && id !== usingCustomer(parties).id).map(customerView)
}

const customerView = ({ id, reference, type, individual, organization }: NamedCustomer): CustomerView => ({
  object_type: 'CUSTOMER',
  id,
  reference,
  type,
  individual,
  organization,
})
