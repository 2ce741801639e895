// Step 10 of semantics 5.4: prepaid money of a customer pays lines of its tax category, before tax.
import { type Decimal, decimal, max, min, ONE, ZERO } from '../../decimal.ts'
import { groupBy } from '../../group-by.ts'
import { currencyExponent } from '../../money.ts'
import { computeAmounts } from '../amount-pipeline.ts'
import { type Fraction, fraction, timesFraction, WHOLE } from '../fraction.ts'
import { otherTax, taxText } from '../tax/carried-tax.ts'
import { type TaxCategory, taxOfCategory } from '../tax/tax.ts'
import type { WalletBalance } from './clauses.ts'
import { isCharged, type Line, netOf } from './line.ts'
import { change, inTurn, type PartOfChange, rounded, type Step, type StepContext, totalOf } from './step.ts'

/** One net unit with tax added. */
function withTax({ tax }: StepContext, taxCategory: TaxCategory): Fraction {
  const { percentage, taxableShare } = taxOfCategory(tax, taxCategory)
  const whole = taxableShare.denominator.times('100')
  return fraction(whole.plus(taxableShare.numerator.times(percentage)), whole)
}

/** One net unit in the amounts of lines: more than one where prices include tax. */
const perNet = (context: StepContext, { taxCategory }: WalletBalance): Fraction =>
  context.amountType === 'EXCLUDING_TAX' ? WHOLE : withTax(context, taxCategory)

const inverse = ({ numerator, denominator }: Fraction): Fraction => fraction(denominator, numerator)

/** What is charged with the tax of the wallet's category on this invoice. */
const chargedOf = (lines: readonly Line[], { taxCategory, except }: WalletBalance, { tax }: StepContext) =>
  lines.filter(
    line =>
      isCharged(line) && line.taxCategory === taxCategory && otherTax(line, tax) === null && !except?.has(line.key),
  )

/** Whether lines of some other tax are below zero together. */
function isOwedElsewhere(lines: readonly Line[], { taxCategory }: WalletBalance, { tax }: StepContext): boolean {
  const others = groupBy(lines.filter(isCharged), line => {
    const carried = otherTax(line, tax)
    return `${line.taxCategory} ${carried ? taxText(carried) : ''}`
  })
  others.delete(`${taxCategory} `)
  return [...others.values()].some(each => totalOf(each).lt(ZERO))
}

/** The total of the invoice, with tax, once `covered` of a tax category is paid. */
function totalAfter(
  lines: readonly Line[],
  { taxCategory, covered }: { readonly taxCategory: TaxCategory; readonly covered: Decimal },
  { currency, amountType, rounding, tax }: StepContext,
): Decimal {
  const before = lines.map(({ key, exact, taxCategory: category, tax: carried }) => ({
    ...{ key, quantity: exact, taxCategory: category },
    ...(carried ? { tax: carried } : {}),
  }))
  const paid = { key: 'paid', quantity: covered.neg(), taxCategory }
  const given = { currency, amountType, rounding, tax, sign: 'INVOICE' as const }
  return computeAmounts({ ...given, lines: [...before, paid] }).totals.total.quantity
}

/**
 * What a wallet may pay, in the amounts of lines: the sum of the lines of its tax category, including refunds and other
 * negative lines. When lines of another tax are negative, the total due is less, and paying more would leave a
 * debt to the customer. The wallet then pays only as much as keeps the total, with tax, at zero or above.
 */
function payable(lines: readonly Line[], wallet: WalletBalance, context: StepContext): Decimal {
  const { taxCategory } = wallet
  const own = max(totalOf(chargedOf(lines, wallet, context)), ZERO)
  if (own.eq(ZERO) || !isOwedElsewhere(lines, wallet, context)) return own
  const after = (covered: Decimal): Decimal => totalAfter(lines, { taxCategory, covered }, context)
  const due = max(after(ZERO), ZERO)
  const places = currencyExponent(context.currency)
  const unit = decimal(`1e-${places}`)
  const share = context.amountType === 'EXCLUDING_TAX' ? inverse(withTax(context, taxCategory)) : WHOLE
  let covered = timesFraction(due, share).round(places, AWAY_FROM_ZERO)
  // Tax is rounded separately, so the computed amount may be a cent too high.
  while (covered.gt(ZERO) && after(covered).lt(ZERO)) covered = covered.minus(unit)
  return min(own, max(covered, ZERO))
}

const AWAY_FROM_ZERO = 3

/** Pays line after line in their order, the last one in part. */
function cover(lines: readonly Line[], covered: Decimal): PartOfChange[] {
  const parts: PartOfChange[] = []
  let left = covered
  for (const line of lines) {
    const part = min(max(netOf(line), ZERO), left)
    if (part.gt(ZERO)) parts.push({ line, exact: part.neg() })
    left = left.minus(part)
  }
  return parts
}

/**
 * What a wallet pays of an invoice, net: at most its balance, and at most what is due for the lines of its tax
 * category. The paid part leaves the taxed base; the rest is charged and taxed as usual (contract: Wallet rules 1).
 */
export const walletCredit: Step = (lines, { wallets }, context) =>
  inTurn(lines, wallets, (now, wallet) => {
    const gross = payable(now, wallet, context)
    const factor = perNet(context, wallet)
    const owed = rounded(context, timesFraction(gross, inverse(factor)))
    const used = min(owed, max(wallet.available, ZERO))
    if (wallet.currency !== context.currency || used.lte(ZERO)) return now
    const covered = used.eq(owed) ? gross : min(gross, rounded(context, timesFraction(used, factor)))
    return change(
      now,
      {
        step: 'WALLET_CREDIT',
        kind: 'WALLET',
        clauseId: wallet.walletId,
        base: used,
        percentage: null,
        share: factor.denominator.eq(ONE) && factor.numerator.eq(ONE) ? null : factor,
        coupon: null,
        period: context.invoicePeriod,
        parts: cover(chargedOf(now, wallet, context), covered),
      },
      context,
    )
  })
