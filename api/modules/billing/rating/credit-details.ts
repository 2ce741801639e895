// How a charge in credits is explained on its line: what it costs in credits, and what wallets paid of it (contract:
// wallet_balances, and the deprecated wallet_balance_details). Pure.
import { type Decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import { describeCharge } from '../../../../shared/rating/describe.ts'
import type { BandView, PriceDetailsView, SubLineView, WalletBalanceView } from '../../invoices/schema.ts'
import { isConverted } from '../terms/price-terms.ts'
import { bandView, meterValueView, reportsView, volumeView } from './price-details.ts'
import type { CreditsOfCharge, RatedCharge } from './rate-charge.ts'

/** The details of the line of a charge in credits, without the amount that the line prints. */
export function creditDetails(rated: RatedCharge, credits: CreditsOfCharge): Omit<PriceDetailsView, 'amount'> {
  const { charge, metered } = rated
  const currency = charge.schedule.pricing_currency
  const balances = balancesOf(credits)
  const meterValue = meterValueView(charge, metered)
  const [only, second] = rated.rated.charges
  return {
    pricing_currency: currency,
    pricing_amount: amountView(amount(rated.exact, currency)),
    ...(only && !second ? { band: creditBand(bandView(rated, only), credits.creditTypeId) } : {}),
    ...(meterValue ? { meter_value: meterValue } : {}),
    ...(balances.length === 0 ? {} : { wallet_balances: balances, ...deprecatedDetails(balances) }),
    ...(isConverted(charge) ? { conversion: conversionView(rated, credits.needed, credits) } : {}),
    ...reportsView(rated),
    description: describe(rated, credits),
  }
}

const creditsView = (quantity: Decimal, { creditTypeId }: Pick<CreditsOfCharge, 'creditTypeId'>) => ({
  quantity: plain(quantity),
  credit_type_id: creditTypeId,
})

/** So many credits, and what they were converted from; invoices that were priced before that was stored do not say. */
const conversionView = (
  { charge: { calculation } }: Pick<RatedCharge, 'charge'>,
  quantity: Decimal,
  credits: CreditsOfCharge,
) => ({
  credits: creditsView(quantity, credits),
  ...(calculation?.value_id ? { convert_from_meter_value_id: calculation.value_id } : {}),
})

/** One sub line per band of usage that is turned into credits, with the conditions of the price; null for any other. */
export function conversionSubLines(rated: RatedCharge, credits: CreditsOfCharge): SubLineView[] | null {
  const { charge } = rated
  if (!isConverted(charge)) return null
  const currency = charge.schedule.pricing_currency
  const nothing = amountView(amount(ZERO, currency))
  return rated.rated.charges.map((band, index) => {
    const description = describeCharge(band, 'credits')
    return {
      sub_line_order: index,
      description,
      type: 'USAGE_BASED_CONVERSION',
      usage_based_conversion: charge.config.conditions ? { conditions: charge.config.conditions } : {},
      details: {
        amount: amountView(amount(ZERO, charge.billingCurrency)),
        pricing_currency: currency,
        pricing_amount: nothing,
        conversion: conversionView(rated, band.quantity, credits),
        band: creditBand(bandView(rated, band), credits.creditTypeId),
        meter_value: volumeView(rated.metered.metric, plain(band.units), currency),
        ...(band.priceBound ? { price_bound: band.priceBound } : {}),
        description,
      },
    }
  })
}

/** A band of a price in credits as it was charged: credits in place of an amount. */
export const creditBand = ({ amount: price, ...band }: BandView, credit_type_id: string): BandView => ({
  ...band,
  ...(price ? { credits: { quantity: price.quantity, credit_type_id } } : {}),
})

function balancesOf({ draws, creditTypeId }: CreditsOfCharge): WalletBalanceView[] {
  const of = (quantity: (typeof draws)[number]['used']) => ({
    credits: { quantity: plain(quantity), credit_type_id: creditTypeId },
  })
  return draws.map(({ walletId, available, used, bySeat }) => ({
    wallet_id: walletId,
    used_balance: of(used),
    left_balance: of(available.minus(used)),
    available_balance: of(available),
    ...(bySeat.length === 0
      ? {}
      : { customer_details: bySeat.map(([customer_id, part]) => ({ customer_id, used_balance: of(part) })) }),
  }))
}

/** One wallet at a time: the first that paid. */
function deprecatedDetails([first]: readonly WalletBalanceView[]): Pick<PriceDetailsView, 'wallet_balance_details'> {
  const { used_balance: used, left_balance: left, available_balance: available } = first ?? {}
  if (!used?.credits || !left?.credits || !available?.credits) return {}
  return {
    wallet_balance_details: {
      used_wallet_credits: used.credits,
      left_wallet_credits: left.credits,
      available_wallet_credits: available.credits,
    },
  }
}

/** `120 × 1 credits = 120 credits, 100 paid by wallets, 20 not`. */
export function describe({ rated }: Pick<RatedCharge, 'rated'>, { needed, missing }: CreditsOfCharge): string {
  const bands = rated.charges.map(band => describeCharge(band, 'credits')).join('; ')
  const paid = needed.minus(missing)
  return `${bands}: ${plain(needed)} credits, ${plain(paid)} of them paid by wallets`
}
