// Refunds as lines of an invoice, besides its charges. Pure.
import { plain } from '../../../../shared/decimal.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import type { DraftLine } from '../../invoices/document/draft-invoice.ts'
import { roundingOf } from '../../invoices/document/parties.ts'
import { groupOf, productItemView, scopeOf } from '../rating/draft-line.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { billingZoneOf } from '../terms/windows.ts'
import { chargedDays, type Refund, refundOf } from './refunds.ts'

/** What billing stores with the line of a refund. */
type RefundSource = { readonly key: string; readonly in_advance: false; readonly refund_of_invoice_id: string }

/** A negative line for each refund. A refund of a price that no longer exists is a programming error. */
export const refundLines = (
  inputs: BillingInputs,
  terms: readonly PriceTerm[],
  refunds: readonly Refund[],
): DraftLine[] => refunds.map(refund => refundLine(inputs, refundedTerm(terms, refund), refund))

/**
 * The price whose charge is refunded; for a minimum, the first price that it covers. Where the schedule ended before that was sold, as an
 * ADDON or a version of a rate card that had been charged ahead, it is another price of the same item, of the schedule or of the subscription.
 */
export function refundedTerm(terms: readonly PriceTerm[], { charged }: Refund): PriceTerm {
  const isOf = (id: string | null, other: string): boolean => id === null || id === other
  const own = terms.filter(({ schedule }) => schedule.id === charged.scheduleId)
  const ofItem = own.filter(({ productItem }) => isOf(charged.productItemId, productItem.id))
  const found =
    ofItem.find(({ item, config }) => isOf(charged.pricingItemId, item.id) && isOf(charged.configId, config.id)) ??
    ofItem[0] ??
    own[0] ??
    terms[0]
  if (!found) throw new Error(`no price is that of the charge ${charged.key}`)
  return found
}

/** What a refund is of. */
export function refundedScope(term: PriceTerm, { charged }: Refund): DraftLine['of'] {
  const { pricingItemId, configId, productItemId } = charged
  const scope = scopeOf(term)
  const isOfTerm =
    pricingItemId === term.item.id && configId === term.config.id && productItemId === term.productItem.id
  return isOfTerm ? scope : { ...scope, scheduleId: charged.scheduleId, pricingItemId, configId, productItemId }
}

function refundLine(inputs: BillingInputs, term: PriceTerm, refund: Refund): DraftLine {
  const zone = billingZoneOf(inputs)
  const { charged } = refund
  const currency = inputs.subscription.billing_currency
  const includingTax = term.plan.amount_type === 'INCLUDING_TAX'
  const { quantity, left, paid } = refundOf(refund, { zone, currency, includingTax, rounding: roundingOf(inputs) })
  const days = chargedDays(left, charged.paused, zone)
  const all = chargedDays(charged.service, charged.paused, zone)
  const key = `refund ${charged.invoiceId} ${charged.key}`
  const source: RefundSource = { key, in_advance: false, refund_of_invoice_id: charged.invoiceId }
  const billingPeriod = term.calendar?.billingPeriod ?? inputs.subscription.billing_period
  const { pricingItemId, configId, productItemId } = charged
  const isOfPrice = pricingItemId !== null && configId === term.config.id && productItemId !== null
  const isOfItem = productItemId === null || productItemId === term.productItem.id
  return {
    key,
    kind: 'REVENUE',
    of: refundedScope(term, refund),
    quantity,
    taxCategory: charged.taxCategory,
    ...(charged.tax ? { tax: charged.tax } : {}),
    service: left,
    group: groupOf({ ...term, billingPeriod }),
    description: `${charged.isMinimum ? 'Minimum' : isOfItem ? term.productItem.name : 'Charge ahead'}, refund of the days left`,
    printed: {
      ...(pricingItemId === null ? {} : { pricing_item_id: pricingItemId }),
      ...(configId === null ? {} : { pricing_item_config_id: configId }),
      product_items: productItemId !== null && isOfItem ? [productItemView(term.productItem)] : [],
      ...(isOfPrice ? { pricing_type: term.config.pricing_type } : {}),
    },
    details: {
      pricing_currency: currency,
      pricing_amount: amountView(amount(quantity, currency)),
      description: `${plain(paid)} ${currency} was charged ahead, × ${days} ÷ ${all} days left`,
      proration: { covered_days: days, days: all },
    },
    source,
  }
}
