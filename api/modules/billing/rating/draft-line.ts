// Turns a rated charge into a draft line: what it refers to, its amount and its explanation.
import { max, ZERO } from '../../../../shared/decimal.ts'
import type { Volume } from '../../../../shared/rating/price.ts'
import { type Interval, intersect } from '../../../../shared/time.ts'
import type { DraftLine } from '../../invoices/document/draft-invoice.ts'
import type { LineView } from '../../invoices/schema.ts'
import { type Charge, isProratedByDays } from '../charges/charge.ts'
import type { ProductItemInput } from '../terms/billing-inputs.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { isOneOff } from '../terms/price-terms.ts'
import { creditDetails } from './credit-details.ts'
import { meterValueView, priceDetails } from './price-details.ts'
import type { RatedCharge } from './rate-charge.ts'

/** What billing stores with a line of its own. */
export type LineSource = {
  /** The key of the charge. */
  readonly key: string
  /** Billed ahead of its time, so that no other invoice bills it again. */
  readonly in_advance: boolean
  /** Parts of its time that are not charged because of a pause, as epoch milliseconds; absent where there are none. */
  readonly paused?: readonly (readonly [number, number])[]
  /** The end of its billing period, as epoch milliseconds, where it charges a part of it, so that the rest may be charged later. */
  readonly period_end?: number
  /** Sold once: not refunded by days when its plan ends. */
  readonly one_off?: true
  /**
   * For an advance charge: what discounts on it and on the total deducted from it, with tax when the prices include it.
   * A refund returns what is left.
   */
  readonly deducted?: string
  /**
   * The parts of it that discounts of an amount on prices took, by clause; absent where that is nothing, or all of it by one: then the
   * refund gives back a part of each.
   */
  readonly deducted_by?: readonly (readonly [clause: string, amount: string])[]
  /**
   * For an advance charge that a coupon lowered and a minimum covers: what was charged, and what markups and discounts on prices left of
   * it, which is what counts towards the minimum; with tax when the prices include it.
   */
  readonly counted?: readonly [of: string, left: string]
}

/** The line of a rated charge. */
export function draftLine(rated: RatedCharge): DraftLine {
  const { charge, quantity } = rated
  const { key, taxCategory, service, inAdvance } = charge
  const source: LineSource = {
    key,
    in_advance: inAdvance,
    ...(isOneOff(charge) ? { one_off: true } : inAdvance ? pausedIn(service, charge.calendar?.pauses) : {}),
    ...(isProratedByDays(charge) && (charge.rest || service.end < charge.period.full.end)
      ? { period_end: charge.period.full.end }
      : {}),
  }
  return {
    key,
    kind: 'REVENUE',
    of: scopeOf(charge),
    quantity,
    taxCategory,
    service,
    group: groupOf(charge),
    description: descriptionOf(charge),
    printed: printedOf(rated),
    details: rated.credits ? creditDetails(rated, rated.credits) : priceDetails(rated),
    source,
  }
}

/** What a line stores of the pauses in its time: no day of them is refunded. */
export function pausedIn(service: Interval, pauses: readonly Interval[] = []): Pick<LineSource, 'paused'> {
  const paused = pauses.flatMap(pause => intersect(pause, service) ?? [])
  return paused.length === 0 ? {} : { paused: paused.map(({ start, end }) => [start, end] as const) }
}

export const scopeOf = (charge: PriceTerm): DraftLine['of'] => ({
  subscriptionId: charge.subscriptionId,
  scheduleId: charge.schedule.id,
  categoryId: charge.category?.id ?? null,
  productId: charge.product.id,
  productItemId: charge.productItem.id,
  pricingId: charge.pricing.id,
  pricingItemId: charge.item.id,
  configId: charge.config.id,
})

export const groupOf = (charge: PriceTerm & Pick<Charge, 'billingPeriod'>): DraftLine['group'] => ({
  billingPeriod: charge.billingPeriod,
  pricing: charge.pricing,
  category: charge.category,
  product: charge.product,
  scheduleId: charge.schedule.id,
  subscriptionId: charge.subscriptionId,
})

function printedOf(of: RatedCharge): DraftLine['printed'] {
  const { charge } = of
  const { item, config, productItem, late } = charge
  const meterValue = meterValueView(charge, billedVolume(of))
  return {
    pricing_item_id: item.id,
    pricing_item_config_id: config.id,
    product_items: [productItemView(productItem)],
    pricing_type: config.pricing_type,
    ...(config.conditions ? { conditions: config.conditions } : {}),
    ...(meterValue ? { meter_value: meterValue } : {}),
    ...(late ? { late_for_invoice_id: late.invoiceId } : {}),
  }
}

/**
 * What the line bills. For late usage that is only the addition, while the details show all usage of its time and what
 * was billed before.
 */
function billedVolume({ charge, metered: volume, before }: RatedCharge): Volume {
  if (!charge.late || !before) return volume
  const quantity = volume.quantity.minus(before.volume.quantity)
  return { ...volume, quantity, count: max(volume.count.minus(before.volume.count), ZERO) }
}

/** Lines of one item with different conditions are distinguished by the condition name. */
function descriptionOf({ productItem, config }: Charge): string {
  const name = config.conditions?.name
  return name ? `${productItem.name} (${name})` : productItem.name
}

export const productItemView = (item: ProductItemInput): LineView['product_items'][number] => ({
  object_type: 'PRODUCT_ITEM',
  id: item.id,
  product_id: item.product_id,
  name: item.name,
  ...(item.reference === null ? {} : { reference: item.reference }),
  type: item.type,
  model_type: item.model_type,
})
