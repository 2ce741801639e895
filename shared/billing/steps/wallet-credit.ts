// Step 10 of semantics 5.4: money that a customer has paid in before pays lines of its tax category, before tax.
import { type Decimal, max, min, ONE, ZERO } from '../../decimal.ts'
import { type Fraction, fraction, timesFraction } from '../fraction.ts'
import { taxOfCategory } from '../tax.ts'
import type { WalletBalance } from './clauses.ts'
import { isCharged, type Line, netOf } from './line.ts'
import { change, inTurn, type PartOfChange, rounded, type Step, type StepContext, totalOf } from './step.ts'

/** What one net unit is in the amounts of lines: more than one where prices include tax. */
function perNet({ amountType, tax }: StepContext, { taxCategory }: WalletBalance): Fraction {
  if (amountType === 'EXCLUDING_TAX') return fraction(1, 1)
  const { percentage, taxableShare } = taxOfCategory(tax, taxCategory)
  const whole = taxableShare.denominator.times('100')
  return fraction(whole.plus(taxableShare.numerator.times(percentage)), whole)
}

const inverse = ({ numerator, denominator }: Fraction): Fraction => fraction(denominator, numerator)

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
 * What a wallet pays of an invoice, net: no more than it has, and no more than the lines of its tax category come to.
 * The covered part leaves the taxed base; the rest is charged and taxed as always (contract: Wallet rules 1).
 */
export const walletCredit: Step = (lines, { wallets }, context) =>
  inTurn(lines, wallets, (now, wallet) => {
    const own = now.filter(line => isCharged(line) && line.taxCategory === wallet.taxCategory)
    const gross = max(totalOf(own), ZERO)
    const factor = perNet(context, wallet)
    const owed = rounded(context, timesFraction(gross, inverse(factor)))
    const used = min(owed, max(wallet.available, ZERO))
    if (wallet.currency !== context.currency || used.lte(ZERO)) return { lines: now, applied: [] }
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
        parts: cover(own, covered),
      },
      context,
    )
  })
