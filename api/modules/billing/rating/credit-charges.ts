// Usage that is priced in credits: what it needs is paid by wallets of credits, and what they lack is charged by the
// item that sells the credits (semantics 5.4 step 3, 6). Pure.

import { WHOLE } from '../../../../shared/billing/fraction.ts'
import { type CreditNeed, type CreditPart, drawCredits } from '../../../../shared/billing/wallets/credits.ts'
import { type Decimal, max, sum, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type CreditsPrice, isInCredits, parseCreditsPrice } from '../../../../shared/rating/credits.ts'
import { numberVolume, type Volume } from '../../../../shared/rating/price.ts'
import { intersect } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charges.ts'
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

/** The charges of usage that is priced in credits, each with what wallets pay; they charge no money. */
export function rateInCredits(
  charges: readonly Charge[],
  parts: readonly CreditPart[],
  of: Usage,
): ReadonlyMap<string, RatedCharge> {
  const priced = charges
    .filter(({ config }) => isInCredits(config))
    .map(charge => {
      const { config, creditTypeId } = creditsPriceOf(charge)
      const rated = priceUsage(config, charge, of.usage)
      return { charge, creditTypeId, rated, needed: max(rated.rated.total.quantity, ZERO) }
    })
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
      return [
        charge.key,
        { charge, ...inMoney(rated), scale: WHOLE, share: WHOLE, exact: ZERO, quantity: ZERO, credits },
      ]
    }),
  )
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

/** For each charge that sells credits, by its key: the credits that wallets lacked in its time. */
export function creditsToSell(
  charges: readonly Charge[],
  rated: ReadonlyMap<string, RatedCharge>,
): ReadonlyMap<string, Volume> {
  const taken = new Set<string>()
  return new Map(
    charges.filter(isSoldByCredits).map(charge => {
      const own = [...rated.values()].filter(
        each =>
          !taken.has(each.charge.key) &&
          each.charge.schedule.id === charge.schedule.id &&
          each.credits?.creditTypeId === charge.productItem.credits?.credit_type_id &&
          // An ADDON that is enabled within the period needs credits for a part of the time for which they are sold.
          intersect(each.charge.service, charge.service) !== null,
      )
      for (const each of own) taken.add(each.charge.key)
      return [charge.key, numberVolume(sum(own.map(({ credits }) => credits?.missing ?? ZERO)))]
    }),
  )
}
