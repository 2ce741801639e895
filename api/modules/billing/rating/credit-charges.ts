// Usage that is priced in credits: what it needs is paid by wallets of credits, and what they lack is charged by the
// item that sells the credits (semantics 5.4 step 3, 6). Pure.

import { WHOLE } from '../../../../shared/billing/fraction.ts'
import { type CreditNeed, type CreditPart, drawCredits } from '../../../../shared/billing/wallets/credits.ts'
import { type Decimal, decimal, max, sum, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type CreditsPrice, isInCredits, parseCreditsPrice } from '../../../../shared/rating/credits.ts'
import { numberVolume, type Volume } from '../../../../shared/rating/price.ts'
import { intersect } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charge.ts'
import type { LateCharge } from '../late/late-usage.ts'
import type { ConfigInput } from '../terms/billing-inputs.ts'
import { isSoldByCredits } from '../terms/price-terms.ts'
import { type CustomerFigures, needKey, type UsageFigures } from '../usage/usage-needs.ts'
import { type PricedUsage, priceUsage } from './price-usage.ts'
import type { RatedCharge } from './rate-charge.ts'

type Usage = {
  readonly usage: UsageFigures
  /** The usage of each customer; without it all usage counts as that of `ownId`. */
  readonly usageByCustomer: CustomerFigures | null
  /** The customer of the invoice. */
  readonly ownId: string
}

const prices = new WeakMap<ConfigInput, CreditsPrice>()

/** Throws INVALID_OPERATION when the price cannot be billed. */
function creditsPriceOf({ config }: Pick<Charge, 'config'>): CreditsPrice {
  const known = prices.get(config)
  if (known) return known
  const reading = parseCreditsPrice(config as Parameters<typeof parseCreditsPrice>[0])
  if (reading.kind === 'fault')
    throw new AppError('INVALID_OPERATION', reading.fault.message, {
      field: reading.fault.field,
      resourceId: config.id,
      resourceType: 'PRICING_ITEM_CONFIG',
    })
  prices.set(config, reading.price)
  return reading.price
}

/**
 * The charges of usage that is priced in credits, each with what wallets pay; they charge no money. Late usage was used
 * first, so it draws first: as many credits as its time costs now beyond what that time had cost.
 */
export function rateInCredits(
  charges: readonly Charge[],
  late: readonly LateCharge[],
  parts: readonly CreditPart[],
  of: Usage,
): ReadonlyMap<string, RatedCharge> {
  const inTime = charges
    .filter(({ config }) => isInCredits(config))
    .map((charge): Priced => {
      const { config, creditTypeId } = creditsPriceOf(charge)
      const rated = priceUsage(config, charge, of.usage)
      return { charge, creditTypeId, rated: inMoney(rated), needed: max(rated.rated.total.quantity, ZERO) }
    })
  const priced = [...late.flatMap(each => lateInCredits(each, of.usage) ?? []), ...inTime]
  const drawn = drawCredits(
    parts,
    priced.map(
      ({ charge, creditTypeId, needed }): CreditNeed => ({
        key: charge.key,
        creditTypeId,
        byCustomer: needsOf(charge, needed, of),
      }),
    ),
  )
  return new Map(
    priced.map(({ charge, creditTypeId, rated, needed }) => {
      const credits = { ...(drawn.get(charge.key) ?? { draws: [], missing: needed }), creditTypeId, needed }
      return [charge.key, { charge, ...rated, scale: WHOLE, share: WHOLE, exact: ZERO, quantity: ZERO, credits }]
    }),
  )
}

type Priced = {
  readonly charge: Charge
  readonly creditTypeId: string
  readonly rated: PricedUsage
  readonly needed: Decimal
}

/**
 * What late usage costs beyond what was counted; null where its time costs no more than it had. Throws INVALID_OPERATION
 * where it cannot be priced.
 */
export function lateInCredits({ charge, unit }: LateCharge, usage: UsageFigures): Priced | null {
  const { config, creditTypeId } = creditsPriceOf(charge)
  const rated = priceUsage(config, charge, usage)
  const counted = { ...rated.metered, quantity: decimal(unit.last.number), count: decimal(unit.last.count) }
  if (rated.metered.quantity.lt(counted.quantity)) return null
  const billed = unit.credits ?? max(priceUsage(config, charge, usage, counted).rated.total.quantity, ZERO)
  const needed = max(rated.rated.total.quantity, ZERO).minus(billed)
  if (needed.lte(ZERO)) return null
  const before = { total: { ...rated.rated.total, quantity: billed }, volume: counted }
  return { charge, creditTypeId, rated: { ...rated, before }, needed }
}

/** Nothing was billed of it before: its pricing period is never longer than its billing period. */
const inMoney = (rated: PricedUsage): PricedUsage => ({ ...rated, before: null })

/** What each customer's usage needs: its share of the whole by its usage. */
function needsOf(charge: Charge, needed: Decimal, { usageByCustomer, ownId }: Usage): CreditNeed['byCustomer'] {
  const figures = charge.usage && usageByCustomer ? (usageByCustomer.get(needKey(charge, charge.usage)) ?? []) : []
  const weighed = figures.filter(({ weight }) => weight.gt(ZERO))
  const total = sum(weighed.map(({ weight }) => weight))
  if (weighed.length === 0 || total.lte(ZERO)) return [[ownId, needed]]
  let left = needed
  return weighed.map(({ customerId, weight }, index) => {
    // The last one has the rest, so that the parts sum to the whole.
    const part = index === weighed.length - 1 ? left : needed.times(weight).div(total)
    left = left.minus(part)
    return [customerId, part]
  })
}

/**
 * For each charge that sells credits, by its key: the credits that wallets lacked in its time, and for late usage, which
 * the same schedule sells if it still does.
 */
export function creditsToSell(
  charges: readonly Charge[],
  rated: ReadonlyMap<string, RatedCharge>,
): ReadonlyMap<string, Volume> {
  const taken = new Set<string>()
  const sellers = charges.filter(isSoldByCredits)
  const sellerOfLate = ({ charge: { schedule }, credits }: RatedCharge): Charge | undefined => {
    const own = sellers.filter(({ productItem }) => productItem.credits?.credit_type_id === credits?.creditTypeId)
    return own.find(each => each.schedule.id === schedule.id) ?? own[0]
  }
  return new Map(
    sellers.map(charge => {
      const own = [...rated.values()].filter(
        each =>
          !taken.has(each.charge.key) &&
          (each.charge.late !== null ? sellerOfLate(each)?.key === charge.key : isSoldWith(each, charge)),
      )
      for (const each of own) taken.add(each.charge.key)
      return [charge.key, numberVolume(sum(own.map(({ credits }) => credits?.missing ?? ZERO)))]
    }),
  )
}

/** Whether the schedule sells the credits in the time that needs them. */
const isSoldWith = ({ charge: { schedule, service }, credits }: RatedCharge, seller: Charge): boolean =>
  schedule.id === seller.schedule.id &&
  credits?.creditTypeId === seller.productItem.credits?.credit_type_id &&
  // An ADDON that is enabled within the period needs credits for a part of the time for which they are sold.
  intersect(service, seller.service) !== null
