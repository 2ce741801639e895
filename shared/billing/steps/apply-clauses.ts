// The steps of the amount pipeline between rating and tax (semantics 5.4), in their fixed order.
import { amount, toMoney } from '../../money.ts'
import type { AmountLine } from '../amount-pipeline.ts'
import { commitments, invoiceCommitment } from './commitments.ts'
import { discounts, totalDiscounts } from './discounts.ts'
import { freeUsage } from './free-usage.ts'
import type { Line } from './line.ts'
import { markup } from './markup.ts'
import type { Step } from './step.ts'
import { walletCredit } from './wallet-credit.ts'

/**
 * DEFAULT rounds rated amounts before anything is computed from them (semantics 0.5), and every step rounds what it
 * adds, so that the printed figures add up. UNROUNDED keeps everything exact.
 */
const roundRated: Step = (lines, _clauses, { rounding, currency }) =>
  rounding === 'UNROUNDED'
    ? lines
    : lines.map(line => ({ ...line, exact: toMoney(amount(line.exact, currency)).quantity }))

const STEPS: readonly Step[] = [
  roundRated,
  // Free usage was never owed, so all later steps see only the rest.
  freeUsage,
  // A markup is part of the price, so discounts and commitments include it.
  markup,
  // Discounts lower what counts towards a commitment: 80 less 10 % is 72, so 28 is missing from 100.
  discounts,
  commitments,
  // Coupons on the total discount what is finally owed, minimums included ...
  totalDiscounts,
  // ... and the minimum of the invoice applies to what is owed after every discount.
  invoiceCommitment,
  // The contract puts money wallets after discounts and minimums, and before tax.
  walletCredit,
]

/**
 * Applies clauses to the lines of an invoice. Returns the lines in their order, each with a note of what changed it,
 * and after them the lines that the steps made. Without clauses the only change is the rounding that tax would do.
 */
export const applyClauses: Step = (lines, clauses, context) =>
  STEPS.reduce((before, step) => step(before, clauses, context), lines)

/** The lines as input for `computeAmounts`. */
export const amountLines = (lines: readonly Line[]): AmountLine[] =>
  lines.map(({ key, exact, taxCategory, tax }) => ({ key, quantity: exact, taxCategory, ...(tax ? { tax } : {}) }))
