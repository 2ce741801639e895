// The lines of wallets that pay an invoice before tax, and how the paid lines show it (contract: wallet_balances).
// Pure.
import { timesFraction } from '../../../../shared/billing/fraction.ts'
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import { applyClauses } from '../../../../shared/billing/steps/apply-clauses.ts'
import { type Clauses, NO_CLAUSES, type WalletBalance } from '../../../../shared/billing/steps/clauses.ts'
import type { Line } from '../../../../shared/billing/steps/line.ts'
import type { StepContext } from '../../../../shared/billing/steps/step.ts'
import { type Decimal, sum, ZERO } from '../../../../shared/decimal.ts'
import { amount, amountView, currencyExponent, roundParts } from '../../../../shared/money.ts'
import type { WalletBalanceView } from '../schema.ts'
import type { DraftLine, LineGroup } from './draft-invoice.ts'

type Of = {
  readonly clauses: Clauses
  readonly context: StepContext
  /** The billing period of the subscription; null for an invoice that is of none. */
  readonly period: PeriodLength | null
  /** By the key of a charged line. */
  readonly groups: ReadonlyMap<string, LineGroup>
}

/** Stored with the line of a wallet: how much of each line it paid, without tax. */
type PaidLines = { readonly wallet: string; readonly paid: Readonly<Record<string, WalletBalanceView>> }

/** One negative line for each wallet that pays. */
export function walletLines(lines: readonly Line[], of: Of): DraftLine[] {
  return lines.filter(({ kind }) => kind === 'WALLET').map(line => walletLine(line, lines, of))
}

function walletLine(line: Line, lines: readonly Line[], { clauses, context, period, groups }: Of): DraftLine {
  const [why] = line.because
  const covered = lines.filter(
    each => each.key !== line.key && each.because.some(({ lineKey }) => lineKey === line.key),
  )
  const [first] = covered.flatMap(({ key }) => groups.get(key) ?? [])
  if (!why || !first) throw new Error(`the wallet line ${line.key} pays no other line`)
  const { itemId: _item, ...scope } = line.of
  const available = clauses.wallets.find(({ walletId }) => walletId === why.clauseId)?.available ?? ZERO
  const show = (quantity: Decimal) => ({ amount: amountView(amount(quantity, context.currency)) })
  const balance = (before: Decimal, used: Decimal): WalletBalanceView => ({
    wallet_id: why.clauseId,
    used_balance: show(used),
    left_balance: show(before.minus(used)),
    available_balance: show(before),
  })
  // In net money, which is what wallets hold; the parts sum to what the wallet pays.
  const share = why.share
  const gross = covered.map(each =>
    sum(each.because.filter(({ lineKey }) => lineKey === line.key).map(({ exact }) => exact.neg())),
  )
  const exact = gross.map(part =>
    share === null ? part : timesFraction(part, { numerator: share.denominator, denominator: share.numerator }),
  )
  const nets =
    context.rounding === 'UNROUNDED' ? exact : roundParts(exact, why.base, currencyExponent(context.currency))
  let before = available
  const paid = covered.map(({ key }, index) => {
    const used = nets[index] ?? ZERO
    const view = balance(before, used)
    before = before.minus(used)
    return [key, view] as const
  })
  const source: PaidLines = { wallet: why.clauseId, paid: Object.fromEntries(paid) }
  return {
    key: line.key,
    kind: 'WALLET',
    of: { ...scope, pricingItemId: line.of.itemId },
    quantity: line.exact,
    taxCategory: line.taxCategory,
    service: line.period.service,
    group: { ...first, billingPeriod: period, pricing: null, category: null, product: null, isPayment: true },
    description: 'Paid from a wallet',
    printed: { product_items: [] },
    details: {
      pricing_currency: context.currency,
      pricing_amount: amountView(amount(line.exact, context.currency)),
      description: 'Prepaid money, which carries no tax',
      wallet_balances: [balance(available, why.base)],
    },
    source,
  }
}

/** The lines, each with what wallets paid of it. */
export function withPayments(lines: readonly DraftLine[]): DraftLine[] {
  const payments = lines
    .filter(({ kind }) => kind === 'WALLET')
    // Lines of this kind are made above, with their source.
    .map(({ source }) => (source as PaidLines).paid)
  if (payments.length === 0) return [...lines]
  return lines.map(line => {
    const own = payments.flatMap(paid => paid[line.key] ?? [])
    return own.length === 0 ? line : { ...line, details: { ...line.details, wallet_balances: own } }
  })
}

/** A line of a draft as the steps of the amount pipeline take it. */
export function stepLineOf({ key, of, quantity, taxCategory, tax, service, printed }: DraftLine): Line {
  const { pricingItemId, ...scope } = of
  return {
    key,
    kind: 'REVENUE',
    of: { ...scope, itemId: pricingItemId },
    exact: quantity,
    taxCategory,
    ...(tax ? { tax } : {}),
    because: [],
    period: { service, full: service },
    inAdvance: false,
    late: false,
    applicableForClauses: printed.applicable_for_clauses ?? [],
    volume: null,
  }
}

/** The lines of an invoice that only wallets change, with what they pay before tax. */
export function paidBeforeTax(
  lines: readonly DraftLine[],
  wallets: readonly WalletBalance[],
  context: StepContext,
): DraftLine[] {
  if (wallets.length === 0) return [...lines]
  const clauses = { ...NO_CLAUSES, wallets }
  const stepped = applyClauses(lines.map(stepLineOf), clauses, context)
  const groups = new Map(lines.map(({ key, group }) => [key, group]))
  return withPayments([...lines, ...walletLines(stepped, { clauses, context, period: null, groups })])
}
